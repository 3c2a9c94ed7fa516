package org.opendedup.sar.sdfs.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.sdfs.cli.command.Json;

/** Formats the output of the tier commands for people, from {@link TierReport} and the reports of jobs. */
public final class TierText {
    private final StringBuilder text = new StringBuilder();

    private TierText() {}

    /** Returns the state of the fast tier, one line a fact. */
    public static String status(String volume, Map<String, Object> status) {
        var page = new TierText();
        long capacity = Json.number(status, "rawCapacityBytes");
        if (capacity == 0 && Json.number(status, "rawFiles") == 0) {
            return "The volume has no fast tier for new files: all of them are stored in chunks.";
        }
        page.line("Mode", mode(status));
        page.line("Location", Objects.toString(status.get("location"), ""));
        page.line("State", state(status));
        long used = Json.number(status, "rawUsedBytes");
        page.line("Capacity", ByteSize.rounded(capacity));
        page.line("Used", ByteSize.rounded(used) + share(used, capacity) + ", " + number(status, "rawFiles", "file"));
        page.line(
                "Only there",
                number(status, "onlyThereFiles", "file") + ", " + size(status, "onlyThereBytes")
                        + ": a lost fast tier loses them");
        page.line("Pinned", number(status, "pinnedFiles", "file"));
        page.line("In use", number(status, "rawFilesInUse", "file"));
        page.line(
                "Migration",
                "from " + status.get("highPercent") + " % of use down to " + status.get("lowPercent") + " %, "
                        + first(status));
        long journal = Json.number(status, "journalSeconds");
        page.line(
                "Journal",
                journal == 0
                        ? "off: files are stored in chunks only when they are migrated"
                        : "files are also stored in chunks after " + journal + " s without use");
        page.line("Since mounted", sinceMounted(status));
        page.lost(volume, status);
        return page.text.toString().stripTrailing();
    }

    private static String mode(Map<String, Object> status) {
        return "tddfs".equals(status.get("mode"))
                ? "tddfs: new files lie whole on the fast tier until they are migrated"
                : "sar: new files are stored in chunks, except in folders that say otherwise";
    }

    private static String state(Map<String, Object> status) {
        String absent = Objects.toString(status.get("absent"), "");
        if (!absent.isEmpty()) {
            return "ABSENT: " + absent;
        }
        String hanging = Objects.toString(status.get("hanging"), "");
        if (!hanging.isEmpty()) {
            return "HANGING: " + hanging + "; new files are stored in chunks, and the figures are as last seen";
        }
        return Boolean.TRUE.equals(status.get("roomForNewFiles"))
                ? "in use, with room for new files"
                : "in use, without room: new files are stored in chunks";
    }

    private static String turn(Map<String, Object> file) {
        return "mixed".equals(file.get("migrationPolicy"))
                ? "it is worth least for each byte"
                : "it is the least recently used";
    }

    private static String first(Map<String, Object> status) {
        return "mixed".equals(status.get("migrationPolicy"))
                ? "those first that are worth least for each byte"
                : "the least recently used first";
    }

    private static String sinceMounted(Map<String, Object> status) {
        return number(status, "copiedFiles", "file") + " stored in chunks, " + size(status, "copiedBytes")
                + ", of these "
                + size(status, "aheadBytes") + " ahead; "
                + number(status, "migratedFiles", "file") + " migrated, " + size(status, "migratedBytes");
    }

    private void lost(String volume, Map<String, Object> status) {
        long lost = Json.number(status, "lostFiles");
        if (lost == 0) {
            return;
        }
        List<String> named = names(status, "lost");
        text.append(String.format(
                "%nLost: the bytes of %s were only on the fast tier.%n", number(status, "lostFiles", "file")));
        named.forEach(name -> text.append("  ").append(name).append(System.lineSeparator()));
        if (lost > named.size()) {
            text.append(String.format("  and %d more%n", lost - named.size()));
        }
        text.append(String.format("Restore them from a backup, or delete them; %s is damaged until then.%n", volume));
    }

    /** Returns where a file is and why, in one line or two. */
    public static String explanation(Map<String, Object> file) {
        String path = Printable.line(String.valueOf(file.get("path"))) + ": ";
        if ("folder".equals(file.get("type"))) {
            return path + "folder; new files " + newFiles(file);
        }
        String words = path + place(file) + ", " + size(file, "bytes");
        String accessed = Objects.toString(file.get("accessed"), "");
        words += accessed.isEmpty() ? "" : ", last used " + accessed;
        String why = why(file);
        return why.isEmpty() ? words : words + System.lineSeparator() + "  " + why;
    }

    private static String newFiles(Map<String, Object> folder) {
        return switch (String.valueOf(folder.get("newFiles"))) {
            case "tddfs" -> "lie whole on the fast tier until they are migrated (tddfs)";
            case "pin" -> "lie whole on the fast tier, and are not migrated (pin)";
            default -> "are stored in chunks (sar)";
        };
    }

    private static String place(Map<String, Object> file) {
        return switch (String.valueOf(file.get("place"))) {
            case "chunks" -> "in chunks, deduplicated";
            case "fast-tier" -> "whole on the fast tier only";
            case "both" -> "whole on the fast tier, and in chunks as well";
            case "absent" -> "on the fast tier, which cannot be used now";
            default -> "LOST: its bytes were only on the fast tier, which does not have them any more";
        };
    }

    private static String why(Map<String, Object> file) {
        String place = String.valueOf(file.get("place"));
        if (!place.equals("fast-tier") && !place.equals("both")) {
            return "";
        }
        var reasons = new ArrayList<String>();
        if (Boolean.TRUE.equals(file.get("pinned"))) {
            reasons.add("not migrated, because it is pinned");
        } else if (Boolean.TRUE.equals(file.get("inUse"))) {
            reasons.add("not migrated while it is in use");
        } else if (Boolean.TRUE.equals(file.get("small"))) {
            reasons.add("migrated when " + turn(file) + ", and small files take more than "
                    + MigrationPolicy.SMALL_PERCENT + " % of the capacity");
        } else {
            reasons.add("migrated when " + turn(file) + ", and the use is above " + file.get("highPercent") + " %");
        }
        long journal = Json.number(file, "journalSeconds");
        if (place.equals("fast-tier") && journal > 0) {
            reasons.add("stored in chunks as well when it was not used for " + journal + " s");
        }
        return String.join("; ", reasons);
    }

    /** Returns what a migration did. */
    public static String migrated(Map<String, Object> report) {
        var page = new TierText();
        page.text
                .append("Migrated ")
                .append(number(report, "migratedFiles", "file"))
                .append(", ")
                .append(size(report, "migratedBytes"));
        page.more(report, "inChunksFiles", "in chunks before");
        page.more(report, "lostFiles", "lost");
        page.more(report, "inUseFiles", "in use and not migrated");
        page.more(report, "failedFiles", "failed");
        page.text.append(System.lineSeparator());
        page.named(report, "inUse", "in use: ", "inUseFiles");
        page.named(report, "failures", "failed: ", "failedFiles");
        return page.text.toString().stripTrailing();
    }

    /** Returns what pinning did, or unpinning. */
    public static String pinned(Map<String, Object> report, boolean isPinned) {
        var page = new TierText();
        page.text.append(isPinned ? "Pinned " : "Unpinned ").append(number(report, "rawFiles", "raw file"));
        page.more(report, "inChunksFiles", "in chunks, where nothing changes");
        page.more(report, "failedFiles", "failed");
        page.text.append(System.lineSeparator());
        page.named(report, "failures", "failed: ", "failedFiles");
        return page.text.toString().stripTrailing();
    }

    /** Returns what was read. */
    public static String reloaded(Map<String, Object> report) {
        var page = new TierText();
        page.text
                .append("Read ")
                .append(number(report, "readFiles", "file"))
                .append(", ")
                .append(size(report, "readBytes"));
        page.more(report, "rawFiles", "on the fast tier already");
        page.more(report, "failedFiles", "failed");
        page.text.append(System.lineSeparator());
        page.named(report, "failures", "failed: ", "failedFiles");
        return page.text.toString().stripTrailing();
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
