package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.HealControl;
import org.opendedup.sar.sdfs.cli.report.HealText;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
            "after damage was found and after damaged content was written again."
        },
        customSynopsis = {"sdfscli VOLUME heal [--wait] [--json]", "       sdfscli VOLUME heal status|stop [--json]"},
        footer = {
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
final class HealCommand extends JobCommand {
    @Option(names = "--wait", description = "Show the progress, and wait for the result.")
    boolean wait;

    HealCommand() {
        super(HealControl.COMMAND);
    }

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        Optional<Map<String, Object>> ended = start("pass", Map.of(), wait);
        return ended.isPresent() ? report(ended.get()) : ExitCode.OK;
    }

    /** Has the number: heals have shown it from the beginning. */
    @Override
    Map<String, Object> named(Map<String, ?> report) {
        Map<String, Object> named = super.named(report);
        named.put("number", report.get("number"));
        return named;
    }

    private int report(Map<String, Object> report) {
        print(
                named(report),
                (isDone(report) ? "" : "The healing was stopped; the same command continues it.\n")
                        + HealText.result(report));
        return isDone(report) && HealText.isWhole(report) ? ExitCode.OK : ExitCode.FAILED;
    }

    @Command(
            description = {
                "Shows the running pass, or the last one.",
                "",
                "Prints the progress of the running one, or the result of the last one that was asked for in this",
                "mount, and how many chunks are damaged."
            },
            footer = {"Example:", "  sdfscli pool0 heal status"})
    void status() throws IOException, CommandFailedException {
        Map<String, Object> report = askFor(HealControl.STATUS, Map.of());
        print(named(report), text(report));
    }

    private static String text(Map<String, Object> report) {
        if (Boolean.TRUE.equals(report.get("running"))) {
            return "A pass is running, started by " + report.get("cause") + " at " + report.get("began") + ": "
                    + JobClient.line(report).strip();
        }
        if (Json.number(report, "number") == 0) {
            return "No pass was asked for since the volume was mounted; "
                    + Json.number(report, HealText.UNHEALED_CHUNKS) + " chunks are damaged.";
        }
        Object error = report.get("error");
        return "The last pass, started by " + report.get("cause") + " at " + report.get("began") + ": "
                + report.get("state") + (error == null ? "" : ": " + error) + "\n" + HealText.result(report);
    }

    @Command(
            description = {
                "Stops the running pass after the container at hand. What is healed stays healed.",
                "",
                "The volume goes on to heal by itself."
            },
            footer = {"Example:", "  sdfscli pool0 heal stop"})
    void stop() throws IOException, CommandFailedException {
        print(named(askFor(HealControl.STOP, Map.of())), "The pass is being stopped; what is healed stays healed.");
    }
}
