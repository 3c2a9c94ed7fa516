package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.index.DiskIndexUse;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.index.SsdShare;

/** Where a ChunkStash index has its bytes, as values of a report and as text. */
public final class IndexUseText {
    private static final String LOG_BYTES = "logBytes";
    private static final String DISK = "diskIndex";
    private static final String BYTES = "bytes";
    private static final String CHUNKS = "chunks";
    private static final String ASKED = "asked";
    private static final String FOUND = "found";
    private static final String SHARED = "sharedSsd";
    private static final String CAPACITY = "capacityBytes";
    private static final String INDEX = "indexBytes";
    private static final String MOST_INDEX = "mostIndexBytes";
    private static final String MOST_COPIES = "mostCopiesBytes";

    private IndexUseText() {}

    /** Adds the values; they are 0 with an index of another class. How the SSD is shared is there only if it is. */
    public static void put(IndexUse use, Map<String, Object> report) {
        report.put(LOG_BYTES, use.fastBytes());
        DiskIndexUse disk = use.disk();
        var values = new LinkedHashMap<String, Object>();
        values.put(BYTES, disk.bytes());
        values.put(CHUNKS, disk.chunks());
        values.put(ASKED, disk.asked());
        values.put(FOUND, disk.found());
        report.put(DISK, values);
        SsdShare share = use.share();
        if (share.capacityBytes() > 0) {
            var shared = new LinkedHashMap<String, Object>();
            shared.put(CAPACITY, share.capacityBytes());
            shared.put(INDEX, share.indexBytes());
            shared.put(MOST_INDEX, share.mostIndexBytes());
            shared.put(MOST_COPIES, share.mostOtherBytes());
            report.put(SHARED, shared);
        }
    }

    /** Returns the lines of a report, each with a line break before it; none if there is no log. */
    public static String lines(Map<String, Object> report) {
        return parts(report) + (report.containsKey(SHARED) ? share(Json.object(report, SHARED)) : "");
    }

    private static String share(Map<String, Object> shared) {
        return "\nSSD         " + ByteSize.rounded(Json.number(shared, CAPACITY))
                + " for index and copies: the index has "
                + ByteSize.rounded(Json.number(shared, INDEX)) + " and may have "
                + ByteSize.rounded(Json.number(shared, MOST_INDEX)) + ", the copies may have "
                + ByteSize.rounded(Json.number(shared, MOST_COPIES));
    }

    private static String parts(Map<String, Object> report) {
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
