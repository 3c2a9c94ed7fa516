package org.opendedup.sar.sdfs.cli.command;

import java.util.Map;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;

/** The daemon's process with a {@link FakeMountService}. */
public final class FakeDaemon {
    private FakeDaemon() {}

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        var command = new DaemonCommand(environment, new FakeMountService(), Map.of());
        System.exit(CommandRunner.run(command, environment, arguments));
    }
}
