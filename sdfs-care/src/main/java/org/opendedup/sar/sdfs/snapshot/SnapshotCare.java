package org.opendedup.sar.sdfs.snapshot;

import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.volume.snapshot.VolumeSnapshots;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes, holds, deletes and prunes the snapshots of a mounted volume, one at a time. A schedule makes one and prunes
 * those that it made; those that a person made stay until they are deleted.
 */
public final class SnapshotCare implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotCare.class);

    /** A number of no snapshot: of a deletion, whichever has the name. */
    public static final long ANY = 0;

    /** The form of names that Samba's shadow_copy2 expects by default, in UTC. */
    private static final DateTimeFormatter NAME = DateTimeFormatter.ofPattern("'@GMT-'yyyy.MM.dd-HH.mm.ss", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final String volume;
    private final SnapshotSource snapshots;
    private volatile KeepRules rules;
    private final Clock clock;
    private final ExecutorService scheduled = Executors.newSingleThreadExecutor(Threads.named("sdfs-snapshot"));
    private final AtomicBoolean isScheduledRunning = new AtomicBoolean();
    /** Guarded by this. */
    private boolean isClosed;

    /**
     * @param volume name of the volume, for the log
     * @param rules which snapshots of the schedule are kept
     * @param clock gives the time of day, and the time zone in which a day begins
     */
    public SnapshotCare(String volume, SnapshotSource snapshots, KeepRules rules, Clock clock) {
        this.volume = volume;
        this.snapshots = snapshots;
        this.rules = rules;
        this.clock = clock;
    }

    public SnapshotSource source() {
        return snapshots;
    }

    /** Returns which snapshots of the schedule are kept. */
    public KeepRules rules() {
        return rules;
    }

    /** Changes which snapshots of the schedule are kept: the next one that it makes applies the rules. */
    public void change(KeepRules changed) {
        rules = changed;
    }

    /**
     * Makes a snapshot.
     *
     * @param name null: the time of now, as {@code @GMT-2026.11.29-21.00.00}
     * @param heldUntilMs until when it must not be deleted, in milliseconds since 1970; 0: it may be
     */
    public SnapshotRecord create(@Nullable String name, long heldUntilMs) throws IOException {
        return create(name, heldUntilMs, false);
    }

    private synchronized SnapshotRecord create(@Nullable String name, long heldUntilMs, boolean isScheduled)
            throws IOException {
        requireOpen();
        if (heldUntilMs != 0) {
            checkFuture(heldUntilMs);
        }
        SnapshotRecord made =
                snapshots.create(name == null ? NAME.format(clock.instant()) : name, heldUntilMs, isScheduled);
        LOG.info("volume {}: snapshot {} is made", volume, Printable.line(made.name()));
        return made;
    }

    private void requireOpen() throws IOException {
        if (isClosed) {
            throw new IOException("the volume is being closed");
        }
    }

    /** As {@link SnapshotSource#hold}. */
    public synchronized SnapshotRecord hold(String name, long untilMs) throws IOException {
        requireOpen();
        checkFuture(untilMs);
        SnapshotRecord held = snapshots.hold(name, untilMs);
        LOG.info(
                "volume {}: snapshot {} is held until {}", volume, Printable.line(name), Instant.ofEpochMilli(untilMs));
        return held;
    }

    private void checkFuture(long untilMs) {
        if (untilMs <= clock.millis()) {
            throw new IllegalArgumentException(
                    "a snapshot cannot be held until " + Instant.ofEpochMilli(untilMs) + ": that is past");
        }
    }

    /**
     * What a command that deletes snapshots names.
     *
     * @param deletable those that it would delete, the oldest first
     * @param held those that are held, so they stay
     */
    public record Selection(List<SnapshotRecord> deletable, List<SnapshotRecord> held) {}

    /**
     * Returns the snapshots that are named, each once. ENOENT.
     *
     * @param names each is the name of a snapshot, or a range: that of the first one, {@link VolumeSnapshots#RANGE} and
     *     that of the last one. A range without the first or the last name begins with the oldest or ends with the
     *     newest one
     */
    public Selection select(Collection<String> names) throws IOException {
        List<SnapshotRecord> all = snapshots.list();
        var isNamed = new boolean[all.size()];
        for (String name : names) {
            int range = name.indexOf(VolumeSnapshots.RANGE);
            String first = range < 0 ? name : name.substring(0, range);
            String last = range < 0 ? name : name.substring(range + 1);
            int from = range >= 0 && first.isEmpty() ? 0 : indexOf(all, first);
            int to = range >= 0 && last.isEmpty() ? all.size() - 1 : indexOf(all, last);
            if (from > to && !all.isEmpty()) {
                throw new IllegalArgumentException(
                        "snapshot '" + first + "' was made after '" + last + "'; name the older one first");
            }
            Arrays.fill(isNamed, from, Math.max(from, to + 1), true);
        }
        List<SnapshotRecord> deletable = new ArrayList<>();
        List<SnapshotRecord> held = new ArrayList<>();
        for (int i = 0; i < isNamed.length; i++) {
            if (isNamed[i]) {
                (isHeld(all.get(i)) ? held : deletable).add(all.get(i));
            }
        }
        return new Selection(deletable, held);
    }

    private static int indexOf(List<SnapshotRecord> all, String name) throws PosixException {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).name().equals(name)) {
                return i;
            }
        }
        throw new PosixException(Reason.ENOENT, "there is no snapshot '" + Printable.line(name) + "'");
    }

    private boolean isHeld(SnapshotRecord record) {
        return record.heldUntilMs() > clock.millis();
    }

    /**
     * Deletes a snapshot. ENOENT, also if the name belongs to another one by now.
     *
     * @param number that of the snapshot; {@link #ANY}: whichever has the name
     */
    public synchronized void delete(String name, long number) throws IOException {
        requireOpen();
        if (number != ANY && present(number).isEmpty()) {
            throw new PosixException(
                    Reason.ENOENT, "snapshot '" + Printable.line(name) + "' was deleted by another command");
        }
        snapshots.delete(name);
        LOG.info("volume {}: snapshot {} is deleted", volume, Printable.line(name));
    }

    /** Returns a snapshot as it is now; empty if it is not there any more. */
    private Optional<SnapshotRecord> present(long number) {
        return snapshots.list().stream()
                .filter(record -> record.number() == number)
                .findFirst();
    }

    /**
     * Begins to make the snapshot of a time of the schedule. The thread that calls may be interrupted, which no thread
     * that writes may be.
     *
     * @return false if that of an earlier time is being made
     */
    public boolean startScheduled() {
        if (!isScheduledRunning.compareAndSet(false, true)) {
            return false;
        }
        boolean begun = false;
        try {
            scheduled.execute(this::runScheduled);
            begun = true;
        } finally {
            if (!begun) {
                isScheduledRunning.set(false);
            }
        }
        return true;
    }

    private void runScheduled() {
        try {
            createScheduled();
        } catch (IOException | RuntimeException e) {
            LOG.warn("volume {}: the snapshot of the schedule is not made: {}", volume, e.toString());
        } finally {
            isScheduledRunning.set(false);
        }
    }

    /**
     * Makes the snapshot of a time of the schedule, and deletes those of earlier times that no rule keeps, also if it
     * cannot be made: on a full disk, the deletions give the space for the next one. In a replica it makes none: that
     * would have the name of one that is received later, and the rules would keep it instead of the base of what is
     * received next.
     */
    void createScheduled() throws IOException {
        var closing = new Closing();
        closing.run(() -> {
            if (!snapshots.isReplica()) {
                create(null, 0, true);
            }
        });
        closing.run(() -> prune(rules, false, false));
        closing.finish();
    }

    /** Returns when the schedule made the newest of its snapshots; empty if there is none. */
    public Optional<Instant> lastScheduled() {
        return snapshots.list().stream()
                .filter(SnapshotRecord::isScheduled)
                .reduce((before, after) -> after)
                .map(record -> Instant.ofEpochMilli(record.createdMs()));
    }

    /** Waits for the end of what is being made or deleted. Nothing is, afterwards. */
    @Override
    public synchronized void close() {
        isClosed = true;
        scheduled.shutdown();
    }

    /**
     * What was pruned, or would be.
     *
     * @param deleted those that no rule kept; with a dry run, those that would be deleted
     * @param held those that no rule kept and that are held, so they stay
     * @param kept the number of the others that the rules were applied to
     */
    public record Pruned(List<SnapshotRecord> deleted, List<SnapshotRecord> held, int kept) {}

    /**
     * Deletes the snapshots that no rule keeps, the oldest first. A failure ends it; what is deleted until then is
     * gone.
     *
     * @param wanted the rules
     * @param all whether they are applied to all snapshots, not only to those of the schedule
     * @param dryRun whether nothing is changed
     */
    public Pruned prune(KeepRules wanted, boolean all, boolean dryRun) throws IOException {
        List<SnapshotRecord> considered = snapshots.list().stream()
                .filter(record -> all || record.isScheduled())
                .toList();
        List<SnapshotRecord> expired = wanted.expired(considered, SnapshotRecord::createdMs, clock.getZone());
        List<SnapshotRecord> deleted = new ArrayList<>();
        List<SnapshotRecord> held = new ArrayList<>();
        for (SnapshotRecord record : expired) {
            if (dryRun) {
                (isHeld(record) ? held : deleted).add(record);
            } else {
                prune(record.number(), deleted, held);
            }
        }
        return new Pruned(deleted, held, considered.size() - expired.size());
    }

    /** Another command may have deleted or held it since it was listed, and another snapshot may have its name. */
    private synchronized void prune(long number, List<SnapshotRecord> deleted, List<SnapshotRecord> held)
            throws IOException {
        Optional<SnapshotRecord> record = present(number);
        if (record.isPresent() && isHeld(record.get())) {
            held.add(record.get());
        } else if (record.isPresent()) {
            delete(record.get().name(), number);
            deleted.add(record.get());
        }
    }
}
