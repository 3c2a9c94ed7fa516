package org.opendedup.sar.sdfs.cli.report;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.DamageReport.DamagedRange;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;

/**
 * A list of damage as a sequence of small items, for messages of bounded length: one for each fault, then for each file
 * one of its own, one for each name and one for each range.
 */
public final class DamageItems {
    public static final String TOTALS = "totals";
    public static final String ITEMS = "items";
    public static final String NEXT = "next";

    /** Length of the items of a page, in characters; the last one may exceed it by a path of 4096 bytes. */
    private static final int PAGE = 24 << 10;

    private final long from;
    private final List<Object> page = new ArrayList<>();
    private long number;
    private int length;

    private DamageItems(long from) {
        this.from = from;
    }

    /**
     * Returns the items from a number on; with the totals, and the number to go on from, or -1 if there are no more.
     *
     * @param from number of the first item
     */
    public static Map<String, Object> page(DamageReport report, long from) {
        DamageItems items = new DamageItems(from);
        boolean isAll = items.addAll(report);
        var values = new LinkedHashMap<String, Object>();
        values.put(TOTALS, totals(report));
        values.put(ITEMS, items.page);
        values.put(NEXT, isAll ? -1 : from + items.page.size());
        return values;
    }

    private static Map<String, Object> totals(DamageReport report) {
        var totals = new LinkedHashMap<String, Object>();
        totals.put("files", report.allFiles());
        totals.put("moreFiles", report.moreFiles());
        totals.put("bytes", report.bytes());
        totals.put("faults", report.faults().size());
        totals.put("faultsWithoutFiles", report.garbageFaults());
        return totals;
    }

    /** Returns whether the page has room for all. */
    private boolean addAll(DamageReport report) {
        for (Fault fault : report.faults()) {
            if (!skips() && !add(values(fault))) {
                return false;
            }
        }
        for (FileDamage file : report.files()) {
            if (!add(file)) {
                return false;
            }
        }
        return true;
    }

    private boolean add(FileDamage file) {
        if (!skips() && !add(Map.of("inode", file.inode(), "bytes", file.bytes(), "moreRanges", file.moreRanges()))) {
            return false;
        }
        for (String path : file.paths()) {
            if (!skips() && !add(Map.of("path", path))) {
                return false;
            }
        }
        for (DamagedRange range : file.ranges()) {
            if (!skips() && !add(Map.of("from", range.from(), "to", range.to(), "fault", range.fault()))) {
                return false;
            }
        }
        return true;
    }

    /** Counts an item, and returns whether it belongs to an earlier page. */
    private boolean skips() {
        return number++ < from;
    }

    private boolean add(Map<String, Object> item) {
        if (length >= PAGE) {
            return false;
        }
        length += Json.line(item).length();
        page.add(item);
        return true;
    }

    private static Map<String, Object> values(Fault fault) {
        var values = new LinkedHashMap<String, Object>();
        values.put("pack", fault.pack());
        values.put("container", fault.container());
        values.put("frame", fault.note().frame());
        values.put(
                "found",
                fault.note().foundMs() == 0
                        ? ""
                        : JobReport.time(Instant.ofEpochMilli(fault.note().foundMs())));
        values.put("foundBy", fault.note().how().toString());
        values.put("reason", fault.note().reason());
        return values;
    }

    /** Puts the items of all pages together again: {@code faults} and {@code files}, after the totals. */
    public static Map<String, Object> join(Map<String, Object> totals, List<Map<String, Object>> items) {
        List<Object> faults = new ArrayList<>();
        List<Object> files = new ArrayList<>();
        List<Object> paths = new ArrayList<>();
        List<Object> ranges = new ArrayList<>();
        for (Map<String, Object> item : items) {
            if (item.containsKey("reason")) {
                faults.add(item);
            } else if (item.containsKey("inode")) {
                paths = new ArrayList<>();
                ranges = new ArrayList<>();
                var file = new LinkedHashMap<String, Object>();
                file.put("inode", item.get("inode"));
                file.put("paths", paths);
                file.put("bytes", item.get("bytes"));
                file.put("ranges", ranges);
                file.put("moreRanges", item.get("moreRanges"));
                files.add(file);
            } else if (item.containsKey("path")) {
                paths.add(item.get("path"));
            } else {
                ranges.add(item);
            }
        }
        var all = new LinkedHashMap<String, Object>();
        all.put(TOTALS, totals);
        all.put("faults", faults);
        all.put("files", files);
        return all;
    }
}
