package org.opendedup.sar.sdfs.cli.report;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.opendedup.sar.common.Printable;

/** A list of damage for people. */
public final class DamageText {
    /** Faults of a file that the text names; JSON has more. */
    private static final int SHOWN_FAULTS = 20;

    /** Number of files of which only the fast tier had the bytes, and lost them. */
    public static final String LOST_FILES = "lostFiles";

    private DamageText() {}

    /** @param damage as {@link DamageItems#join} returns it, with {@link #LOST_FILES} */
    public static String of(String volume, Map<String, Object> damage) {
        long lost = Json.number(damage, LOST_FILES);
        String text = chunks(volume, damage, lost == 0 ? "" : " in chunks");
        return lost == 0
                ? text
                : text + volume + ": of " + (lost == 1 ? "1 file" : lost + " files")
                        + " all bytes are lost, which only the fast tier had; to list them: sdfscli " + volume
                        + " tier status\n";
    }

    private static String chunks(String volume, Map<String, Object> damage, String where) {
        Map<String, Object> totals = Json.object(damage, DamageItems.TOTALS);
        List<Map<String, Object>> faults = Json.objects(damage, "faults");
        if (faults.isEmpty()) {
            return volume + ": no damage" + where + " is known.\n";
        }
        StringBuilder text = new StringBuilder();
        var shown = new TreeSet<Integer>();
        for (Map<String, Object> file : Json.objects(damage, "files")) {
            append(file, shown, text);
        }
        text.append(shown.isEmpty() ? "" : "\n");
        for (int number : shown) {
            text.append(fault(number, faults.get(number))).append('\n');
        }
        long more = Json.number(totals, "moreFiles");
        text.append(shown.isEmpty() ? "" : "\n").append(volume).append(": ");
        if (Json.number(totals, "files") == 0) {
            boolean isOne = Json.number(totals, "faults") == 1;
            return text.append(Json.number(totals, "faults"))
                    .append(isOne ? " damaged place is known" : " damaged places are known")
                    .append(isOne ? ", and no file has bytes in it.\n" : ", and no file has bytes in them.\n")
                    .toString();
        }
        text.append(Json.number(totals, "bytes")).append(" bytes of ");
        text.append(Json.number(totals, "files"))
                .append(Json.number(totals, "files") == 1 ? " file are damaged" : " files are damaged");
        text.append(more == 0 ? ".\n" : "; " + more + " of the files are not named here.\n");
        return text.toString();
    }

    private static void append(Map<String, Object> file, TreeSet<Integer> shown, StringBuilder text) {
        var faults = new TreeSet<Integer>();
        for (Map<String, Object> range : Json.objects(file, "ranges")) {
            faults.add((int) Json.number(range, "fault"));
        }
        text.append(FileDamageText.line(file))
                .append("  [")
                .append(faults.stream().limit(SHOWN_FAULTS).map(String::valueOf).collect(Collectors.joining(", ")))
                .append(faults.size() > SHOWN_FAULTS ? ", ..." : "")
                .append("]\n");
        shown.addAll(faults);
    }

    private static String fault(int number, Map<String, Object> fault) {
        String place = "";
        if (!String.valueOf(fault.get("pack")).isEmpty()) {
            place = "pack " + fault.get("pack") + ", ";
        } else if (Json.number(fault, "container") > 0) {
            long frame = Json.number(fault, "frame");
            place = (frame < 0 ? "" : "frame " + frame + " of ") + "container " + fault.get("container") + ", ";
        }
        String found = String.valueOf(fault.get("found"));
        return "[" + number + "] " + place
                + (found.isEmpty() ? "" : "found at " + found + " by " + fault.get("foundBy") + ": ")
                + Printable.line(String.valueOf(fault.get("reason")));
    }
}
