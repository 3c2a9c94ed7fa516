package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.HealControl;
import org.opendedup.sar.sdfs.cli.report.HealText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME heal}: heals damaged chunks from copies. */
@Command(
        name = "heal",
        description = {
            "Heals damaged chunks from copies, wherever their right bytes are found.",
            "",
            "Looks in the readable rest of their frame, on the SSD, and for another stored copy of the same content.",
            "",
            "Every file that refers to a healed chunk is whole again, at once. Nothing is deleted; a chunk without a",
            "copy stays damaged. What a missing pack had is healed, too. The volume also heals by itself, some seconds",
            "after damage was found and after damaged content was written again.",
            ""
        },
        customSynopsis = {"sdfscli VOLUME heal [--wait] [--json]", "       sdfscli VOLUME heal status|stop [--json]", ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        commandListHeading = "%nCommands:%n",
        subcommands = {HealStatusCommand.class, HealStopCommand.class},
        footer = {
            "",
            "Without --wait, the command returns when the pass has begun; it goes on in the daemon. One pass that was",
            "asked for runs at a time. If one is running already, --wait waits for its end, and Ctrl-C then ends only",
            "the waiting. Ctrl-C stops a pass that the command started itself; what is healed stays healed. A pass",
            "waits for the end of a running garbage collection, and of restores to other file systems.",
            "",
            "Exit codes:  0 no chunk is marked as damaged, or without --wait: begun. A missing pack",
            "               marks no chunk: 'damaged' lists its files",
            "             1 failed or was stopped, or some chunks stay damaged",
            "             64 wrong usage",
            "",
            "Examples:",
            "  sdfscli pool0 heal --wait      # progress, time left, what was healed, what was not and why",
            "  sdfscli pool0 heal --wait --json | jq .unhealed",
            "  sdfscli pool0 heal status      # the pass that is running, or the last one of this mount"
        })
final class HealCommand implements Callable<Integer> {
    private static final String WAIT = "--wait";

    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    VolumeClient parent;

    @Option(names = WAIT, description = "Show the progress, and wait for the result.")
    boolean wait;

    @Option(names = "--json", description = "Print JSON, and no progress; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        Map<String, Object> reply = cli().ask(HealControl.COMMAND, Map.of("action", HealControl.START));
        boolean started = Boolean.TRUE.equals(reply.get(HealControl.STARTED));
        String begun = started
                ? "A pass has begun; it runs in the daemon."
                : "A pass is running already, started by " + reply.get("cause") + " at " + reply.get("began") + ".";
        if (!wait) {
            String name = cli().name();
            print(
                    false,
                    reply,
                    begun + "\nWatch it, and see its result: sdfscli " + name + " heal status. Stop it: sdfscli " + name
                            + " heal stop");
            return ExitCode.OK;
        }
        if (!started) {
            cli().environment().err().println("sdfscli: " + begun + " Ctrl-C ends only the waiting.");
        }
        var client = new JobClient(cli(), HealControl.COMMAND, !json(false));
        return report(client.follow(reply, started));
    }

    private int report(Map<String, Object> report) throws CommandFailedException {
        String state = String.valueOf(report.get("state"));
        if (state.equals("failed")) {
            throw new CommandFailedException("the healing failed: " + report.get("error"));
        }
        boolean done = state.equals("done");
        print(
                false,
                report,
                (done ? "" : "The healing was stopped; the same command continues it.\n") + HealText.result(report));
        return done && Json.number(report, HealText.UNHEALED_CHUNKS) == 0 ? ExitCode.OK : ExitCode.FAILED;
    }

    VolumeClient cli() {
        return Objects.requireNonNull(parent);
    }

    private boolean json(boolean asked) {
        return asked || json || cli().json;
    }

    /**
     * Asks the daemon for a subcommand, which has no use for the options of this command.
     *
     * @throws CommandFailedException if the volume is not mounted
     */
    Map<String, Object> ask(String action) throws IOException, CommandFailedException {
        if (wait) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), WAIT + " is an option of 'heal' without a command");
        }
        return cli().ask(HealControl.COMMAND, Map.of("action", action));
    }

    /** Prints a reply with the volume's name as JSON, or a text. */
    void print(boolean asked, Map<String, Object> reply, String text) {
        var named = new LinkedHashMap<String, Object>();
        named.put("name", cli().name());
        named.putAll(reply);
        cli().environment().out().println(json(asked) ? Json.pretty(named) : text);
    }
}
