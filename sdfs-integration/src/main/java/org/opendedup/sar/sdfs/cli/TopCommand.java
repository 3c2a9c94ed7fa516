package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.ReadersReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME top}: the current sequential readers, and where their bytes are read from. */
@Command(
        name = "top",
        description = "Shows the sequential readers of a mounted volume, until interrupted.",
        footer = {
            "disk        figures by which reads are planned (skip: time to the next range of a container; seek: time",
            "            to another container), and whether they are configured, assumed or measured. A gap between",
            "            wanted ranges is read if that takes less time than a skip",
            "inode       inode number of the file; find MOUNTPOINT -inum N prints its name",
            "at, of      offset that the reader has reached, and its share of the file",
            "containers  containers read for the reader; a container that is read again counts again",
            "from disk   compressed bytes read from the disk since the reader began; amp: these bytes for each byte",
            "            that the reader requested. Compression, zeros and repeated chunks make it smaller than 1",
            "SSD, mem    shares of the requested bytes that were read from the SSD, and that were in memory already",
            "held        chunks in memory for the reader",
            "",
            "Examples:",
            "  sdfscli pool0 top",
            "  sdfscli pool0 top --json | jq '.readers[].mbPerSecond'"
        })
final class TopCommand extends VolumeCommand {
    private static final long MILLIS = 1000;

    private static final int SECONDS_MAX = 3600;

    @Option(names = "--once", description = "Print the table once and end. --json does so too.")
    boolean once;

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "Interval between two tables in seconds, 1 to 3600. Default: ${DEFAULT-VALUE}.")
    int seconds = 1;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        if (seconds < 1 || seconds > SECONDS_MAX) {
            throw usage("the interval is " + seconds + " s; it must be from 1 to " + SECONDS_MAX);
        }
        VolumeClient cli = cli();
        if (cli.json) {
            cli.environment().out().println(Json.pretty(cli.ask(FileControl.TOP, Map.of())));
            return ExitCode.OK;
        }
        while (true) {
            cli.environment()
                    .out()
                    .print(Json.record(cli.ask(FileControl.TOP, Map.of()), ReadersReport.class)
                            .text());
            cli.environment().out().flush();
            if (once) {
                return ExitCode.OK;
            }
            if (cli.environment().out().checkError()) {
                // The reader of the output has ended.
                return ExitCode.FAILED;
            }
            Thread.sleep(seconds * MILLIS);
        }
    }
}
