package org.opendedup.sar.sdfs.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.sdfs.jmx.FastTierFigures;

/** Formats the output of the tier commands for people, from {@link TierReport} and the reports of jobs. */
public final class TierText {
    private final StringBuilder text = new StringBuilder();

    private TierText() {}

    /** Returns the state of the fast tier, one line a fact. */
    public static String status(String volume, TierReport report) {
        var page = new TierText();
        FastTierFigures tier = report.figures();
        long capacity = tier.rawCapacityBytes();
        if (capacity == 0 && tier.rawFiles() + tier.changedFiles() == 0) {
            return "The volume has no fast tier for new files: all of them are stored in chunks.";
        }
        page.line("Mode", mode(tier));
        page.line("Location", report.location());
        page.line("State", state(tier));
        page.line("Capacity", ByteSize.rounded(capacity));
        page.line("Used", ByteSize.rounded(tier.rawUsedBytes()) + share(tier.rawUsedBytes(), capacity));
        page.line("Raw", files(tier.rawFiles()));
        page.line("Changed", files(tier.changedFiles()) + ", " + ByteSize.rounded(tier.changedBytes()));
        page.line(
                "Only there",
                files(tier.onlyThereFiles()) + ", " + ByteSize.rounded(tier.onlyThereBytes())
                        + ": a lost fast tier loses them");
        page.line("Pinned", files(tier.pinnedFiles()));
        page.line("In use", files(tier.rawFilesInUse()));
        page.line(
                "Migration",
                "from " + tier.highPercent() + " % of use down to " + tier.lowPercent() + " %, "
                        + (tier.migrationPolicy().equals("mixed")
                                ? "those first that are worth least for each byte"
                                : "the least recently used first"));
        page.line(
                "Journal",
                tier.journalSeconds() == 0
                        ? "off: files are stored in chunks only when they are migrated"
                        : "files are also stored in chunks after " + tier.journalSeconds() + " s without use");
        page.line(
                "Since mounted",
                files(tier.copiedFiles()) + " stored in chunks, " + ByteSize.rounded(tier.copiedBytes())
                        + ", of these " + ByteSize.rounded(tier.aheadBytes()) + " ahead; "
                        + files(tier.migratedFiles()) + " migrated, " + ByteSize.rounded(tier.migratedBytes()));
        page.lost(volume, tier.lostFiles(), report.lost());
        return page.text.toString().stripTrailing();
    }

    private static String files(long number) {
        return number + (number == 1 ? " file" : " files");
    }

    private static String mode(FastTierFigures tier) {
        return tier.mode().equals("tddfs")
                ? "tddfs: new files lie whole on the fast tier until they are migrated"
                : "sar: new files are stored in chunks, except in folders that say otherwise";
    }

    private static String state(FastTierFigures tier) {
        if (!tier.absent().isEmpty()) {
            return "ABSENT: " + tier.absent();
        }
        if (!tier.hanging().isEmpty()) {
            return "HANGING: " + tier.hanging() + "; new files are stored in chunks, and the figures are as last seen";
        }
        return tier.roomForNewFiles()
                ? "in use, with room for new files"
                : "in use, without room: new files are stored in chunks";
    }

    private void lost(String volume, long lost, List<String> named) {
        if (lost == 0) {
            return;
        }
        text.append(String.format("%nLost: the bytes of %s were only on the fast tier.%n", files(lost)));
        named.forEach(name -> text.append("  ").append(name).append(System.lineSeparator()));
        if (lost > named.size()) {
            text.append(String.format("  and %d more%n", lost - named.size()));
        }
        text.append(
                String.format("Delete them, then bring them back from a backup; %s is damaged until then.%n", volume));
    }

    /** Returns where a file is and why, in one line or two. */
    public static String explanation(String name, TierReport.Explained explained) {
        String path = Printable.line(name) + ": ";
        TierReport.File file = explained.file();
        if (explained.type().equals("folder") || file == null) {
            return path + "folder; new files " + newFiles(explained.newFiles());
        }
        String changed = file.changedBytes() == 0
                ? ""
                : ", but for " + ByteSize.rounded(file.changedBytes())
                        + " that were changed since and are on the fast tier";
        String words = path + place(file.place()) + changed + ", " + ByteSize.rounded(file.bytes())
                + (file.accessed().isEmpty() ? "" : ", last used " + file.accessed());
        String why = why(file);
        return why.isEmpty() ? words : words + System.lineSeparator() + "  " + why;
    }

    private static String newFiles(String placement) {
        return switch (placement) {
            case "tddfs" -> "lie whole on the fast tier until they are migrated (tddfs)";
            case "pin" -> "lie whole on the fast tier, and are not migrated (pin)";
            default -> "are stored in chunks (sar)";
        };
    }

    private static String place(String place) {
        return switch (place) {
            case "chunks" -> "in chunks, deduplicated";
            case "fast-tier" -> "whole on the fast tier only";
            case "both" -> "whole on the fast tier, and in chunks as well";
            case "absent" -> "on the fast tier, which cannot be used now";
            default -> "LOST: its bytes were only on the fast tier, which does not have them any more";
        };
    }

    private static String why(TierReport.File file) {
        if (!file.place().equals("fast-tier") && !file.place().equals("both")) {
            return "";
        }
        String turn = file.migrationPolicy().equals("mixed")
                ? "it is worth least for each byte"
                : "it is the least recently used";
        var reasons = new ArrayList<String>();
        if (file.pinned()) {
            reasons.add("not migrated, because it is pinned");
        } else if (file.inUse()) {
            reasons.add("not migrated while it is in use");
        } else if (file.small()) {
            reasons.add("migrated when " + turn + ", and small files take more than " + MigrationPolicy.SMALL_PERCENT
                    + " % of the capacity");
        } else {
            reasons.add("migrated when " + turn + ", and the use is above " + file.highPercent() + " %");
        }
        if (file.place().equals("fast-tier") && file.journalSeconds() > 0) {
            reasons.add("stored in chunks as well when it was not used for " + file.journalSeconds() + " s");
        }
        return String.join("; ", reasons);
    }

    /** Returns what a migration did. */
    public static String migrated(Map<String, Object> report) {
        var page = new TierText();
        page.text.append("Migrated " + number(report, "migratedFiles", "file") + ", " + size(report, "migratedBytes"));
        page.more(report, "inChunksFiles", "in chunks before");
        page.more(report, "lostFiles", "lost");
        page.more(report, "inUseFiles", "in use and not migrated");
        return page.ended(report);
    }

    /** Returns what pinning did, or unpinning. */
    public static String pinned(Map<String, Object> report, boolean isPinned) {
        var page = new TierText();
        page.text.append((isPinned ? "Pinned " : "Unpinned ") + number(report, "rawFiles", "raw file"));
        page.more(report, "inChunksFiles", "in chunks, where nothing changes");
        return page.ended(report);
    }

    /** Returns what a reload did. */
    public static String reloaded(Map<String, Object> report) {
        var page = new TierText();
        long bytes = Json.number(report, "chunkBytes");
        long percent = bytes == 0 ? 100 : 100 * Json.number(report, "onSsdBytes") / bytes;
        page.text.append("Reloaded " + number(report, "reloadedFiles", "file") + ", " + size(report, "chunkBytes")
                + ": " + percent + " % on the SSD, " + size(report, "copiedBytes") + " copied now");
        page.more(report, "rawFiles", "on the fast tier already");
        page.more(report, "incompleteFiles", "not whole on the SSD");
        return page.ended(report);
    }

    /** Adds what was not done. */
    private String ended(Map<String, Object> report) {
        more(report, "failedFiles", "failed");
        text.append(System.lineSeparator());
        named(report, "inUse", "in use: ", "inUseFiles");
        named(report, "incomplete", "not on the SSD: ", "incompleteFiles");
        named(report, "failures", "failed: ", "failedFiles");
        return text.toString().stripTrailing();
    }

    private void more(Map<String, Object> report, String key, String words) {
        if (Json.number(report, key) > 0) {
            text.append("; ").append(Json.number(report, key)).append(' ').append(words);
        }
    }

    private void named(Map<String, Object> report, String list, String title, String count) {
        List<String> names = names(report, list);
        names.forEach(name -> text.append(String.format("  %s%s%n", title, name)));
        long unnamed = Json.number(report, count) - names.size();
        if (unnamed > 0) {
            text.append(String.format("  and %d more%n", unnamed));
        }
    }

    private void line(String name, String value) {
        text.append(String.format("  %-14s %s%n", name, value));
    }

    private static List<String> names(Map<String, Object> within, String key) {
        return within.get(key) instanceof List<?> names
                ? names.stream().map(String::valueOf).toList()
                : List.of();
    }

    private static String number(Map<String, Object> within, String key, String noun) {
        long number = Json.number(within, key);
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    private static String size(Map<String, Object> within, String key) {
        return ByteSize.rounded(Json.number(within, key));
    }

    private static String share(long part, long whole) {
        return whole <= 0 ? "" : String.format(Locale.ROOT, " (%.0f %%)", 100.0 * part / whole);
    }
}
