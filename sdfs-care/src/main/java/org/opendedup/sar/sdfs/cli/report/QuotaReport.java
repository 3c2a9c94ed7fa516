package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.quota.QuotaState;
import org.opendedup.sar.metadata.record.QuotaId.Kind;

/** What users, groups and folders use, and their limits, as {@code sdfscli VOLUME quota} shows them. */
public record QuotaReport(List<Entry> quotas) {
    private static final String LINE = "%-24s %s %10s %10s %10s %8s %9s %9s %9s %8s%n";

    /**
     * What a user, group or folder uses. The names are stable.
     *
     * @param kind user, group or project
     * @param id number of the user, group or project
     * @param name of the user or group; null if it is not known
     * @param folder of a project: path of its folder from the root of the volume; null if it has none any more
     * @param bytes bytes of its files; the limits are in bytes, too, and 0 is no limit
     * @param files number of its inodes
     * @param graceSeconds for how long a soft limit may be exceeded, in seconds
     * @param bytesGraceLeft how long the soft limit of bytes may still be exceeded, in seconds, 0: no longer; null: it
     *     is not exceeded
     * @param filesGraceLeft the same of files
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Entry(
            Kind kind,
            long id,
            @Nullable String name,
            @Nullable String folder,
            long bytes,
            long softBytes,
            long hardBytes,
            long files,
            long softFiles,
            long hardFiles,
            long graceSeconds,
            @Nullable Long bytesGraceLeft,
            @Nullable Long filesGraceLeft) {
        /** @param nowMs the present time, in milliseconds since 1970 */
        public static Entry of(QuotaState state, @Nullable String folder, long nowMs) {
            return new Entry(
                    state.id().kind(),
                    state.id().number(),
                    null,
                    folder,
                    state.bytes(),
                    state.limits().softBytes(),
                    state.limits().hardBytes(),
                    state.files(),
                    state.limits().softFiles(),
                    state.limits().hardFiles(),
                    state.limits().graceSeconds(),
                    left(state.bytesGraceEndMs(), nowMs),
                    left(state.filesGraceEndMs(), nowMs));
        }

        private static @Nullable Long left(long endMs, long nowMs) {
            return endMs == 0 ? null : Math.max(0, (endMs - nowMs) / 1000);
        }

        public Entry withName(@Nullable String newName) {
            return new Entry(
                    kind,
                    id,
                    newName,
                    folder,
                    bytes,
                    softBytes,
                    hardBytes,
                    files,
                    softFiles,
                    hardFiles,
                    graceSeconds,
                    bytesGraceLeft,
                    filesGraceLeft);
        }

        private String shown() {
            if (kind == Kind.PROJECT) {
                return folder == null ? "project " + id : folder;
            }
            return name == null ? "#" + id : name;
        }

        /** The two signs of repquota(8): whether the soft limits of bytes and of files are exceeded. */
        private String signs() {
            return (bytesGraceLeft == null ? "-" : "+") + (filesGraceLeft == null ? "-" : "+");
        }

        private String line() {
            return String.format(
                    Locale.ROOT,
                    LINE,
                    Printable.line(shown()),
                    signs(),
                    ByteSize.rounded(bytes),
                    softBytes == 0 ? "-" : ByteSize.rounded(softBytes),
                    hardBytes == 0 ? "-" : ByteSize.rounded(hardBytes),
                    grace(bytesGraceLeft),
                    files,
                    softFiles == 0 ? "-" : softFiles,
                    hardFiles == 0 ? "-" : hardFiles,
                    grace(filesGraceLeft));
        }

        private static String grace(@Nullable Long left) {
            return left == null ? "" : left == 0 ? "none" : RoughTime.of(left);
        }
    }

    /** Returns the table for people: users, groups, then folders. */
    public String text() {
        return quotas.stream()
                .map(Entry::kind)
                .distinct()
                .map(kind -> String.format(
                                Locale.ROOT,
                                LINE,
                                heading(kind),
                                "  ",
                                "bytes",
                                "soft",
                                "hard",
                                "grace",
                                "files",
                                "soft",
                                "hard",
                                "grace")
                        + quotas.stream()
                                .filter(entry -> entry.kind == kind)
                                .map(Entry::line)
                                .collect(Collectors.joining()))
                .collect(Collectors.joining(System.lineSeparator()))
                .stripTrailing();
    }

    private static String heading(Kind kind) {
        return switch (kind) {
            case USER -> "User";
            case GROUP -> "Group";
            case PROJECT -> "Folder";
        };
    }
}
