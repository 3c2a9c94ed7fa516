package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.log.RepeatsAppender;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks every few seconds whether the lock file of the metadata is still at its path, once the volume is open: the
 * opening of a volume in an object store may put another folder in the place of one that is out of date. An
 * administrator may remove the folders of a volume whose daemon still runs, and make another volume in their place.
 * What the daemon writes by path would then be in the other volume.
 */
final class LockWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LockWatch.class);
    private static final int PERIOD_SECONDS = 5;

    private final Path lock;
    private final Consumer<Path> gone;
    /** Identity of the file; it is open, so that no other gets its number. Null if there was none, or not yet. */
    private volatile @Nullable Object identity;

    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-lock"));

    /** @param gone gets the file that is not at its path any more */
    LockWatch(Path lock, Consumer<Path> gone) {
        this.lock = lock;
        this.gone = gone;
    }

    /** Watches the file that is there now, every few seconds. */
    void start() {
        begin();
        var unused = timer.scheduleWithFixedDelay(
                Threads.lasting(this::look), PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
    }

    /** Takes the file that is there now for the right one; does not look by itself. */
    void begin() {
        try {
            identity = Files.exists(lock) ? identity() : null;
        } catch (IOException e) {
            LOG.warn("whether {} is removed or replaced is not watched: {}", lock, e.getMessage());
        }
    }

    private @Nullable Object identity() throws IOException {
        return Files.readAttributes(lock, BasicFileAttributes.class).fileKey();
    }

    void look() {
        try {
            Object watched = identity;
            if (watched != null && !watched.equals(identity())) {
                gone.accept(lock);
            }
        } catch (NoSuchFileException e) {
            gone.accept(lock);
        } catch (IOException e) {
            // Says nothing of what lies there.
            LOG.debug("{} cannot be examined now", lock, e);
        }
    }

    /** Ends the process at once: what it would write while it closes the volume would go to the folders of another. */
    static void halt(Path lock) {
        LOG.error(
                "{} is not the file of this volume any more: its folder was removed or replaced. Nothing more is"
                        + " written; what was not synced is lost",
                lock);
        RepeatsAppender.tellAll();
        Runtime.getRuntime().halt(ExitCode.FAILED);
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
