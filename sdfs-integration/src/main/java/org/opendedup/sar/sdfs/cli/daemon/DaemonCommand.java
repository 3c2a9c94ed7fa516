package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.CharBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.sdfs.log.RepeatsAppender;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The process that mount.sdfs starts in the background. If it cannot serve the volume, it writes the reason to its
 * error stream, where mount.sdfs reads it.
 */
@Command(name = "mount.sdfs", description = "The daemon of one mounted volume; started by mount.sdfs.")
public final class DaemonCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(DaemonCommand.class);

    /**
     * Time limit for closing. Dirty data fits in the memory budget; a disk that needs minutes to write it is broken.
     */
    private static final Duration STOP_LIMIT = Duration.ofMinutes(5);

    private final Environment environment;
    private final MountService service;
    private final Map<String, Handler> commands;
    private final Consumer<VolumeDaemon> ender;
    /** Gets the lock file of the volume's metadata when it is not at its path any more. */
    private final Consumer<Path> lockGone;

    @Mixin
    MountArguments arguments = new MountArguments();

    /**
     * Makes the command of a process: it ends in order after SIGTERM and SIGINT.
     *
     * @param commands as of {@link VolumeDaemon}
     */
    public DaemonCommand(Environment environment, MountService service, Map<String, Handler> commands) {
        this(
                environment,
                service,
                commands,
                daemon -> Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(daemon), "sdfs-stop")),
                LockWatch::halt);
    }

    /**
     * Makes the command of a daemon that is not alone in its process.
     *
     * @param ender gets the daemon before it serves the volume, to end it later
     */
    public DaemonCommand(
            Environment environment,
            MountService service,
            Map<String, Handler> commands,
            Consumer<VolumeDaemon> ender) {
        this(environment, service, commands, ender, lock -> {});
    }

    private DaemonCommand(
            Environment environment,
            MountService service,
            Map<String, Handler> commands,
            Consumer<VolumeDaemon> ender,
            Consumer<Path> lockGone) {
        this.environment = environment;
        this.service = service;
        this.commands = commands;
        this.ender = ender;
        this.lockGone = lockGone;
    }

    @Override
    public Integer call() throws Exception {
        VolumeDefinition definition = arguments.definition(environment);
        var daemon = new VolumeDaemon(
                environment.configDirectory().fileOf(arguments.volume),
                environment.runFiles(definition),
                // As the starter has resolved and checked it: another user may have put a link there since.
                arguments.mountPoint.toAbsolutePath(),
                arguments.mountOptions(service),
                service,
                keys(definition),
                ServiceManager.in(environment.variables()),
                commands);
        ender.accept(daemon);
        Path lock = KeyValueStores.lockOf(definition.config().locations().metadata());
        try (LockWatch watch = new LockWatch(lock, lockGone)) {
            daemon.serve(watch::start);
        } catch (IOException | CommandFailedException | RuntimeException e) {
            LOG.error("volume {}", arguments.volume, e);
            throw e;
        } finally {
            RepeatsAppender.tellAll();
        }
        return ExitCode.OK;
    }

    /**
     * Returns the keys of an encrypted volume, for which mount.sdfs has sent the master key over the standard input;
     * null if the volume is not encrypted.
     */
    private @Nullable VolumeKeys keys(VolumeDefinition definition) throws IOException {
        VolumeKeyHeader header = VolumeKeyHeader.of(definition);
        if (header == null) {
            return null;
        }
        char[] digits = new char[2 * VolumeKeys.KEY_BYTES];
        int count = 0;
        for (int read = 0; read >= 0 && count < digits.length; count += Math.max(0, read)) {
            read = environment.in().read(digits, count, digits.length - count);
        }
        if (count < digits.length) {
            throw new KeyException(KeyException.Reason.WRONG_SECRET, "mount.sdfs has not sent the master key");
        }
        byte[] master = HexFormat.of().parseHex(CharBuffer.wrap(digits));
        Arrays.fill(digits, ' ');
        try {
            return header.read().authentic(master).keys(master);
        } finally {
            Arrays.fill(master, (byte) 0);
        }
    }

    /**
     * After SIGTERM or SIGINT: unmounts and lets the main thread close the volume. A JVM that a signal ends exits with
     * 128 plus the signal's number. A volume that was closed in order is a success, so this halts with the right exit
     * code.
     */
    private static void stop(VolumeDaemon daemon) {
        if (daemon.hasEnded()) {
            return;
        }
        LOG.info("asked to end; unmounting");
        daemon.requestStop();
        boolean closed = false;
        try {
            closed = awaitEnd(() -> daemon.awaitEnd(STOP_LIMIT), daemon::toSend, daemon::stopsLater);
        } catch (InterruptedException e) {
            LOG.warn("interrupted while ending", e);
        }
        if (!closed) {
            LOG.error(
                    daemon.toSend() > 0
                            ? "the object store has taken nothing for {}; the next mount here sends what it lacks"
                            : "not closed after {}; what was not synced may be lost",
                    STOP_LIMIT);
        }
        RepeatsAppender.tellAll();
        Runtime.getRuntime().halt(closed && daemon.closedInOrder() ? ExitCode.OK : ExitCode.FAILED);
    }

    /** Waits for a limited time. */
    @FunctionalInterface
    interface Wait {
        /** Returns whether the daemon has ended. */
        boolean hasEnded() throws InterruptedException;
    }

    /**
     * Waits for the end of a daemon: once, and again as long as its object store gets bytes, which this machine alone
     * has until then.
     *
     * @param toSend returns the bytes that the object store lacks; 0 if it lacks nothing, or there is none
     * @param onward called before it waits again
     * @return false if it has not ended
     */
    static boolean awaitEnd(Wait wait, LongSupplier toSend, Runnable onward) throws InterruptedException {
        long before = Long.MAX_VALUE;
        while (!wait.hasEnded()) {
            long now = toSend.getAsLong();
            if (now == 0 || now >= before) {
                return false;
            }
            before = now;
            onward.run();
        }
        return true;
    }
}
