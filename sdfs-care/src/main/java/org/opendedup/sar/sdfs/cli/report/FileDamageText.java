package org.opendedup.sar.sdfs.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.common.Printable;

/** A damaged file for people. */
final class FileDamageText {
    /** Ranges of a file that the text names; JSON has more. */
    static final int SHOWN_RANGES = 20;

    private FileDamageText() {}

    /**
     * Returns {@code NAME = OTHER NAME: 5000 bytes: 0-4095, 8192-9095, and 3 more ranges}.
     *
     * @param file the ranges are in ascending order
     */
    static String line(DamagedFile file) {
        String name = file.paths().isEmpty()
                ? "inode " + file.inode() + " (no name of it is known)"
                : file.paths().stream().map(Printable::line).collect(Collectors.joining(" = "));
        List<String> ranges = ranges(file.ranges());
        long more = Math.max(0, ranges.size() - SHOWN_RANGES) + file.moreRanges();
        return name + ": " + file.bytes() + " bytes: "
                + ranges.stream().limit(SHOWN_RANGES).collect(Collectors.joining(", "))
                + (more == 0 ? "" : ", and " + more + (more == 1 ? " more range" : " more ranges"));
    }

    /** Returns the ranges as text; neighbours, which differ in their faults, are one. */
    private static List<String> ranges(List<DamagedFile.Range> all) {
        List<String> ranges = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            long from = all.get(i).from();
            while (i + 1 < all.size() && all.get(i + 1).from() == all.get(i).to()) {
                i++;
            }
            ranges.add(from + "-" + (all.get(i).to() - 1));
        }
        return ranges;
    }
}
