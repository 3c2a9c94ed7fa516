package org.opendedup.sar.sdfs.cli;

import java.util.Map;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;

/**
 * The process that serves a volume: the daemon, and the commands that it runs for clients.
 * {@code scripts/umount-helper} finds it by the name of this class.
 */
public final class DaemonProgram {
    private DaemonProgram() {}

    public static void main(String[] arguments) {
        Libc.makeForOwnerOnly();
        Environment environment = Environment.ofProcess();
        var command = new DaemonCommand(
                environment, new FuseMountService(), Map.of(ServedCommands.COMMAND, new ServedCommands()::answer));
        System.exit(CommandRunner.run(command, environment, arguments));
    }
}
