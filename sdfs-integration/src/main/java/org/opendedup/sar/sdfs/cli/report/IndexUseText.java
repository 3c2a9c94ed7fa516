package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.index.DiskIndex;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.sdfs.cli.command.Json;

/** Where a ChunkStash index has its bytes, as values of a report and as text. */
public final class IndexUseText {
    private static final String LOG_BYTES = "logBytes";
    private static final String DISK = "diskIndex";
    private static final String BYTES = "bytes";
    private static final String CHUNKS = "chunks";
    private static final String ASKED = "asked";
    private static final String FOUND = "found";

    private IndexUseText() {}

    /** Adds the values; they are 0 with an index of another class. */
    public static void put(IndexUse use, Map<String, Object> report) {
        report.put(LOG_BYTES, use.fastBytes());
        DiskIndex.Use disk = use.disk();
        var values = new LinkedHashMap<String, Object>();
        values.put(BYTES, disk.bytes());
        values.put(CHUNKS, disk.chunks());
        values.put(ASKED, disk.asked());
        values.put(FOUND, disk.found());
        report.put(DISK, values);
    }

    /** Returns the lines of a report, each with a line break before it; none if there is no log. */
    public static String lines(Map<String, Object> report) {
        long log = Json.number(report, LOG_BYTES);
        Map<String, Object> disk = Json.object(report, DISK);
        if (log == 0 && Json.number(disk, CHUNKS) == 0) {
            return "";
        }
        return "\nlog         " + ByteSize.rounded(log)
                + (Json.number(disk, CHUNKS) == 0
                        ? ""
                        : "\ndisk index  " + ByteSize.rounded(Json.number(disk, BYTES)) + ", "
                                + Json.number(disk, CHUNKS) + " chunks; it was asked for "
                                + Json.number(disk, ASKED) + " since the mount, and had "
                                + Json.number(disk, FOUND));
    }
}
