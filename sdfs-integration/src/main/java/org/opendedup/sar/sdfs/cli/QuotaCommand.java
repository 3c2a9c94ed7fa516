package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.UserDatabase;
import org.opendedup.sar.sdfs.cli.files.QuotaControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.QuotaReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME quota}: limits of users, groups and folders, and what they use. */
@Command(
        name = "quota",
        description = {
            "Limits how many bytes and files users, groups and folders may have.",
            "",
            "What each uses is always counted, with and without limits: the bytes that count against the volume's",
            "capacity, which is before deduplication and without holes, and the files, folders and links."
        },
        footer = {
            "A soft limit may be exceeded for the grace time. A hard limit is never exceeded; who would gets",
            "\"Disk quota exceeded\". Root is exempt.",
            "",
            "Example:",
            "  sdfscli pool0 quota set --folder=/mnt/pool0/projects/a --bytes=90GB:100GB --files=900000:1000000"
        })
final class QuotaCommand extends CommandGroup {
    /** Name of the job in messages. */
    static final String JOB = "change of a quota";

    private static final Map<Character, Duration> UNITS = Map.of(
            's', Duration.ofSeconds(1),
            'm', Duration.ofMinutes(1),
            'h', Duration.ofHours(1),
            'd', Duration.ofDays(1),
            'w', Duration.ofDays(7));

    QuotaCommand() {
        super(QuotaControl.SET);
    }

    @Command(
            description = {
                "Sets limits of a user, a group or a folder. Limits that are not named stay as they are.",
                "",
                "A folder with a quota has all that lies below it, and is as a disk of its own: df in it shows its",
                "limits, and mv from or to it copies (EXDEV). A folder within it may have a quota of its own, and does",
                "not count for it then."
            },
            footer = {
                "Existing files below a folder are charged while the volume is in use. Ctrl-C ends that; the same",
                "command continues.",
                "",
                "Examples:",
                "  sdfscli pool0 quota set --user=alice --bytes=45GB:50GB",
                "  sdfscli pool0 quota set --group=1002 --files=0:100000     # a hard limit only",
                "  sdfscli pool0 quota set --folder=/mnt/pool0/a             # counts only",
                "  sdfscli pool0 quota set --user=alice --bytes=0 --files=0  # no limits"
            })
    int set(
            @Option(names = "--user", paramLabel = "NAME|ID", description = "A user.") @Nullable String user,
            @Option(names = "--group", paramLabel = "NAME|ID", description = "A group.") @Nullable String group,
            @Option(
                            names = "--project",
                            paramLabel = "ID",
                            description = "A project that a folder or file has: of a folder with a quota, or set by"
                                    + " other programs (FS_IOC_FSSETXATTR).")
                    @Nullable
                    Long project,
            @Option(names = "--folder", paramLabel = "PATH", description = VolumeClient.PATH_IN_VOLUME) @Nullable
                    Path folder,
            @Option(
                            names = "--bytes",
                            paramLabel = "SOFT[:HARD]",
                            description = "Limits of bytes, such as 90GB:100GB; 0: no limit. Without HARD there is no"
                                    + " hard limit.")
                    @Nullable
                    String bytes,
            @Option(
                            names = "--files",
                            paramLabel = "SOFT[:HARD]",
                            description = "Limits of files, folders and links together; 0: no limit.")
                    @Nullable
                    String files,
            @Option(
                            names = "--grace",
                            paramLabel = "TIME",
                            description = "For how long soft limits may be exceeded: a number of s, m, h, d or w, such"
                                    + " as 7d, which it is if it was never set.")
                    @Nullable
                    String grace)
            throws IOException, CommandFailedException, InterruptedException {
        if (Stream.of(user, group, project, folder).filter(Objects::nonNull).count() != 1) {
            throw usage("set", "name one of --user, --group, --project and --folder");
        }
        var arguments = new LinkedHashMap<String, Object>();
        if (bytes != null) {
            put(arguments, bytes, ByteSize::parse, QuotaControl.SOFT_BYTES, QuotaControl.HARD_BYTES);
        }
        if (files != null) {
            put(arguments, files, QuotaCommand::count, QuotaControl.SOFT_FILES, QuotaControl.HARD_FILES);
        }
        if (grace != null) {
            arguments.put(QuotaControl.GRACE_SECONDS, seconds(grace));
        }
        if (user != null) {
            arguments.put(Json.word(Kind.USER), UserDatabase.USERS.number(user));
        } else if (group != null) {
            arguments.put(Json.word(Kind.GROUP), UserDatabase.GROUPS.number(group));
        } else if (project != null) {
            arguments.put(Json.word(Kind.PROJECT), project);
        } else {
            arguments.put(QuotaControl.FOLDER, cli().pathInVolume(Objects.requireNonNull(folder)));
        }
        if (folder == null && arguments.size() == 1) {
            throw usage("set", "name a limit: --bytes, --files or --grace");
        }
        Map<String, Object> report = new JobClient(cli(), QuotaControl.SET, JOB, !cli().json).run(arguments);
        if ("failed".equals(report.get("state"))) {
            throw new CommandFailedException(String.valueOf(report.get("error")));
        }
        if (!"done".equals(report.get("state"))) {
            return ExitCode.FAILED;
        }
        print(named(Json.record(report, QuotaReport.class)));
        return ExitCode.OK;
    }

    @Command(
            description = "Shows what each user, group and folder uses, and its limits, as repquota(8) does.",
            footer = {
                "+-      the soft limit of bytes is exceeded, that of files is not",
                "grace   for how long a soft limit may still be exceeded; none: no longer",
                "",
                "Bytes that a program wrote, and its machine has in its cache, are not counted yet; fsync sends them.",
                "",
                "Examples:",
                "  sdfscli pool0 quota report",
                "  sdfscli pool0 quota report --json | jq '.quotas[] | select(.bytesGraceLeft)'   # who is over"
            })
    void report() throws IOException, CommandFailedException {
        print(named(Json.record(cli().ask(QuotaControl.REPORT, Map.of()), QuotaReport.class)));
    }

    private void print(QuotaReport report) {
        print(Json.values(report), report.text());
    }

    /** Returns the report with the names of users and groups; without them if they cannot be asked for. */
    private static QuotaReport named(QuotaReport report) {
        Map<Long, String> users = names(report, Kind.USER, UserDatabase.USERS);
        Map<Long, String> groups = names(report, Kind.GROUP, UserDatabase.GROUPS);
        return new QuotaReport(report.quotas().stream()
                .map(entry -> switch (entry.kind()) {
                    case USER -> entry.withName(users.get(entry.id()));
                    case GROUP -> entry.withName(groups.get(entry.id()));
                    case PROJECT -> entry;
                })
                .toList());
    }

    private static Map<Long, String> names(QuotaReport report, Kind kind, UserDatabase database) {
        List<Long> numbers = report.quotas().stream()
                .filter(entry -> entry.kind() == kind)
                .map(QuotaReport.Entry::id)
                .toList();
        try {
            return numbers.isEmpty() ? Map.of() : database.names(numbers);
        } catch (IOException e) {
            return Map.of();
        }
    }

    /** Reads {@code SOFT[:HARD]}. */
    private void put(
            Map<String, Object> arguments, String text, ToLongFunction<String> parser, String soft, String hard) {
        String[] parts = text.split(":", -1);
        if (parts.length > 2) {
            throw usage("set", "'" + text + "' is not SOFT or SOFT:HARD");
        }
        try {
            arguments.put(soft, parser.applyAsLong(parts[0]));
            arguments.put(hard, parts.length == 2 ? parser.applyAsLong(parts[1]) : 0L);
        } catch (IllegalArgumentException e) {
            throw usage("set", String.valueOf(e.getMessage()));
        }
    }

    private static long count(String text) {
        if (!text.matches("[0-9]{1,18}")) {
            throw new IllegalArgumentException("'" + text + "' is not a number of files");
        }
        return Long.parseLong(text);
    }

    private long seconds(String text) {
        if (text.matches("[0-9]{1,9}[smhdw]")) {
            long seconds = Long.parseLong(text.substring(0, text.length() - 1))
                    * UNITS.getOrDefault(text.charAt(text.length() - 1), Duration.ZERO)
                            .toSeconds();
            if (seconds <= QuotaLimits.MAX_GRACE_SECONDS) {
                return seconds;
            }
        }
        throw usage(
                "set",
                "'" + text + "' is not a grace time; write a number of s, m, h, d or w, such as 7d, up to" + " 36525d");
    }
}
