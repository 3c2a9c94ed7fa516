package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME sar}: the SSD of a volume. {@link SarControl} answers its requests in the daemon. */
@Command(
        name = "sar",
        description = "Shows and controls the SSD of a volume.",
        customSynopsis = "sdfscli VOLUME sar COMMAND [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        commandListHeading = "%nCommands:%n",
        subcommands = {
            SarStatusCommand.class,
            SarSetCommand.class,
            SarExplainCommand.class,
            SarDemoteCommand.class,
            SarResizeCommand.class,
            SarDetachCommand.class,
            SarAttachCommand.class
        },
        footer = {
            "",
            "To give a volume an SSD, make the volume with mkfs.sdfs --sar-ssd-location=FOLDER",
            "--sar-ssd-capacity=SIZE. Or, while it is not mounted, run sdfscli VOLUME sar attach FOLDER",
            "--capacity=SIZE, mount it, and run sar attach. The SSD holds only copies of chunks: losing it costs",
            "speed and no data."
        })
final class SarCommand extends CommandGroup {
    SarCommand() {
        super(SarControl.COMMAND);
    }

    /**
     * Asks the daemon; empty if the volume is not mounted, and has a volume file that can be changed instead.
     *
     * @throws CommandFailedException if the volume is not mounted, and its file is that of another program
     */
    Optional<Map<String, Object>> tryAsk(String action, Map<String, ?> arguments)
            throws IOException, CommandFailedException {
        return cli().isOfPlugin()
                ? Optional.of(ask(action, arguments))
                : cli().tryAsk(SarControl.COMMAND, request(action, arguments));
    }
}
