package org.opendedup.sar.sdfs.cli;

import java.util.Arrays;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.volume.Volume;

/** The program {@code mkfs.sdfs}: one option makes it another command. */
public final class MkfsProgram {
    private MkfsProgram() {}

    public static void main(String[] arguments) {
        Libc.makeForOwnerOnly();
        System.exit(run(Environment.ofProcess(), arguments));
    }

    /** Runs the command that these arguments mean, and returns its exit code. */
    public static int run(Environment environment, String... arguments) {
        return CommandRunner.run(command(environment, arguments), environment, arguments);
    }

    /** Returns the command that these arguments mean. */
    public static Object command(Environment environment, String... arguments) {
        return Arrays.asList(arguments).contains(RecoverCommand.OPTION)
                ? new RecoverCommand(environment)
                : new MkfsCommand(environment, Volume::create);
    }
}
