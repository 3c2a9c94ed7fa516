package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OptionSpecs;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.cli.report.GcText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME gc}: collects garbage. {@link GcControl} answers its requests in the daemon. */
@Command(
        name = "gc",
        description = {
            "Collects garbage: returns the space of deleted data to the file system.",
            "",
            "Deleting a file leaves chunks that no file refers to. A collection writes the containers with the largest",
            "share of them anew without these chunks, and removes containers that have no others. It runs in the",
            "daemon while the volume is in use. Without --wait, the command returns when the collection has begun."
        },
        customSynopsis = {
            "sdfscli VOLUME gc [--dry-run] [--wait] [--leave=PERCENT] [--arrange=PERCENT] [--recompress=LEVEL]",
            "                  [--json]",
            "       sdfscli VOLUME gc COMMAND"
        },
        subcommands = GcCommand.Setting.class,
        footer = {
            "One collection runs at a time. If one is running already, the command says so; --wait waits for its end,",
            "and Ctrl-C then ends only the waiting. Ctrl-C stops a collection that the command started itself. What",
            "it has returned until then stays returned, and the same command continues it. A crash is harmless too.",
            "",
            "The volume also collects garbage by its schedule, see --io-claim-chunks-schedule of mkfs.sdfs. Content",
            "that is written again uses chunks that are garbage, as long as they are stored.",
            "",
            "Examples:",
            "  sdfscli pool0 gc --dry-run                   # what a collection would return; changes nothing",
            "  sdfscli pool0 gc --wait                      # progress, bytes a second, time left, bytes returned",
            "  sdfscli pool0 gc --leave=10                  # only the containers where it is worth most",
            "  sdfscli pool0 gc --wait --arrange=10         # and make the newest files faster to read",
            "  sdfscli pool0 gc --recompress=zstd:9 --wait  # and compresses everything harder",
            "  sdfscli pool0 gc status                      # what is running, the last result, the next time",
            "  sdfscli pool0 gc set --rate=20               # at most 20 MB/s, also while a collection is running"
        })
final class GcCommand extends JobCommand {
    @Option(
            names = "--dry-run",
            description = "Print what would be returned, and change nothing. Waits for the result.")
    boolean dryRun;

    @Option(names = "--wait", description = "Show the progress, and wait for the result.")
    boolean wait;

    @Option(
            names = "--leave",
            paramLabel = "PERCENT",
            defaultValue = "3",
            description = "Share of the stored bytes that may stay garbage, in percent: the less, the more containers "
                    + "are written anew for it. Default: ${DEFAULT-VALUE}.")
    double leave;

    @Option(
            names = "--recompress",
            paramLabel = "LEVEL",
            description = "Compress all containers harder afterwards, once: zstd:LEVEL (1 to 19), higher than that of "
                    + "writing; or off. zstd:9 stores up to a tenth less and needs a second of a core for about "
                    + "70MB. Default: what 'gc set --recompress' has set, for containers that existed when the "
                    + "collection before began.")
    @Nullable
    String recompress;

    @Option(
            names = "--arrange",
            paramLabel = "PERCENT",
            description =
                    "Before the collection, move chunks that the newest files read with many seeks, with all their "
                            + "references: at most this share of the stored bytes, in percent; 0: none. "
                            + "Default: none, or 10 "
                            + "if 'gc status' says that it arranges.")
    @Nullable
    Double arrange;

    GcCommand() {
        super(GcControl.COMMAND);
    }

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        checkShare(leave);
        Optional<Map<String, Object>> ended = start(dryRun ? "dry run" : "collection", request(), wait || dryRun);
        return ended.isPresent() ? report(ended.get()) : ExitCode.OK;
    }

    private void checkShare(double share) {
        if (!(share >= 0 && share <= 100)) {
            throw usage("a share is from 0 to 100, in percent");
        }
    }

    private Map<String, Object> request() {
        var request = new LinkedHashMap<String, Object>();
        request.put("dryRun", dryRun ? 1 : 0);
        request.put("leaveParts", Math.round(leave / 100 * GcControl.PARTS));
        if (recompress != null) {
            request.put(GcControl.RECOMPRESS, checked(recompress));
        }
        if (arrange != null) {
            checkShare(arrange);
            if (dryRun && arrange > 0) {
                throw usage("--dry-run does not say what --arrange would move");
            }
            request.put("arrangeParts", Math.round(arrange / 100 * GcControl.PARTS));
        }
        return request;
    }

    /** Returns a level in the way that the daemon gets it. */
    private String checked(String level) {
        try {
            return RecompressLevel.parse(level).toString();
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    @Override
    void checkReply(Map<String, Object> reply) throws CommandFailedException {
        boolean othersDryRun = Boolean.TRUE.equals(reply.get("dryRun"));
        if (!isStarted(reply) && (dryRun || othersDryRun)) {
            throw new CommandFailedException(
                    "a " + running(GcText.kind(reply), reply) + "; try again when it has ended");
        }
    }

    private int report(Map<String, Object> report) throws CommandFailedException {
        if (!isDone(report) && !cli().json) {
            throw new CommandFailedException("the " + GcText.kind(report)
                    + " was stopped; what it returned stays returned, and the same command continues it");
        }
        print(named(report), dryRun ? GcText.dryRun(report) : GcText.result(report));
        return isDone(report) ? ExitCode.OK : ExitCode.FAILED;
    }

    @Command(
            description = {
                "Shows the collections of garbage of a mounted volume.",
                "",
                "Prints the progress of the running one, the pace, the schedule with its next time, and the result of",
                "the last one, with what started it: sdfscli, JMX, the schedule or a full disk."
            },
            footer = {
                "Examples:",
                "  sdfscli pool0 gc status",
                "  sdfscli pool0 gc status --json | jq .last.returnedBytes"
            })
    void status() throws IOException, CommandFailedException {
        Map<String, Object> status = askFor(GcControl.STATUS, Map.of());
        print(status, GcText.status(cli().name(), status, JobClient.line(Json.object(status, "current"))));
    }

    @Command(
            description = {
                "Stops the running collection of garbage after the container at hand.",
                "",
                "What it has returned stays returned, and the next collection goes on from there."
            },
            footer = {"Example:", "  sdfscli pool0 gc stop"})
    void stop() throws IOException, CommandFailedException {
        print(
                named(askFor(GcControl.STOP, Map.of())),
                "The collection is being stopped; what it has returned stays returned.");
    }

    /** {@code sdfscli VOLUME gc set}; a class, because options of the volume are added to it. */
    @Command(
            name = "set",
            description = {
                "Changes the pace of the collections of garbage of a mounted volume, and how hard they compress.",
                "",
                "The pace takes effect at once, also while a collection is running, and until the volume is unmounted."
            },
            customSynopsis = "sdfscli VOLUME gc set OPTION... [--json]",
            modelTransformer = OptionSpecs.class,
            footer = {
                "Examples:",
                "  sdfscli pool0 gc set --paused=true     # after the container at hand; a scheduled one waits too",
                "  sdfscli pool0 gc set --paused=false",
                "  sdfscli pool0 gc set --rate=20",
                "  sdfscli pool0 gc set --arrange=true    # scheduled collections make the newest files faster to read",
                "  sdfscli pool0 gc set --rate=0          # as fast as the disk allows",
                "  sdfscli pool0 gc set --recompress=zstd:9   # from the next collection on, also after a new mount"
            })
    static final class Setting implements Callable<Integer> {
        @Spec
        @Nullable
        CommandSpec spec;

        @ParentCommand
        @Nullable
        GcCommand parent;

        @Mixin
        PaceOptions pace = new PaceOptions();

        @Option(
                names = "--arrange",
                arity = "1",
                paramLabel = "true|false",
                description = "Whether collections move chunks first as the newest files want them, the scheduled ones "
                        + "too. False after each mount.")
        @Nullable
        Boolean arrange;

        @Override
        public Integer call() throws IOException, CommandFailedException {
            Map<String, Object> changes = pace.changes();
            changes.putAll(OptionSpecs.changes(Objects.requireNonNull(spec)));
            if (arrange != null) {
                changes.put("arrange", arrange ? 1 : 0);
            }
            Objects.requireNonNull(parent).set(changes, "--rate=20");
            return ExitCode.OK;
        }
    }
}
