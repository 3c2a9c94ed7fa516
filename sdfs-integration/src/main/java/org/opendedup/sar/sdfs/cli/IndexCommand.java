package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import org.opendedup.sar.sdfs.cli.control.JoinControl;
import org.opendedup.sar.sdfs.cli.report.IndexReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME index}: shows the fingerprint index, changes its class, and joins what it missed. */
@Command(
        name = "index",
        description = {
            "Shows the fingerprint index, changes its class, and joins what it did not find.",
            "",
            "The index finds stored copies of what is written. It can be rebuilt from the containers at any time.",
            "docs/INDEXES.md says which class suits which hardware."
        },
        footer = {
            "Examples:",
            "  sdfscli pool0 index status",
            "  sdfscli pool0 index convert chunkstash    # from the next mount on",
            "  sdfscli pool0 index join --wait"
        })
final class IndexCommand extends CommandGroup {
    IndexCommand() {
        super(IndexControl.COMMAND);
    }

    /** Prints a report with the volume's name, as JSON or as text. */
    private void show(IndexReport report) {
        print(named(Json.values(report)), report.text());
    }

    private IndexReport index(String action, Map<String, ?> arguments) throws IOException, CommandFailedException {
        return Json.record(ask(action, arguments), IndexReport.class);
    }

    @Command(
            description = {
                "Shows class and state of the fingerprint index, and what it missed.",
                "",
                "Also the progress of an exact pass, and how much is estimated to be stored more than once. Of a",
                "chunkstash index the bytes of its log and of the disk index behind it, and how often lookups asked",
                "the latter."
            },
            footer = {"Example:", "  sdfscli pool0 index status --json"})
    void status() throws IOException, CommandFailedException {
        show(index(IndexControl.STATUS, Map.of()));
    }

    @Command(
            description = {
                "Changes the class of the fingerprint index, from the next mount on.",
                "",
                "The next mount deletes the index and makes one of the other class from the containers, while programs",
                "read and write. What is written before the end, and is stored in a container that was not read yet,",
                "may be stored a second time: 'index join' then joins it. The other index may need another budget of",
                "memory."
            },
            footer = {
                "The class in use again ends that. 'index status' shows the progress of the next mount.",
                "",
                "Example:",
                "  sdfscli pool0 index convert chunkstash"
            })
    void convert(
            @Parameters(paramLabel = "CLASS", description = "The new class: rocksdb, chunkstash or silo.") String kind)
            throws IOException, CommandFailedException {
        if (IndexClass.of(kind).isEmpty()) {
            throw usage(
                    IndexControl.CONVERT,
                    "the index '" + kind + "' is not known; this release has " + IndexClass.labels());
        }
        show(index(IndexControl.CONVERT, Map.of(IndexControl.CLASS, kind)));
    }

    @Command(
            description = {
                "Joins chunks that are stored more than once, because the index did not find them.",
                "",
                "Compares the fingerprints of all stored chunks, and makes all files refer to the youngest copy of",
                "each, after it was read and verified. Programs may read and write. The other copies are garbage",
                "then, which 'gc' returns. No collection runs meanwhile; the pass ends early if a",
                "writer waits for one."
            },
            footer = {
                "Without --wait, the command returns at once; 'index status' shows the progress, 'index stop' ends the",
                "pass. Ctrl-C ends only the waiting. What is joined stays joined, and the next pass does the rest.",
                "Sorting takes 48 bytes a chunk in the metadata location. The rate of 'gc set' holds.",
                "",
                "Exit codes:  0 done, or without --wait: begun",
                "             1 failed, was stopped or ended early",
                "             64 wrong usage",
                "",
                "Example:",
                "  sdfscli pool0 index join --wait && sdfscli pool0 gc --wait"
            })
    int join(@Option(names = "--wait", description = "Show the progress, and wait for the end.") boolean wait)
            throws IOException, CommandFailedException, InterruptedException {
        Map<String, Object> pass = cli().ask(JoinControl.COMMAND, request(JobControl.START, Map.of()));
        if (!JobCommand.isStarted(pass)) {
            throw new CommandFailedException("an exact pass is running already");
        }
        if (wait) {
            pass = new JobClient(cli(), JoinControl.COMMAND, "exact pass", !cli().json).follow(pass, false);
            if ("failed".equals(pass.get("state"))) {
                throw new CommandFailedException("the exact pass failed: " + pass.get("error"));
            }
        }
        show(index(IndexControl.STATUS, Map.of()));
        return !wait || Boolean.TRUE.equals(pass.get("complete")) ? ExitCode.OK : ExitCode.FAILED;
    }

    @Command(
            description = "Stops the exact pass that 'index join' began. What is joined stays joined.",
            footer = {"Example:", "  sdfscli pool0 index stop"})
    void stop() throws IOException, CommandFailedException {
        var unused = cli().ask(JoinControl.COMMAND, request(JobControl.STOP, Map.of()));
        show(index(IndexControl.STATUS, Map.of()));
    }
}
