package org.opendedup.sar.volume.raw;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.raw.MigrationCandidate;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.node.RawSpace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Migrates raw files in the background (TDDFS paper, §3.2: File Migration Manager): stores them in chunks, and gives
 * their space on the fast tier back. Files that a {@link MigrationPolicy} chooses are migrated; files that are at rest
 * for a set time are only copied. One thread does this.
 */
public final class RawMover implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(RawMover.class);

    private static final long TICK_S = 1;

    /** Number of files that are migrated between two commits. */
    private static final int BATCH_FILES = 1024;
    /** Bytes of files that are migrated between two commits. */
    private static final long BATCH_BYTES = 1L << 30;
    /** Space on the device of the fast tier that is left to others, in bytes. */
    private static final long SPARE_BYTES = 64L << 20;

    private static final long MS_PER_S = 1000;

    /** Time without a use of the volume after which it counts as idle, in milliseconds. */
    private static final long IDLE_MS = 1000;
    /**
     * For how long the copy of a file ahead waits for programs that use the volume, in seconds; then it is given up.
     */
    private static final long DISTURBED_S = 5;
    /** Time between two looks whether the volume is idle, in milliseconds. */
    private static final long LOOK_MS = 50;

    private final RawFiles raws;
    private final RawCopier copier;
    private final NodeTable nodes;
    private final Committer committer;
    private final BackgroundThrottle throttle;
    private final DiskQueue disk;
    private final FolderOrder order;
    private final RawSettings settings;
    private final MigrationPolicy policy;
    private final ScheduledExecutorService thread;
    private final MigrationCounts counts = new MigrationCounts();
    private volatile long usedBytes;
    private volatile boolean closing;

    public RawMover(
            RawFiles raws,
            RawCopier copier,
            NodeTable nodes,
            Committer committer,
            FolderOrder order,
            BackgroundThrottle throttle,
            DiskQueue disk,
            RawSettings settings,
            String name) {
        this.order = order;
        this.throttle = throttle;
        this.disk = disk;
        this.raws = raws;
        this.copier = copier;
        this.nodes = nodes;
        this.committer = committer;
        this.settings = settings;
        policy = new MigrationPolicy(
                settings.capacityBytes(), settings.highPercent(), settings.lowPercent(), settings.rule());
        thread = Executors.newSingleThreadScheduledExecutor(Threads.named(name + "-migration"));
    }

    /** Looks at all raw files, and begins to work. */
    public void start() {
        lookAgain();
        thread.scheduleWithFixedDelay(Threads.lasting(this::tick), TICK_S, TICK_S, TimeUnit.SECONDS);
    }

    /** Takes the fast tier as it is now, mounted with it or attached later, and looks at all raw files. */
    void lookAgain() {
        raws.setRoom(settings.isEnabled() && !raws.isAbsent());
        thread.execute(this::lookAtAll);
    }

    /**
     * Measures all files, so that their space is known, and counts once if it is in chunks as well. Takes their last
     * changes for their last accesses.
     */
    private void lookAtAll() {
        for (RawFile raw : raws.all()) {
            if (closing || raws.isAbsent()) {
                return;
            }
            try {
                RandomFile.Status status = raw.look();
                if (status != null) {
                    raw.noteAccess(TimeUnit.NANOSECONDS.toMillis(status.changedNs()));
                }
            } catch (IOException e) {
                log.warn("the backing file of inode {} cannot be examined: {}", raw.inode(), e.getMessage());
            }
        }
    }

    private void tick() {
        try {
            if (raws.isAbsent()) {
                raws.setRoom(false);
                return;
            }
            if (raws.limit().isHanging()) {
                return;
            }
            raws.deleteDead();
            measure();
            work();
        } catch (NoSpaceException e) {
            log.debug("raw files are migrated when there is space: {}", e.getMessage());
        } catch (TimeLimit.ExceededException e) {
            log.debug("raw files are migrated when the fast tier answers: {}", e.getMessage());
        } catch (IOException | RuntimeException | Error e) {
            // Catch everything: an exception would cancel the timer, and nothing would be migrated any more.
            log.error("raw files cannot be migrated", e);
        }
    }

    private void measure() throws IOException {
        long used = 0;
        Map<Account, Long> onlyThere = new HashMap<>();
        long pinned = 0;
        for (RawFile raw : raws.all()) {
            if (raw.isInUse()) {
                // One that cannot be examined counts as it was known last.
                raw.statusIfReadable();
            }
            used += raw.knownBytes();
            pinned += raw.record().pinned() ? raw.knownBytes() : 0;
            if (!raw.isKnownCopied()) {
                onlyThere.merge(raw.account(), raw.knownBytes(), Long::sum);
            }
        }
        usedBytes = used;
        long usable = raws.folder().usableBytes();
        raws.setRoom(settings.isEnabled() && !policy.isFull(used) && usable > SPARE_BYTES);
        raws.space()
                .measured(new RawSpace.Measure(
                        settings.capacityBytes() - used,
                        usable - SPARE_BYTES,
                        onlyThere,
                        pinned < settings.capacityBytes() / 2));
        throttle.setHurried(policy.isUrgent(used) || usable < 2 * SPARE_BYTES);
    }

    private void work() throws IOException {
        if (!committer.isAccepting()) {
            return;
        }
        long now = System.currentTimeMillis();
        List<MigrationCandidate> candidates = candidates(now);
        List<MigrationCandidate> chosen = new ArrayList<>(policy.choose(usedBytes, candidates, now));
        for (MigrationCandidate file : candidates) {
            RawFile raw = raws.get(file.inode());
            if (raw != null && raw.isOutgrown() && !chosen.contains(file)) {
                chosen.add(file);
            }
        }
        List<RawFile> victims = files(chosen);
        if (!victims.isEmpty()) {
            migrate(victims);
            return;
        }
        if (settings.copyAfterS() > 0) {
            copyThoseAtRest();
        }
        copyAhead(now);
    }

    /** Returns the files that may be migrated. */
    private List<MigrationCandidate> candidates(long nowMs) {
        List<MigrationCandidate> candidates = new ArrayList<>();
        for (RawFile raw : raws.all()) {
            if (!raw.isInUse() && !raw.record().pinned() && raw.mayBeCopied(nowMs)) {
                candidates.add(new MigrationCandidate(
                        raw.inode(), raw.knownSize(), raw.knownBytes(), raw.accessedMs(), raw.openings()));
            }
        }
        return candidates;
    }

    private List<RawFile> files(List<MigrationCandidate> chosen) {
        List<RawFile> files = new ArrayList<>();
        for (MigrationCandidate file : chosen) {
            RawFile raw = raws.get(file.inode());
            if (raw != null) {
                files.add(raw);
            }
        }
        return order.sorted(files);
    }

    private void copyThoseAtRest() throws IOException {
        long now = System.currentTimeMillis();
        long before = now - settings.copyAfterS() * MS_PER_S;
        List<RawFile> atRest = new ArrayList<>();
        for (RawFile raw : raws.all()) {
            if (!raw.isInUse()
                    && raw.accessedMs() <= before
                    && raw.mayBeCopied(now)
                    && !raw.isKnownCopied()
                    && attempt(raw, () -> raw.status() != null)) {
                atRest.add(raw);
            }
        }
        List<RawFile> files = order.sorted(atRest);
        copySmall(files, () -> !closing, counts::noteCopied);
        for (RawFile raw : files) {
            if (closing || policy.isHigh(usedBytes)) {
                return;
            }
            with(
                    raw,
                    node -> attempt(
                            raw,
                            () -> raw.isPart()
                                    ? storeChanges(node, raw, this::endIfClosing)
                                    : copy(node, raw, this::endIfClosing, counts::noteCopied)));
        }
    }

    /**
     * Copies files that are going to be migrated, while use is between the thresholds and nobody uses volume and disk.
     * Ends as soon as somebody does.
     */
    public void copyAhead(long nowMs) throws IOException {
        List<RawFile> files = new ArrayList<>();
        for (RawFile raw : files(isIdle() ? policy.ahead(usedBytes, candidates(nowMs), nowMs) : List.of())) {
            if (!raw.isPart() && !raw.isKnownCopied() && attempt(raw, () -> raw.status() != null && !raw.isCopied())) {
                files.add(raw);
            }
        }
        if (files.isEmpty()) {
            return;
        }
        copySmall(files, () -> !closing && isIdle(), counts::noteAhead);
        for (RawFile raw : files) {
            if (closing || !isIdle()) {
                break;
            }
            copyAhead(raw);
        }
    }

    private void copyAhead(RawFile raw) throws IOException {
        AtomicLong disturbedNs = new AtomicLong();
        // A file that was given up begins anew: so pauses are waited for, and one that was given up stays for long.
        RawCopier.Progress progress = bytes -> {
            endIfClosing(bytes);
            long begun = System.nanoTime();
            while (!isIdle()) {
                endIfClosing(bytes);
                if (disturbedNs.get() + System.nanoTime() - begun > TimeUnit.SECONDS.toNanos(DISTURBED_S)) {
                    throw new DisturbedException();
                }
                Pace.pause(LOOK_MS);
            }
            disturbedNs.addAndGet(System.nanoTime() - begun);
        };
        try {
            with(raw, node -> attempt(raw, () -> copy(node, raw, progress, counts::noteAhead)));
        } catch (DisturbedException e) {
            raw.copyNotBefore(System.currentTimeMillis() + MigrationPolicy.AHEAD_AGE_MS);
        }
    }

    /** Returns whether nobody used the volume for a moment, and nobody reads from the disk. */
    private boolean isIdle() {
        DiskStatus status = disk.status();
        return throttle.quietNanos() >= TimeUnit.MILLISECONDS.toNanos(IDLE_MS)
                && status.readers() + status.waiting() + status.background() == 0;
    }

    private void migrate(List<RawFile> files) throws IOException {
        copySmall(files, () -> !closing, counts::noteCopied);
        int batch = 0;
        long bytes = 0;
        for (RawFile raw : files) {
            if (closing) {
                return;
            }
            if (with(raw, node -> attempt(raw, () -> migrate(node, raw, this::endIfClosing)))) {
                batch++;
                bytes += raw.knownBytes();
            }
            if (batch >= BATCH_FILES || bytes >= BATCH_BYTES) {
                giveBack();
                batch = 0;
                bytes = 0;
            }
        }
        giveBack();
    }

    /**
     * Stores small files in chunks, many together.
     *
     * @param goesOn whether to go on; asked before each file
     * @param copied receives the length of each file that was stored, in bytes
     */
    private void copySmall(Collection<RawFile> files, BooleanSupplier goesOn, LongConsumer copied) throws IOException {
        // Once for all of them: a batch takes only files whose bytes are durable.
        raws.syncWritten();
        BackgroundThrottle.Piece piece = throttle.begin();
        List<Node> pinned = new ArrayList<>();
        // Closed before the nodes are unpinned: programs wait for what a batch holds.
        try (Closeable unpins = () -> unpin(pinned);
                RawBatch batch = new RawBatch(copier, nodes)) {
            for (RawFile raw : files) {
                if (!goesOn.getAsBoolean()) {
                    break;
                }
                if (raw.isInUse()
                        || raw.isPart()
                        || raw.knownSize() > RawBatch.MAX_FILE_BYTES
                        || raw.record().copy() != null) {
                    continue;
                }
                Node node = nodes.pinIfPresent(raw.inode());
                if (node != null) {
                    pinned.add(node);
                    if (batch.isEmpty()) {
                        // While no lock is held, because this may collect garbage.
                        copier.admit(RawBatch.MAX_BYTES);
                    }
                    var unused = attempt(raw, () -> batch.add(node, raw));
                }
                if (batch.isFull()) {
                    batch.store(copied);
                    unpin(pinned);
                    piece.next();
                }
            }
            batch.store(copied);
        }
    }

    private void unpin(List<Node> pinned) {
        pinned.forEach(nodes::unpin);
        pinned.clear();
    }

    /** Deletes the backing files of migrated files. The space is needed, so it does not wait for periodic commits. */
    private void giveBack() throws IOException {
        if (raws.hasDead()) {
            committer.commit();
            raws.deleteDead();
        }
    }

    /** Runs {@code use} with the node of a raw file. False if the file does not exist any more. */
    private boolean with(RawFile raw, NodeTable.Use<Boolean> use) throws IOException {
        Node node = nodes.pinIfPresent(raw.inode());
        if (node == null) {
            return false;
        }
        try {
            return use.of(node);
        } finally {
            nodes.unpin(node);
        }
    }

    /** Thrown to give up the copy of a file ahead, because programs use the volume. */
    private static final class DisturbedException extends InterruptedIOException {
        private static final long serialVersionUID = 1;
    }

    /** A step of the background's work on a file. */
    @FunctionalInterface
    private interface Attempt {
        boolean succeeds() throws IOException;
    }

    /** Makes an attempt; a failure that concerns one file only does not end the work on the others. */
    private boolean attempt(RawFile raw, Attempt attempt) throws IOException {
        try {
            return attempt.succeeds();
        } catch (NoSpaceException | DisturbedException e) {
            throw e;
        } catch (IOException e) {
            retryLater(raw);
            if (!closing) {
                log.warn("inode {} cannot be stored in chunks now; it stays on the fast tier", raw.inode(), e);
            }
            return false;
        }
    }

    private boolean copy(Node node, RawFile raw, RawCopier.Progress progress, LongConsumer copied) throws IOException {
        boolean wasCopied = raw.isCopied();
        if (!copier.copy(node, progress)) {
            retryLater(raw);
            return false;
        }
        if (!wasCopied) {
            copied.accept(raw.knownSize());
        }
        return true;
    }

    private void endIfClosing(long bytes) throws IOException {
        if (closing) {
            throw new IOException("the volume is being closed");
        }
    }

    private void retryLater(RawFile raw) {
        raw.copyNotBefore(System.currentTimeMillis() + 10 * MS_PER_S);
    }

    /**
     * Migrates a raw file: stores it in chunks, unless that was done, and ends that it is raw. Of a file in chunks,
     * stores what was changed.
     *
     * @param progress told of the bytes as they are read; may throw to end the copy
     * @return false if it is in use or was written meanwhile
     */
    boolean migrate(Node node, RawFile raw, RawCopier.Progress progress) throws IOException {
        if (raw.isPart()) {
            return storeChanges(node, raw, progress);
        }
        if (!copy(node, raw, progress, counts::noteCopied)) {
            return false;
        }
        RawFile.Seen seen = raw.seen();
        RandomFile.Status status = raw.status();
        RawRecord.Copy copy = RawFile.copyOf(status);
        // A mapping that outlived its descriptor may have changed the file since it was copied; one that only reads
        // would go on to show the bytes of the backing file.
        if (copy == null || raw.isInUse() || !raw.isUnused() || !copy.equals(RawFile.copyOf(raw.status()))) {
            return false;
        }
        if (!raws.end(node, raw, copy, status, seen, 0)) {
            return false;
        }
        counts.noteMigrated(copy.size());
        return true;
    }

    /** Stores what was changed in a file that was migrated before, and ends that it has anything on the fast tier. */
    private boolean storeChanges(Node node, RawFile part, RawCopier.Progress progress) throws IOException {
        long bytes = part.knownBytes();
        copier.storeChanges(node, progress);
        counts.noteMigrated(bytes);
        return true;
    }

    MigrationCounts counts() {
        return counts;
    }

    long usedBytes() {
        return usedBytes;
    }

    RawSettings settings() {
        return settings;
    }

    @Override
    public void close() {
        closing = true;
        thread.shutdown();
        try {
            // A thread that the fast tier does not answer ends by itself later.
            thread.awaitTermination(raws.limit().isHanging() ? 0 : 1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
