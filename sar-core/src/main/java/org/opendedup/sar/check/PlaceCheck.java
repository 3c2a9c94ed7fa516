package org.opendedup.sar.check;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.record.ContainerEntry;

/** Checks the places that the container table has in one pack: each lies within the pack, and no two overlap. */
public final class PlaceCheck {
    private PlaceCheck() {}

    /** Receives what is wrong with an entry. */
    @FunctionalInterface
    public interface Report {
        /** @param problem what is wrong, to follow the entry's name in a sentence */
        void problem(ContainerEntry entry, String problem) throws IOException;
    }

    /**
     * @param entries those of one pack, by offset
     * @param length length of the pack in bytes
     */
    public static void run(List<ContainerEntry> entries, long length, Report report) throws IOException {
        long end = PackFormat.FIRST_CONTAINER;
        for (ContainerEntry entry : entries) {
            StoredContainer stored = entry.stored();
            if (stored.offset() < end) {
                report.problem(entry, "begins before byte " + end + ", where what precedes it ends");
            }
            if (stored.offset() % PackFormat.ALIGNMENT != 0) {
                report.problem(entry, "does not begin at a multiple of " + PackFormat.ALIGNMENT);
            }
            end = stored.offset() + stored.bytes();
            if (end > length) {
                report.problem(entry, "ends after the file, which has " + length + " bytes");
            }
            if (entry.container() > stored.pack()) {
                report.problem(entry, "has an id above the number of its pack");
            }
        }
    }

    /** Returns an entry as the subject of a sentence. */
    public static String name(ContainerEntry entry) {
        StoredContainer stored = entry.stored();
        return "container " + entry.container() + ", " + stored.bytes() + " bytes at byte " + stored.offset()
                + " of pack " + PackFormat.fileName(stored.pack()) + ",";
    }
}
