package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.DamageReport.DamagedRange;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;

/** A list of damage, as a report and as text. */
public final class DamageText {
    /** Faults of a file that the text names; JSON has more. */
    private static final int SHOWN_FAULTS = 20;

    private DamageText() {}

    /**
     * A list of damage. The names are stable.
     *
     * @param lostFiles number of files of which only the fast tier had the bytes, and lost them; null in the daemon's
     *     answer, because they are in no chunk
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Report(
            Totals totals,
            List<Fault> faults,
            List<FileDamage> files,
            @Nullable Long lostFiles) {
        public static Report of(DamageReport found) {
            var totals = new Totals(
                    found.allFiles(),
                    found.moreFiles(),
                    found.bytes(),
                    found.faults().size(),
                    found.garbageFaults());
            return new Report(totals, found.faults().stream().map(Fault::of).toList(), found.files(), null);
        }

        public Report withLost(long lost) {
            return new Report(totals, faults, files, lost);
        }
    }

    /** @param faultsWithoutFiles number of faults in which no file has bytes */
    public record Totals(long files, long moreFiles, long bytes, long faults, long faultsWithoutFiles) {}

    /** See {@link DamageReport.Fault}. */
    public record Fault(String pack, long container, int frame, String found, String foundBy, String reason) {
        private static Fault of(DamageReport.Fault fault) {
            return new Fault(
                    fault.pack(),
                    fault.container(),
                    fault.note().frame(),
                    fault.note().foundMs() == 0
                            ? ""
                            : JobReport.time(Instant.ofEpochMilli(fault.note().foundMs())),
                    fault.note().how().toString(),
                    fault.note().reason());
        }

        private String text() {
            String place = "";
            if (!pack.isEmpty()) {
                place = "pack " + pack + ", ";
            } else if (container > 0) {
                place = (frame < 0 ? "" : "frame " + frame + " of ") + "container " + container + ", ";
            }
            return place
                    + (found.isEmpty() ? "" : "found at " + found + " by " + foundBy + ": ")
                    + Printable.line(reason);
        }
    }

    /** @param damage with the number of lost files */
    public static String of(String volume, Report damage) {
        long lost = damage.lostFiles() == null ? 0 : damage.lostFiles();
        String text = chunks(volume, damage, lost == 0 ? "" : " in chunks");
        return lost == 0
                ? text
                : text + volume + ": of " + (lost == 1 ? "1 file" : lost + " files")
                        + " all bytes are lost, which only the fast tier had; to list them: sdfscli " + volume
                        + " tier status\n";
    }

    private static String chunks(String volume, Report damage, String where) {
        if (damage.faults().isEmpty()) {
            return volume + ": no damage" + where + " is known.\n";
        }
        StringBuilder text = new StringBuilder();
        var shown = new TreeSet<Integer>();
        damage.files().forEach(file -> append(file, shown, text));
        text.append(shown.isEmpty() ? "" : "\n");
        for (int number : shown) {
            text.append("[" + number + "] ")
                    .append(damage.faults().get(number).text())
                    .append('\n');
        }
        text.append(shown.isEmpty() ? "" : "\n").append(volume).append(": ");
        Totals totals = damage.totals();
        if (totals.files == 0) {
            boolean isOne = totals.faults == 1;
            return text.append(totals.faults)
                    .append(isOne ? " damaged place is known" : " damaged places are known")
                    .append(isOne ? ", and no file has bytes in it.\n" : ", and no file has bytes in them.\n")
                    .toString();
        }
        return text.append(totals.bytes + " bytes of " + totals.files)
                .append(totals.files == 1 ? " file are damaged" : " files are damaged")
                .append(totals.moreFiles == 0 ? ".\n" : "; " + totals.moreFiles + " of the files are not named here.\n")
                .toString();
    }

    private static void append(FileDamage file, TreeSet<Integer> shown, StringBuilder text) {
        var faults = file.ranges().stream().map(DamagedRange::fault).collect(Collectors.toCollection(TreeSet::new));
        var ranges = file.ranges().stream()
                .map(range -> new DamagedFile.Range(range.from(), range.to()))
                .toList();
        text.append(FileDamageText.line(
                        new DamagedFile(file.inode(), file.paths(), ranges, file.bytes(), file.moreRanges())))
                .append("  [")
                .append(faults.stream().limit(SHOWN_FAULTS).map(String::valueOf).collect(Collectors.joining(", ")))
                .append(faults.size() > SHOWN_FAULTS ? ", ..." : "")
                .append("]\n");
        shown.addAll(faults);
    }
}
