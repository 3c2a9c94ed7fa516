package org.opendedup.sar.sdfs.cli;

/** The daemon's process with a {@link FakeMountService}. */
final class FakeDaemon {
    private FakeDaemon() {}

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        System.exit(CommandRunner.run(new DaemonCommand(environment, new FakeMountService()), environment, arguments));
    }
}
