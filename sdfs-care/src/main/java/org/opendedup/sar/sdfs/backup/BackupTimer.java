package org.opendedup.sar.sdfs.backup;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.sdfs.config.BackupSettings;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Backs up the metadata of a mounted volume by itself: when the interval has passed since the newest backup and
 * something has changed, after each garbage collection, so that the newest backup is whole, and when the newest one was
 * found damaged. A failure is one line in the log, and is tried again after a while; the volume goes on.
 *
 * <p>The clock may be set, or stand still. So the time of day only decides about backups of earlier mounts; the age of
 * those that this timer made is known by a clock that nobody can set.
 */
public final class BackupTimer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BackupTimer.class);
    private static final int STEP_SECONDS = 30;
    /** Longest time for a backup at unmount, in seconds: what stops the service waits, and may kill the process. */
    private static final int CLOSING_SECONDS = 10;
    /** Longest wait until a backup that was given up has ended, in seconds. */
    private static final int ENDING_SECONDS = 30;
    /** Steps that are left out after a failure: about five minutes. */
    private static final int STEPS_AFTER_FAILURE = 10;

    private final String volume;
    private final MetadataBackups backups;
    private volatile BackupSettings settings;
    private final BooleanSupplier isCollecting;
    private final Clock clock;
    private final LongSupplier nanoClock;
    /** Time of the newest backup that this timer made, or of its start, by {@link #nanoClock}. Used by one thread. */
    private long sinceNs;
    /** Whether this timer has made a backup. Used by one thread. */
    private boolean hasMade;

    private final ScheduledExecutorService steps = Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "sdfs-metadata-backup");
        thread.setDaemon(true);
        thread.setPriority(Thread.MIN_PRIORITY);
        return thread;
    });
    /** Steps that are still left out. Used by one thread. */
    private int leftOut;
    /** Whether the failure at hand is in the log already. Used by one thread. */
    private boolean warned;

    /**
     * @param isCollecting whether garbage is being collected, in whose middle no backup is of use
     * @param nanoClock clock in nanoseconds that nobody can set, as {@link System#nanoTime}
     */
    BackupTimer(
            String volume,
            MetadataBackups backups,
            BackupSettings settings,
            BooleanSupplier isCollecting,
            Clock clock,
            LongSupplier nanoClock) {
        this.volume = volume;
        this.backups = backups;
        this.settings = settings;
        this.isCollecting = isCollecting;
        this.clock = clock;
        this.nanoClock = nanoClock;
        sinceNs = nanoClock.getAsLong();
    }

    /** Returns a timer that works until it is closed; one that does nothing if the settings say so. */
    public static BackupTimer start(
            String volume,
            MetadataBackups backups,
            BackupSettings settings,
            BooleanSupplier isCollecting,
            Clock clock) {
        var timer = new BackupTimer(volume, backups, settings, isCollecting, clock, System::nanoTime);
        backups.look();
        var unused = timer.steps.scheduleWithFixedDelay(
                Threads.lasting(timer::step), STEP_SECONDS, STEP_SECONDS, TimeUnit.SECONDS);
        return timer;
    }

    /** Changes when backups are made and how many are kept, from the next step on. */
    public void change(BackupSettings changed) {
        settings = changed;
    }

    /** Makes a backup if one is due. Never fails. */
    void step() {
        if (settings.isOff()) {
            return;
        }
        if (leftOut > 0) {
            leftOut--;
            return;
        }
        try {
            backups.look();
            if (isDue(false)) {
                backUp();
            }
            warned = false;
        } catch (IOException | RuntimeException e) {
            leftOut = STEPS_AFTER_FAILURE;
            if (!warned) {
                LOG.warn(
                        "volume {}: its metadata could not be backed up ({} times since it was mounted); this is tried"
                                + " again: {}",
                        volume,
                        backups.failures(),
                        e.toString());
            }
            warned = true;
        }
    }

    /** @param always whether a change is enough, however young the newest backup is */
    private boolean isDue(boolean always) throws IOException {
        List<Backup> all = backups.list();
        if (all.isEmpty()) {
            return !isCollecting.getAsBoolean();
        }
        Backup newest = all.get(all.size() - 1);
        if (backups.isOlderThanCollection(newest) || !backups.isWhole(newest)) {
            return !isCollecting.getAsBoolean();
        }
        boolean isOld =
                always || nanoClock.getAsLong() - sinceNs >= settings.interval().toNanos();
        if (!hasMade) {
            long ageNs = TimeUnit.MILLISECONDS.toNanos(clock.millis())
                    - newest.origin().createdNs();
            // A clock that was set back must not end the backups.
            isOld |= ageNs < 0 || ageNs >= settings.interval().toNanos();
        }
        // A damaged backup is removed when enough newer ones are whole: they must be made.
        return isOld
                && (backups.hasChangedSince(newest)
                        || !backups.condition().findings().isEmpty());
    }

    private void backUp() throws IOException {
        Backup made = backups.backUp(settings.keep());
        sinceNs = nanoClock.getAsLong();
        hasMade = true;
        LOG.info(
                "volume {}: backup {} of its metadata is made, {} files with {} bytes",
                volume,
                made.number(),
                made.files().size(),
                made.bytes());
    }

    /**
     * Stops the timer, after a backup that is being made; then, if the newest backup is older than the interval or than
     * a collection, or the settings want one at each end and something has changed, makes one: a volume that is mounted
     * only for its backups may be unmounted right after a collection, and lie there for days with backups that refer to
     * what was collected. What takes longer than {@value #CLOSING_SECONDS} s is given up: the next mount makes it up.
     * To be called after the file system is unmounted and what was changed is committed, and before the volume is
     * closed.
     */
    @Override
    public void close() {
        if (settings.isOff()) {
            steps.shutdown();
            return;
        }
        backups.hurry();
        var unused = steps.submit(this::last);
        steps.shutdown();
        try {
            if (!steps.awaitTermination(CLOSING_SECONDS, TimeUnit.SECONDS)) {
                backups.close();
                if (!steps.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS)) {
                    LOG.warn("volume {}: a backup of its metadata does not end; it is no longer waited for", volume);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void last() {
        try {
            if (isDue(settings.atEachEnd())) {
                backUp();
            }
        } catch (InterruptedIOException e) {
            LOG.info("volume {}: the backup of its metadata at unmount takes too long and is given up", volume);
        } catch (IOException | RuntimeException e) {
            LOG.warn("volume {}: its metadata could not be backed up at unmount: {}", volume, e.toString());
        }
    }
}
