package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.DefinitionReport;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.VolumeStates;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME info}: the volume's settings, and whether it is mounted. Needs no daemon. */
@Command(name = "info", description = "Shows the volume's settings, its folders, and whether it is mounted.")
final class InfoCommand extends VolumeCommand {
    @Override
    public Integer call() throws IOException {
        VolumeClient cli = cli();
        Map<String, Object> info = cli.ask(VolumeCommands.INFO).orElse(null);
        if (info == null) {
            info = DefinitionReport.of(cli.volumeFile(), cli.runFiles());
            info.putAll(VolumeStates.NOT_MOUNTED);
        }
        print(info, DefinitionReport.table(info).stripTrailing());
        return ExitCode.OK;
    }
}
