package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.cli.report.GcText;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
            "daemon while the volume is in use. Without --wait, the command returns when the collection has begun.",
            ""
        },
        customSynopsis = {
            "sdfscli VOLUME gc [--dry-run] [--wait] [--leave=PERCENT] [--arrange=PERCENT] [--recompress=LEVEL]",
            "                  [--json]",
            "       sdfscli VOLUME gc COMMAND",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        commandListHeading = "%nCommands:%n",
        subcommands = {GcStatusCommand.class, GcSetCommand.class, GcStopCommand.class},
        footer = {
            "",
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
final class GcCommand implements Callable<Integer> {
    private static final String DRY_RUN = "--dry-run";
    private static final String WAIT = "--wait";
    private static final String LEAVE = "--leave";
    private static final String RECOMPRESS = "--recompress";
    private static final String ARRANGE = "--arrange";

    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    VolumeClient parent;

    @Option(names = DRY_RUN, description = "Print what would be returned, and change nothing. Waits for the result.")
    boolean dryRun;

    @Option(names = WAIT, description = "Show the progress, and wait for the result.")
    boolean wait;

    @Option(
            names = LEAVE,
            paramLabel = "PERCENT",
            defaultValue = "3",
            description = "Share of the stored bytes that may stay garbage, in percent: the less, the more containers "
                    + "are written anew for it. Default: ${DEFAULT-VALUE}.")
    double leave;

    @Option(
            names = RECOMPRESS,
            paramLabel = "LEVEL",
            description = "Compress all containers harder afterwards, once: zstd:LEVEL (1 to 19), higher than that of "
                    + "writing; or off. zstd:9 stores up to a tenth less and needs a second of a core for about "
                    + "70MB. Default: what 'gc set --recompress' has set, for containers that existed when the "
                    + "collection before began.")
    @Nullable
    String recompress;

    @Option(
            names = ARRANGE,
            paramLabel = "PERCENT",
            description =
                    "Before the collection, move chunks that the newest files read with many seeks, with all their "
                            + "references: at most this share of the stored bytes, in percent; 0: none. "
                            + "Default: none, or 10 "
                            + "if 'gc status' says that it arranges.")
    @Nullable
    Double arrange;

    @Option(names = "--json", description = "Print JSON, and no progress; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        if (!(leave >= 0 && leave <= 100)) {
            throw usage("a share is from 0 to 100, in percent");
        }
        Map<String, Object> reply = cli().ask(GcControl.COMMAND, request());
        boolean started = Boolean.TRUE.equals(reply.get(GcControl.STARTED));
        boolean othersDryRun = !started && Boolean.TRUE.equals(reply.get("dryRun"));
        if ((!started && dryRun) || othersDryRun) {
            throw new CommandFailedException("a " + running(reply) + "; try again when it has ended");
        }
        if (!wait && !dryRun) {
            print(json, named(reply), started ? begun(reply) : "A " + running(reply) + ".\n" + howToWatch());
            return ExitCode.OK;
        }
        if (!started) {
            cli().environment()
                    .err()
                    .println("sdfscli: a " + running(reply) + "; waiting for its end. Ctrl-C ends only the waiting.");
        }
        var client = new JobClient(cli(), GcControl.COMMAND, GcText.kind(reply), !json(json));
        return report(started, client.follow(reply, started));
    }

    private Map<String, Object> request() {
        var request = new LinkedHashMap<String, Object>();
        request.put("action", GcControl.START);
        request.put("dryRun", dryRun ? 1 : 0);
        request.put("leaveParts", Math.round(leave / 100 * GcControl.PARTS));
        if (recompress != null) {
            request.put(GcControl.RECOMPRESS, checked(recompress));
        }
        if (arrange != null) {
            if (!(arrange >= 0 && arrange <= 100)) {
                throw usage("a share is from 0 to 100, in percent");
            }
            if (dryRun && arrange > 0) {
                throw usage(DRY_RUN + " does not say what " + ARRANGE + " would move");
            }
            request.put("arrangeParts", Math.round(arrange / 100 * GcControl.PARTS));
        }
        return request;
    }

    /** Returns a level in the way that the daemon gets it. */
    String checked(String level) {
        try {
            return RecompressLevel.parse(level).toString();
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private int report(boolean started, Map<String, Object> report) throws CommandFailedException {
        String state = String.valueOf(report.get("state"));
        if (state.equals("failed")) {
            throw new CommandFailedException("the " + GcText.kind(report) + " failed: " + report.get("error"));
        }
        boolean done = state.equals("done");
        if (!done && !json(json)) {
            throw new CommandFailedException("the " + GcText.kind(report)
                    + " was stopped; what it returned stays returned, and the same command continues it");
        }
        var result = new LinkedHashMap<String, Object>();
        result.put(GcControl.STARTED, started);
        result.putAll(report);
        print(json, named(result), dryRun ? GcText.dryRun(report) : GcText.result(report));
        return done ? ExitCode.OK : ExitCode.FAILED;
    }

    private static String running(Map<String, Object> reply) {
        return GcText.kind(reply) + " is running already, started by " + reply.get("cause") + " at "
                + reply.get("began");
    }

    private String begun(Map<String, Object> reply) {
        String paused = Boolean.TRUE.equals(reply.get("paused"))
                ? "Collections are PAUSED; sdfscli " + cli().name() + " gc set --paused=false continues them.\n"
                : "";
        return "A collection has begun; it runs in the daemon.\n" + paused + howToWatch();
    }

    private String howToWatch() {
        return "Watch it: sdfscli " + cli().name() + " gc status. Stop it: sdfscli " + cli().name() + " gc stop";
    }

    /** Returns a report with the volume's name, and without the number that only the daemon needs. */
    Map<String, Object> named(Map<String, Object> report) {
        var named = new LinkedHashMap<String, Object>();
        named.put("name", cli().name());
        named.putAll(report);
        named.remove("number");
        return named;
    }

    VolumeClient cli() {
        return Objects.requireNonNull(parent);
    }

    /** Returns whether JSON is wanted, by this command, the one above it, or the calling subcommand. */
    boolean json(boolean asked) {
        return asked || json || cli().json;
    }

    /**
     * Asks the daemon for a subcommand, which has no use for the options of this command.
     *
     * @throws CommandFailedException if the volume is not mounted
     */
    Map<String, Object> ask(String action, Map<String, ?> arguments) throws IOException, CommandFailedException {
        var parsed = Objects.requireNonNull(spec).commandLine().getParseResult();
        for (String option : List.of(DRY_RUN, WAIT, LEAVE, ARRANGE, RECOMPRESS)) {
            if (parsed.hasMatchedOption(option)) {
                throw usage(option + " is an option of 'gc' without a command");
            }
        }
        var request = new LinkedHashMap<String, Object>(arguments);
        request.put("action", action);
        return cli().ask(GcControl.COMMAND, request);
    }

    /** Prints a reply as JSON, or as the given text. */
    void print(boolean asked, Map<String, Object> reply, String words) {
        cli().environment().out().println(json(asked) ? Json.pretty(reply) : words);
    }

    private ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
}
