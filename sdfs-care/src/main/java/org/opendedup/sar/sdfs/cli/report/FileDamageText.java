package org.opendedup.sar.sdfs.cli.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.common.Printable;

/** A damaged file for people, and as values for JSON. */
final class FileDamageText {
    /** Ranges of a file that the text names; JSON has more. */
    static final int SHOWN_RANGES = 20;

    private FileDamageText() {}

    static Map<String, Object> values(DamagedFile file) {
        var values = new LinkedHashMap<String, Object>();
        values.put("inode", file.inode());
        values.put("paths", file.paths());
        values.put("bytes", file.bytes());
        values.put(
                "ranges",
                file.ranges().stream()
                        .map(range -> Map.of("from", range.from(), "to", range.to()))
                        .toList());
        values.put("moreRanges", file.moreRanges());
        return values;
    }

    /**
     * Returns {@code NAME = OTHER NAME: 5000 bytes: 0-4095, 8192-9095, and 3 more ranges}.
     *
     * @param file as {@link #values} returns it; the ranges are in ascending order
     */
    static String line(Map<String, Object> file) {
        List<?> paths = (List<?>) file.getOrDefault("paths", List.of());
        String name = paths.isEmpty()
                ? "inode " + file.get("inode") + " (no name of it is known)"
                : paths.stream()
                        .map(path -> Printable.line(String.valueOf(path)))
                        .collect(Collectors.joining(" = "));
        List<String> ranges = ranges(file);
        long more = Math.max(0, ranges.size() - SHOWN_RANGES) + Json.number(file, "moreRanges");
        return name + ": " + Json.number(file, "bytes") + " bytes: "
                + ranges.stream().limit(SHOWN_RANGES).collect(Collectors.joining(", "))
                + (more == 0 ? "" : ", and " + more + (more == 1 ? " more range" : " more ranges"));
    }

    /** Returns the ranges as text; neighbours, which differ in their faults, are one. */
    private static List<String> ranges(Map<String, Object> file) {
        List<String> ranges = new ArrayList<>();
        long from = 0;
        long to = 0;
        for (Map<String, Object> range : Json.objects(file, "ranges")) {
            if (to > 0 && Json.number(range, "from") != to) {
                ranges.add(from + "-" + (to - 1));
            }
            if (to == 0 || Json.number(range, "from") != to) {
                from = Json.number(range, "from");
            }
            to = Json.number(range, "to");
        }
        if (to > 0) {
            ranges.add(from + "-" + (to - 1));
        }
        return ranges;
    }
}
