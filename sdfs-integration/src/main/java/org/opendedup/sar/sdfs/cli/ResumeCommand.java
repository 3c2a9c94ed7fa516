package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import picocli.CommandLine.Command;

/**
 * {@code sdfscli VOLUME resume}: accepts changes again after a disk refused writes, as {@code mount -o remount,rw}
 * does.
 */
@Command(name = "resume", description = "Accepts changes again after a failed disk works again.")
final class ResumeCommand extends VolumeCommand {
    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = cli();
        Map<String, Object> answer = cli.ask(VolumeCommands.RESUME, Map.of());
        boolean resumed = Boolean.TRUE.equals(answer.get(VolumeCommands.RESUMED));
        print(
                named(Map.of(VolumeCommands.RESUMED, resumed)),
                cli.name()
                        + (resumed
                                ? " accepts changes again; everything accepted before is durable."
                                : " accepts changes; no write had failed."));
        return ExitCode.OK;
    }
}
