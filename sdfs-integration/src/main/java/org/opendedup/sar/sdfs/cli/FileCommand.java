package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.report.FragmentationReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code sdfscli VOLUME file}: how fragmented a file is. */
@Command(
        name = "file",
        description = {
            "Shows how fragmented a file is, and how fast it can be read.",
            "",
            "Prints how the chunks of the file are spread over containers, and how fast a hard disk can read them.",
            "Reads the file's recipe, not its data. Data that was just written to the file is stored first."
        },
        footer = {
            "containers wanted  number of containers that hold chunks of the file",
            "mean use           share of a container's data that the file refers "
                    + "to, on average. A container used below",
            "                   50 %% is sparse: the disk seeks to it for little data",
            "container reads    number of container reads when the file is read in sequence, beginning with an empty",
            "                   restore cache of the volume's policy and size",
            "speed factor       MiB of the file for each container read. About 4 or more is good, below 1 is slow",
            "predicted restore  calculated for a 7200 rpm disk (13.1 ms a request, 150 MB/s), not measured. Chunks on",
            "                   the SSD count as read from the disk",
            "",
            "To make a file with a low mean use faster to read: sdfscli VOLUME defrag FILE.",
            "",
            "Examples:",
            "  sdfscli pool0 file /mnt/pool0/backup-05.tar",
            "  sdfscli pool0 file backup-05.tar --json | jq .speedFactor     # from the volume's root"
        })
final class FileCommand extends VolumeCommand {
    @Parameters(paramLabel = "FILE", description = VolumeClient.PATH_IN_VOLUME)
    Path file = Path.of("");

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = cli();
        String path = cli.pathInVolume(file);
        Map<String, Object> report = cli.ask(FileControl.FILE, Map.of("path", path));
        var result = new LinkedHashMap<String, Object>();
        result.put("path", path);
        result.putAll(report);
        print(
                result,
                Printable.line(path) + ":" + System.lineSeparator()
                        + Json.record(report, FragmentationReport.class).text());
        return ExitCode.OK;
    }
}
