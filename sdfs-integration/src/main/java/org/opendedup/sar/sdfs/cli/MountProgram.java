package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.Spellings;
import org.opendedup.sar.sdfs.cli.daemon.DaemonStart;
import org.opendedup.sar.sdfs.cli.daemon.MountArguments;
import org.opendedup.sar.sdfs.cli.daemon.MountService;
import org.opendedup.sar.sdfs.cli.upstream.MountSpellings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What the two programs that mount a volume share: their arguments, and the start of the daemon. */
@Command(
        name = "mount.sdfs",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false)
abstract class MountProgram implements Callable<Integer>, Spellings, CommandRunner.Lasting {
    final Environment environment;
    final MountService service;
    private final Class<?> daemonClass;
    private final DaemonStart.Launcher launcher;

    @Mixin
    MountArguments arguments = new MountArguments();

    /** @param daemonClass class whose {@code main} is the daemon */
    MountProgram(Environment environment, MountService service, Class<?> daemonClass, DaemonStart.Launcher launcher) {
        this.environment = environment;
        this.service = service;
        this.daemonClass = daemonClass;
        this.launcher = launcher;
    }

    @Override
    public final List<String> translated(List<String> words, Consumer<String> notes) {
        return MountSpellings.translated(words, notes);
    }

    /**
     * Checks the arguments and the mount point.
     *
     * @return the start that is now possible
     * @throws CommandFailedException if the volume cannot be mounted; the message has the reason
     */
    final DaemonStart prepared() throws IOException, InterruptedException, CommandFailedException {
        var start = new DaemonStart(environment, service, daemonClass, launcher, arguments);
        start.prepare();
        return start;
    }
}
