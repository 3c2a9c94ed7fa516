package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.SnapshotControl;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.SnapshotReport;
import org.opendedup.sar.sdfs.cli.report.SnapshotText;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.sdfs.config.KeepRules.Period;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code sdfscli VOLUME snapshot}: the snapshots of a volume. {@link SnapshotControl} answers its requests in the
 * daemon.
 */
@Command(
        name = "snapshot",
        description = {
            "Makes, lists, holds and deletes snapshots of a mounted volume.",
            "",
            "A snapshot is the whole volume as it was at one moment. It never changes. Its files are read in the",
            "folder .snapshots/NAME of the mount, which ls does not show: cp, diff and rsync work there. Making one",
            "takes as long as a sync, whatever the size of the volume, and stores nothing. What is changed or deleted",
            "afterwards stays stored as long as a snapshot has it."
        },
        footer = {
            "The volume also makes snapshots by itself, see --snapshot-schedule and --snapshot-keep of mkfs.sdfs; in the",
            "volume file: snapshot-schedule and snapshot-keep of <io>. docs/operations/snapshots.md says more.",
            "",
            "Examples:",
            "  sdfscli pool0 snapshot create before-upgrade",
            "  diff -r /mnt/pool0/etc /mnt/pool0/.snapshots/before-upgrade/etc",
            "  cp -a /mnt/pool0/.snapshots/before-upgrade/etc/fstab /mnt/pool0/etc/",
            "  sdfscli pool0 snapshot delete before-upgrade",
            "  sdfscli pool0 set --snapshot-schedule='0 0 * * * ?'      # one each hour, from now on"
        })
final class SnapshotCommand extends CommandGroup {
    private static final String NAMES = "Name of a snapshot, as 'snapshot list' shows it.";
    private static final String DATE_LABEL = "DATE";
    private static final String DATE =
            "A day, such as 2027-01-31, which means its end; or a time, such as 2027-01-31T18:00, in local time.";

    SnapshotCommand() {
        super(SnapshotControl.COMMAND);
    }

    @Override
    public Integer call() {
        throw usage("name a command, such as sdfscli VOLUME snapshot list");
    }

    @Command(
            description = {
                "Makes a snapshot of the volume, durably.",
                "",
                "It has all that programs have written before, also what they did not sync. Of a file that is being",
                "written meanwhile it has what a power cut at that moment would leave."
            },
            footer = {
                "Files on the fast tier are stored in chunks first. Fails if one of them is open for writing.",
                "",
                "Examples:",
                "  sdfscli pool0 snapshot create before-upgrade",
                "  sdfscli pool0 snapshot create month-end --hold-until=2027-12-31",
                "  sdfscli pool0 snapshot create --json | jq -r .snapshot       # named by the time of now"
            })
    void create(
            @Parameters(
                            arity = "0..1",
                            paramLabel = "NAME",
                            description = "Its name, as of a folder. Default: the time of now in UTC, in the form that "
                                    + "Samba reads: @GMT-2026.11.29-21.00.00.")
                    @Nullable
                    String snapshot,
            @Option(
                            names = "--hold-until",
                            paramLabel = DATE_LABEL,
                            description = "Let nobody delete it before. " + DATE)
                    @Nullable
                    String until)
            throws IOException, CommandFailedException {
        var request = new LinkedHashMap<String, Object>();
        if (snapshot != null) {
            request.put("snapshot", snapshot);
        }
        if (until != null) {
            request.put("untilMs", untilMs("create", until));
        }
        Map<String, Object> made = ask(SnapshotControl.CREATE, request);
        var one = Json.record(made, SnapshotReport.One.class);
        print(
                named(made),
                "Made snapshot " + Printable.line(one.snapshot())
                        + (one.heldUntil().isEmpty() ? "." : ", held until " + one.heldUntil() + "."));
    }

    private long untilMs(String subcommand, String text) {
        try {
            return time(text).toEpochMilli();
        } catch (DateTimeException e) {
            throw usage(
                    subcommand,
                    "'" + text + "' is no date; write a day, such as 2027-01-31, or a time, such as 2027-01-31T18:00"
                            + " or 2027-01-31T18:00:00Z");
        }
    }

    /** Returns the end of a day, or a time. */
    static Instant time(String text) {
        ZoneId zone = ZoneId.systemDefault();
        if (!text.contains("T")) {
            return LocalDate.parse(text).plusDays(1).atStartOfDay(zone).toInstant();
        }
        boolean hasOffset = text.matches(".*T.*([Zz]|[+-][0-9:]+)");
        return hasOffset
                ? OffsetDateTime.parse(text).toInstant()
                : LocalDateTime.parse(text).atZone(zone).toInstant();
    }

    @Command(
            description = {
                "Lists the snapshots of a mounted volume, the oldest first.",
                "",
                "Files and bytes are those of the whole volume when the snapshot was made; they are not what the",
                "snapshot takes."
            },
            footer = {
                "Examples:",
                "  sdfscli pool0 snapshot list",
                "  sdfscli pool0 snapshot list --json | jq -r '.snapshots[].snapshot'"
            })
    void list() throws IOException, CommandFailedException {
        Map<String, Object> all = ask(SnapshotControl.LIST, Map.of());
        print(named(all), SnapshotText.all(cli().name(), Json.record(all, SnapshotReport.All.class)));
    }

    @Command(
            description = {
                "Deletes snapshots.",
                "",
                "They are gone when the command ends. What only they had becomes garbage in the background, and the",
                "next collection returns its space. A program that still reads in one gets the error ESTALE."
            },
            footer = {
                "A snapshot that is held is not deleted, whoever asks. The others that are named are; the exit code is",
                "1 then.",
                "",
                "Example:",
                "  sdfscli pool0 snapshot delete before-upgrade && sdfscli pool0 gc --wait"
            })
    int delete(@Parameters(arity = "1..*", paramLabel = "NAME", description = NAMES) List<String> snapshots)
            throws IOException, CommandFailedException {
        var deleted = new ArrayList<String>();
        var failed = new ArrayList<Map<String, String>>();
        for (String snapshot : snapshots) {
            try {
                var unused = ask(SnapshotControl.DELETE, Map.of("snapshot", snapshot));
                deleted.add(snapshot);
            } catch (IOException e) {
                failed.add(Map.of("snapshot", snapshot, "error", FailureText.of(e)));
                cli().environment().err().println("sdfscli: " + Printable.line(FailureText.of(e)));
            }
        }
        print(
                named(Map.of("deleted", deleted, "failed", failed)),
                "Deleted " + deleted.size() + (deleted.size() == 1 ? " snapshot." : " snapshots."));
        return failed.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }

    @Command(
            description = {
                "Lets nobody delete a snapshot before a date, root included.",
                "",
                "The date can be moved to a later one, and never to an earlier one."
            },
            footer = {
                "Nothing of this program deletes a held snapshot: no command, no schedule, no client of a share.",
                "It is no protection from root with the disks themselves, nor from a clock that is set ahead.",
                "",
                "Example:",
                "  sdfscli pool0 snapshot hold month-end --until=2027-12-31"
            })
    void hold(
            @Parameters(paramLabel = "NAME", description = NAMES) String snapshot,
            @Option(names = "--until", required = true, paramLabel = DATE_LABEL, description = DATE) String until)
            throws IOException, CommandFailedException {
        Map<String, Object> held =
                ask(SnapshotControl.HOLD, Map.of("snapshot", snapshot, "untilMs", untilMs("hold", until)));
        print(
                named(held),
                "Snapshot " + Printable.line(snapshot) + " is held until "
                        + Json.record(held, SnapshotReport.One.class).heldUntil() + ".");
    }

    /** How many snapshots of each period are kept. */
    static final class Keep {
        @Option(names = "--keep-last", paramLabel = "N", description = "Keep the newest N.")
        @Nullable
        Integer last;

        @Option(names = "--keep-hourly", paramLabel = "N", description = "Keep the newest of each of N hours.")
        @Nullable
        Integer hourly;

        @Option(names = "--keep-daily", paramLabel = "N", description = "The same of N days, in local time.")
        @Nullable
        Integer daily;

        @Option(names = "--keep-weekly", paramLabel = "N", description = "The same of N weeks, from Monday on.")
        @Nullable
        Integer weekly;

        @Option(names = "--keep-monthly", paramLabel = "N", description = "The same of N months.")
        @Nullable
        Integer monthly;

        @Option(names = "--keep-yearly", paramLabel = "N", description = "The same of N years.")
        @Nullable
        Integer yearly;

        KeepRules rules() {
            var counts = new LinkedHashMap<Period, Integer>();
            put(counts, Period.LAST, last);
            put(counts, Period.HOURLY, hourly);
            put(counts, Period.DAILY, daily);
            put(counts, Period.WEEKLY, weekly);
            put(counts, Period.MONTHLY, monthly);
            put(counts, Period.YEARLY, yearly);
            return new KeepRules(counts);
        }

        private static void put(Map<Period, Integer> counts, Period period, @Nullable Integer count) {
            if (count != null) {
                counts.put(period, count);
            }
        }
    }

    @Command(
            description = {
                "Deletes the snapshots of the schedule that no rule keeps.",
                "",
                "Each rule keeps the newest snapshot of each of the newest N hours, days, weeks, months or years that",
                "have snapshots. One that any rule keeps stays. The schedule does the same after each snapshot that it",
                "makes. Without a rule, those of the volume hold: --snapshot-keep of mkfs.sdfs."
            },
            footer = {
                "Snapshots that are held stay, and are named. Those that a person made stay, unless --all is given.",
                "",
                "Examples:",
                "  sdfscli pool0 snapshot prune --dry-run",
                "  sdfscli pool0 snapshot prune --keep-hourly=24 --keep-daily=7 --keep-weekly=4 --keep-monthly=12"
            })
    void prune(
            @ArgGroup(exclusive = false, heading = "Rules:%n") @Nullable Keep keep,
            @Option(
                            names = "--all",
                            description = "Apply the rules to all snapshots, also to those that a person made.")
                    boolean all,
            @Option(names = "--dry-run", description = "Print what would be deleted, and change nothing.")
                    boolean dryRun)
            throws IOException, CommandFailedException {
        var request = new LinkedHashMap<String, Object>();
        request.put("all", all ? 1 : 0);
        request.put("dryRun", dryRun ? 1 : 0);
        if (keep != null) {
            try {
                request.put("keep", keep.rules().toString());
            } catch (IllegalArgumentException e) {
                throw usage("prune", String.valueOf(e.getMessage()));
            }
        }
        Map<String, Object> pruned = ask(SnapshotControl.PRUNE, request);
        print(named(pruned), SnapshotText.pruned(Json.record(pruned, SnapshotReport.Pruned.class)));
    }
}
