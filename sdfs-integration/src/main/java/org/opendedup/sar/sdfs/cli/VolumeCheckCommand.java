package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.CheckControl;
import org.opendedup.sar.sdfs.cli.report.CheckText;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME check}: checks the mounted volume. */
@Command(
        name = "check",
        description = {
            "Checks the metadata of the mounted volume, and that its containers are there.",
            "",
            "Compares all names, inodes, recipes and counts with each other, the container table with the packs, and",
            "every reference with the directory of its container. Compares all entries of the fingerprint index and of",
            "the SSD's Map table with the containers. Changes nothing. Reads no file's bytes: 'sdfscli VOLUME scrub'",
            "does that.",
            "",
            "For each finding it prints how bad it is, what it is, the damaged files with their byte ranges, and the",
            "command that mends it. NOTE is no defect, DEFECT costs no byte of a file, LOSS does."
        },
        footer = {
            "It checks the volume as it is when the check begins. Files may be read and written meanwhile; collections",
            "of garbage wait. It needs room in the metadata location: about 40 bytes for each reference of a file to a",
            "chunk, and for each entry of the index. Interrupting the command stops the check and is safe.",
            "Exit codes:  0 no defect, 1 could not be checked, 2 something is not as it should be, 64 wrong usage",
            "",
            "Examples:",
            "  sdfscli pool0 check             # what is wrong, and what to do",
            "  sdfscli pool0 check --json      # for programs; the keys are those of 'sdfs-check --json'"
        })
final class VolumeCheckCommand extends VolumeCommand {
    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        VolumeClient cli = cli();
        Map<String, Object> job = new JobClient(cli, CheckControl.COMMAND, !cli.json).run(Map.of());
        String state = String.valueOf(job.get("state"));
        if (!state.equals("done")) {
            throw new CommandFailedException(
                    state.equals("failed") ? String.valueOf(job.get("error")) : "the check was stopped");
        }
        var report = Json.record(Json.object(job, "report"), CheckText.Report.class);
        print(named(Json.values(report)), CheckText.of(cli.name(), report).stripTrailing());
        return report.sound() ? ExitCode.OK : ExitCode.DAMAGED;
    }
}
