package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.HelpFaults;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import picocli.CommandLine;

/** Checks the help of every command. */
class HelpTest {
    @Test
    void noDescriptionIsCutAndEveryTextIsFormatted() {
        var environment = new Environment(Map.of(), nowhere(), nowhere());
        for (Object command : List.of(
                new SdfsCli(environment),
                new MkfsCommand(environment, config -> {}),
                new RecoverCommand(environment),
                new CheckCommand(environment),
                new MountCommand(environment, new FuseMountService(), DaemonCommand.class, DaemonProcess::start),
                new MountHelper(environment, new FuseMountService(), DaemonCommand.class))) {
            assertEquals(List.of(), HelpFaults.of(new CommandLine(command)));
        }
    }

    private static PrintWriter nowhere() {
        return new PrintWriter(new StringWriter());
    }
}
