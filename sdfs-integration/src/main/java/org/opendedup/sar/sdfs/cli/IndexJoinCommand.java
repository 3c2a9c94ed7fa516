package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.report.JoinText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME index join}: joins what is stored more than once. */
@Command(
        name = "join",
        description = {
            "Joins chunks that are stored more than once, because the index did not find them.",
            "",
            "Compares the fingerprints of all stored chunks, and makes all files refer to the youngest copy of each,",
            "after it was read and verified. Programs may read and write. The other copies are garbage then, which",
            "'gc' returns. No collection runs meanwhile; the pass ends early if a writer waits for one.",
            ""
        },
        customSynopsis = "sdfscli VOLUME index join [--wait] [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Without --wait, the command returns at once; 'index status' shows the progress, 'index stop' ends the",
            "pass. Ctrl-C ends only the waiting. What is joined stays joined, and the next pass does the rest. Sorting",
            "takes 48 bytes a chunk in the metadata location. The rate of 'gc set' holds.",
            "",
            "Exit codes:  0 done, or without --wait: begun",
            "             1 failed, was stopped or ended early",
            "             64 wrong usage",
            "",
            "Example:",
            "  sdfscli pool0 index join --wait && sdfscli pool0 gc --wait"
        })
final class IndexJoinCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    IndexCommand parent;

    @Option(names = "--wait", description = "Show the progress, and wait for the end.")
    boolean wait;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        IndexCommand index = Objects.requireNonNull(parent);
        Map<String, Object> report = index.ask(IndexControl.JOIN, Map.of());
        if (!wait) {
            index.print(json, report);
            return ExitCode.OK;
        }
        report = index.follow(report, new Phases()::line);
        Map<String, Object> pass = Json.object(report, JoinText.JOIN);
        if (pass.containsKey(JoinText.ERROR)) {
            throw new CommandFailedException("the exact pass failed: " + pass.get(JoinText.ERROR));
        }
        index.print(json, report);
        return Boolean.TRUE.equals(pass.get("complete")) ? ExitCode.OK : ExitCode.FAILED;
    }

    /** Shows each phase from its own begin on. */
    private static final class Phases {
        private String phase = "";
        private long began;

        @Nullable
        String line(Map<String, Object> report) {
            Map<String, Object> pass = Json.object(report, JoinText.JOIN);
            if (!"running".equals(pass.get(JoinText.STATE))) {
                return null;
            }
            String now = String.valueOf(pass.get("phase"));
            began = now.equals(phase) ? began : System.nanoTime();
            phase = now;
            String unit = phase.equals("comparing") ? "containers" : "bytes of files";
            return SarWait.bar(Json.number(pass, "done"), Json.number(pass, "of"), System.nanoTime() - began, unit);
        }
    }
}
