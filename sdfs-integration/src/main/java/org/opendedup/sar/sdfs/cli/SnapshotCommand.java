package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.SnapshotControl;
import org.opendedup.sar.sdfs.cli.control.SnapshotDiffControl;
import org.opendedup.sar.sdfs.cli.keys.SecretOptions;
import org.opendedup.sar.sdfs.cli.report.ChangeReport;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.RollbackReport;
import org.opendedup.sar.sdfs.cli.report.SnapshotReport;
import org.opendedup.sar.sdfs.cli.report.SnapshotText;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.sdfs.config.KeepRules.Period;
import org.opendedup.sar.volume.diff.DiffReport;
import org.opendedup.sar.volume.snapshot.VolumeSnapshots;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code sdfscli VOLUME snapshot}: the snapshots of a volume. {@link SnapshotControl} answers its requests in the
 * daemon.
 */
@Command(
        name = "snapshot",
        description = {
            "Makes, lists, compares, holds and deletes snapshots of a mounted volume, and rolls an unmounted one back.",
            "",
            "A snapshot is the whole volume as it was at one moment. It never changes. Its files are read in the",
            "folder .snapshots/NAME of the mount, which ls does not show: cp, diff and rsync work there. Making one",
            "takes as long as a sync, whatever the size of the volume, and stores nothing. What is changed or deleted",
            "afterwards stays stored as long as a snapshot has it."
        },
        footer = {
            "The volume also makes snapshots by itself, see --snapshot-schedule and --snapshot-keep of mkfs.sdfs; in",
            "the volume file: snapshot-schedule and snapshot-keep of <io>. docs/operations/snapshots.md says more.",
            "",
            "Examples:",
            "  sdfscli pool0 snapshot create before-upgrade",
            "  diff -r /mnt/pool0/etc /mnt/pool0/.snapshots/before-upgrade/etc",
            "  cp -a /mnt/pool0/.snapshots/before-upgrade/etc/fstab /mnt/pool0/etc/",
            "  sdfscli pool0 snapshot diff before-upgrade                # which files were changed since",
            "  sdfscli pool0 unmount && sdfscli pool0 snapshot rollback before-upgrade",
            "  sdfscli pool0 snapshot delete before-upgrade",
            "  sdfscli pool0 set --snapshot-schedule='0 0 * * * ?'      # one each hour, from now on"
        })
final class SnapshotCommand extends CommandGroup {
    /** Argument of requests, and key of answers. */
    private static final String SNAPSHOT = "snapshot";

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
            request.put(SNAPSHOT, snapshot);
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
                "Tells which files and folders differ between two snapshots, or a snapshot and now.",
                "",
                "Prints a line for each path: + new, - deleted, M modified, R renamed or moved, and "
                        + "what of it differs:",
                "content, attributes, link (only a name of the file is new or deleted), replaced (another file has the",
                "name). Reads no bytes of files: the time depends on what was changed, not on the size of the volume."
            },
            footer = {
                "A renamed folder is one line; what is in it has one only if it differs. A file is "
                        + "modified if its bytes",
                "were written, or its mode, owner, extended attributes or modification time are "
                        + "others. A folder is not",
                "modified because names in it are. Without B, the volume makes a snapshot for as long as it compares.",
                "",
                "Paths begin at the root of the volume. Those of - and before -> are as in A, all "
                        + "others as in B. Lines",
                "are in the order of paths, up to 50000; more are in the order in which the files were made. Names are",
                "escaped; --json has the exact bytes of a name that is no UTF-8, in base64.",
                "",
                "Examples:",
                "  sdfscli pool0 snapshot diff before-upgrade",
                "  sdfscli pool0 snapshot diff monday tuesday | grep ^-",
                "  sdfscli pool0 snapshot diff monday --json | jq -r '.changes[] | select(.content) | .path'"
            })
    int diff(
            @Parameters(index = "0", paramLabel = "A", description = NAMES) String from,
            @Parameters(
                            index = "1",
                            arity = "0..1",
                            paramLabel = "B",
                            description = "Name of another one, younger or older. Default: the volume as it is now.")
                    @Nullable
                    String to)
            throws IOException, CommandFailedException, InterruptedException {
        var request = new LinkedHashMap<String, Object>();
        request.put(SnapshotDiffControl.FROM, from);
        if (to != null) {
            request.put(SnapshotDiffControl.TO, to);
        }
        var printed = new ChangePrinter(from, to);
        var client = new JobClient(cli(), SnapshotDiffControl.COMMAND, SnapshotDiffControl.JOB, !cli().json);
        Map<String, Object> last =
                client.fetch(request, SnapshotDiffControl.NEXT, SnapshotDiffControl.MORE, printed::print);
        if (!"done".equals(last.get("state"))) {
            throw new CommandFailedException(
                    "failed".equals(last.get("state"))
                            ? "the comparison failed: " + last.get("error")
                            : "the comparison was stopped");
        }
        printed.end(Json.record(last, DiffReport.class));
        return ExitCode.OK;
    }

    /** Prints changes as they come: as text, or as one JSON object that is never whole in memory. */
    private final class ChangePrinter {
        private final PrintWriter out = cli().environment().out();
        private final String from;
        private final String to;
        private long count;

        ChangePrinter(String from, @Nullable String to) {
            this.from = from;
            this.to = to == null ? "" : to;
        }

        boolean print(Map<String, Object> reply) throws IOException {
            List<Map<String, Object>> changes = Json.objects(reply, SnapshotDiffControl.CHANGES);
            for (Map<String, Object> change : changes) {
                if (!cli().json) {
                    out.println(Json.record(change, ChangeReport.class).text());
                } else {
                    out.print(count == 0 ? begin() : ",\n");
                    out.print("  " + Json.line(change));
                }
                count++;
            }
            if (!changes.isEmpty() && out.checkError()) {
                throw new IOException("the comparison was stopped, because nobody reads its output");
            }
            return !changes.isEmpty();
        }

        private String begin() {
            String head = Json.line(named(Map.of("from", from)));
            return head.substring(0, head.length() - 1) + ",\"to\":" + Json.line(to) + ",\"changes\":[\n";
        }

        void end(DiffReport report) {
            if (cli().json) {
                out.print(count == 0 ? begin() : "\n");
                out.println("]," + Json.line(report).substring(1));
            } else {
                cli().environment()
                        .err()
                        .println(SnapshotText.differing(count, Printable.line(from), Printable.line(to), report));
            }
        }
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
                "FIRST%%LAST is the range of snapshots from one to another, with both. Without "
                        + "FIRST it begins with the",
                "oldest one, without LAST it ends with the newest one.",
                "",
                "Examples:",
                "  sdfscli pool0 snapshot delete before-upgrade && sdfscli pool0 gc --wait",
                "  sdfscli pool0 snapshot delete --dry-run monday%%thursday    # what all of these together free"
            })
    int delete(
            @Parameters(
                            arity = "1..*",
                            paramLabel = "NAME",
                            description = "Names of snapshots, as 'snapshot list' shows them, or ranges: FIRST%%LAST.")
                    List<String> snapshots,
            @Option(
                            names = "--dry-run",
                            description = "Print what would be deleted and what that frees, and change nothing.")
                    boolean dryRun)
            throws IOException, CommandFailedException {
        if (dryRun) {
            Map<String, Object> selected = select(snapshots, true);
            print(named(selected), SnapshotText.deletion(Json.record(selected, SnapshotReport.Deletion.class)));
            return ExitCode.OK;
        }
        var deleted = new ArrayList<String>();
        var failed = new ArrayList<Map<String, String>>();
        for (Map<String, Object> named : withoutRanges(snapshots)) {
            String snapshot = (String) named.get(SNAPSHOT);
            try {
                var unused = ask(SnapshotControl.DELETE, named);
                deleted.add(snapshot);
            } catch (IOException e) {
                failed.add(Map.of(SNAPSHOT, snapshot, "error", FailureText.of(e)));
                cli().environment().err().println("sdfscli: " + Printable.line(FailureText.of(e)));
            }
        }
        print(
                named(Map.of("deleted", deleted, "failed", failed)),
                "Deleted " + deleted.size() + (deleted.size() == 1 ? " snapshot." : " snapshots."));
        return failed.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }

    private Map<String, Object> select(List<String> snapshots, boolean withSpace)
            throws IOException, CommandFailedException {
        return ask(SnapshotControl.SELECT, Map.of("snapshots", snapshots, "space", withSpace ? 1 : 0));
    }

    /**
     * Returns what names all snapshots that are named or in a range: with a range, also by their numbers, so that none
     * is deleted that gets a name of the range meanwhile.
     */
    private List<Map<String, Object>> withoutRanges(List<String> snapshots) throws IOException, CommandFailedException {
        if (snapshots.stream().noneMatch(name -> name.contains(VolumeSnapshots.RANGE))) {
            return snapshots.stream()
                    .map(name -> Map.<String, Object>of(SNAPSHOT, name))
                    .toList();
        }
        var selected = Json.record(select(snapshots, false), SnapshotReport.Deletion.class);
        return Stream.concat(selected.deleted().stream(), selected.held().stream())
                .map(one -> Map.<String, Object>of(SNAPSHOT, one.snapshot(), "number", one.number()))
                .toList();
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
                ask(SnapshotControl.HOLD, Map.of(SNAPSHOT, snapshot, "untilMs", untilMs("hold", until)));
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
            @Option(
                            names = "--dry-run",
                            description = "Print what would be deleted and what that frees, and change nothing.")
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

    @Command(
            description = {
                "Makes an unmounted volume what it was.",
                "",
                "All names, attributes and bytes of all files are those of the snapshot then.",
                "",
                "All snapshots stay, also newer ones. The present state is kept as a snapshot first, named",
                "before-rollback- and the time of now in UTC; if that cannot be made, nothing is done. So nothing is",
                "lost, and a rollback to that snapshot takes this one back."
            },
            footer = {
                "It takes as long as what was changed since needs, and a look at each record of the metadata; no bytes",
                "of files move. A mount after a crash in the middle finishes it first. If the disk "
                        + "is full in the middle,",
                "make space and mount, or roll back to the snapshot that was made before with --discard.",
                "",
                "Files on the fast tier that are not as they were lie in chunks afterwards. Limits "
                        + "of quotas stay as they",
                "are now; what is used is counted anew.",
                "",
                "Run it as the user who mounts the volume. To bring single folders back, leave it "
                        + "mounted and copy them:",
                "  sdfscli pool0 clone /mnt/pool0/.snapshots/before-upgrade/etc /mnt/pool0/etc.old",
                "",
                "Examples:",
                "  sdfscli pool0 snapshot rollback before-upgrade --dry-run     # how many files "
                        + "come back, go and change",
                "  sdfscli pool0 snapshot rollback before-upgrade"
            })
    void rollback(
            @Parameters(paramLabel = "NAME", description = NAMES) String snapshot,
            @Option(
                            names = "--discard",
                            description = "Make no snapshot of the present state first: what was changed since the "
                                    + "newest snapshot is lost. Also gives up a rollback that is not finished.")
                    boolean discard,
            @Option(names = "--dry-run", description = "Print what would come back, go and change; change nothing.")
                    boolean dryRun,
            @Mixin SecretOptions secrets)
            throws IOException, CommandFailedException {
        RollbackReport done = new SnapshotRollback(cli(), snapshot, discard).run(secrets.source(), dryRun);
        print(named(Json.values(done)), done.text(cli().name()));
    }
}
