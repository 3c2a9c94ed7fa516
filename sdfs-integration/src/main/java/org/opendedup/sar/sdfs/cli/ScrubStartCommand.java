package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import org.opendedup.sar.sdfs.cli.report.ScrubReport;
import org.opendedup.sar.sdfs.cli.report.ScrubText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME scrub start}: starts a scrub, or continues a stopped one. */
@Command(
        name = "start",
        description = {
            "Starts a scrub, or continues the one that was stopped; says which.",
            "",
            "It runs in the daemon while the volume is in use. Without --wait, the command returns when the scrub has",
            "begun.",
            ""
        },
        customSynopsis = "sdfscli VOLUME scrub start [--wait] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "One scrub runs at a time. If one is running already, the command says so; --wait waits for its end, and",
            "Ctrl-C then ends only the waiting. Ctrl-C stops a scrub that the command started itself; the same",
            "command continues it.",
            "",
            "Exit codes:  0 nothing found, or without --wait: begun",
            "             1 failed or stopped, 2 damage found",
            "             64 wrong usage",
            "",
            "Example:",
            "  sdfscli pool0 scrub start --wait"
        })
final class ScrubStartCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    ScrubCommand parent;

    @Option(names = "--wait", description = "Show the progress, and wait for the result.")
    boolean wait;

    @Option(names = "--json", description = "Print JSON, and no progress; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        ScrubCommand scrub = Objects.requireNonNull(parent);
        Map<String, Object> reply = scrub.ask(ScrubControl.START, Map.of());
        boolean started = Boolean.TRUE.equals(reply.get(ScrubControl.STARTED));
        String begun = started
                ? begun(reply)
                : "A scrub is running already, started by " + reply.get("cause") + " at " + reply.get("began") + ".";
        if (!wait) {
            String name = scrub.cli().name();
            scrub.print(
                    json,
                    scrub.named(reply),
                    begun + paused(name, reply) + "\nWatch it: sdfscli " + name + " scrub status. Stop it: sdfscli "
                            + name + " scrub stop");
            return ExitCode.OK;
        }
        if (!started) {
            scrub.cli().environment().err().println("sdfscli: " + begun + " Ctrl-C ends only the waiting.");
        } else if (Boolean.TRUE.equals(reply.get("continued")) && !scrub.json(json)) {
            scrub.cli().environment().err().println("sdfscli: " + begun);
        }
        var client = new JobClient(scrub.cli(), ScrubControl.COMMAND, !scrub.json(json));
        return report(scrub, started, client.follow(reply, started));
    }

    private static String begun(Map<String, Object> reply) {
        return Boolean.TRUE.equals(reply.get("continued"))
                ? "The scrub that was stopped goes on; " + ByteSize.rounded(Json.number(reply, "bytesResumed"))
                        + " are verified already."
                : "A scrub has begun; it runs in the daemon.";
    }

    private static String paused(String name, Map<String, Object> reply) {
        return Boolean.TRUE.equals(reply.get("paused"))
                ? "\nScrubs are PAUSED; sdfscli " + name + " scrub set --paused=false continues them."
                : "";
    }

    private int report(ScrubCommand scrub, boolean started, Map<String, Object> report)
            throws IOException, CommandFailedException {
        String state = String.valueOf(report.get("state"));
        if (state.equals("failed")) {
            throw new CommandFailedException("the scrub failed: " + report.get("error"));
        }
        boolean done = state.equals("done");
        if (!done && !scrub.json(json)) {
            throw new CommandFailedException("the scrub was stopped; the same command continues it");
        }
        var result = new LinkedHashMap<String, Object>();
        result.put(ScrubControl.STARTED, started);
        result.putAll(report);
        boolean clean = Boolean.TRUE.equals(report.get(ScrubReport.CLEAN));
        scrub.print(
                json,
                scrub.named(result),
                (clean ? "" : "DAMAGE FOUND. ")
                        + ScrubText.result(report)
                        + ScrubText.advice(scrub.cli().name(), !scrub.cli().isOfPlugin(), report));
        if (!done) {
            return ExitCode.FAILED;
        }
        return clean ? ExitCode.OK : ExitCode.DAMAGED;
    }
}
