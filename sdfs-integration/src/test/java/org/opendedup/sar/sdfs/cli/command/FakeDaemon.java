package org.opendedup.sar.sdfs.cli.command;

import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.daemon.DaemonCommand;

/** The daemon's process with a {@link FakeMountService}. */
public final class FakeDaemon {
    private FakeDaemon() {}

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        System.exit(CommandRunner.run(new DaemonCommand(environment, new FakeMountService()), environment, arguments));
    }
}
