package org.opendedup.sar.volume.commit;

import java.io.Closeable;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.Commits;
import org.opendedup.sar.common.Causes;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes changes durable, many at a time: every few seconds, when many changes are pending, and on request. This order
 * keeps the volume consistent after a crash:
 *
 * <ol>
 *   <li>store the dirty bytes of every file that got a name since the last commit, or put them into the intent log, so
 *       that no name appears before its data
 *   <li>with the change lock held exclusively: encode the changed inodes, freeze the pending metadata
 *   <li>force the containers: everything that the frozen metadata refers to was appended earlier
 *   <li>write the frozen metadata in one durable batch, together with the places of these containers
 * </ol>
 *
 * A commit that found a device full is retried, starting with forcing the containers, until there is space. Meanwhile
 * its changes stay visible, and further changes accumulate. Any other failure makes the volume read-only
 * ({@link WriteStop}): changes that could not be made durable are known and stay in memory, and earlier durable changes
 * stay durable. {@link #resume} retries when the disk works again. Callers that wait at the same time share one commit.
 */
public final class Committer implements Commits, Closeable {
    private static final Logger log = LoggerFactory.getLogger(Committer.class);
    /** Period of the commits, in milliseconds, if the system property {@code sar.commit.period.ms} is not set. */
    private static final long PERIOD_MS = 5000;

    /** Period of retrying a commit that found a device full, in seconds. A requested commit retries too. */
    private static final int RETRY_S = 1;

    /**
     * Maximum number of rounds of securing named files before the freeze. If files get names faster, the commit
     * includes the last of them with the bytes stored by then.
     */
    private static final int MAX_ROUNDS = 3;

    private final MetadataStore metadata;
    private final ContainerStore containers;
    private final FileChanges files;
    private final DeviceSpaces devices;
    private final WriteStop stop;
    private final long maxPendingBytes;

    /** Held shared by changes, exclusively by a freeze. Acquired before any node's monitor. */
    private final ReentrantReadWriteLock changeLock;

    private final ReentrantLock commitLock = new ReentrantLock();
    private final CommitTurns turns = new CommitTurns();
    private final AtomicLong commits = new AtomicLong();
    /** Changes that are made directly before a freeze. */
    private final Queue<Closing.Step> lastChanges = new ConcurrentLinkedQueue<>();
    /** Number of freezes. Changes under the change lock, held exclusively. */
    private volatile long generation;
    /** The value of {@link #generation} after the last freeze whose changes are durable. */
    private volatile long durable;

    /** Frozen changes that are not durable, because a device had no room for them yet. Guarded by the commit lock. */
    private @Nullable Frozen waiting;

    private final ScheduledExecutorService timer;
    /** Runs before each periodic commit. */
    private volatile Closing.Step beforeEach = () -> {};
    /** Whether the object store of the volume answers, after it did not. */
    private volatile BooleanSupplier storeAnswers = () -> false;
    /** Whether a commit may have taken changes that are not durable: it runs, or failed. */
    private volatile boolean underWay;

    public Committer(
            MetadataStore metadata,
            ContainerStore containers,
            FileChanges files,
            DeviceSpaces devices,
            WriteStop stop,
            ReentrantReadWriteLock changeLock,
            long maxPendingBytes,
            String name) {
        this.metadata = metadata;
        this.containers = containers;
        this.files = files;
        this.devices = devices;
        this.stop = stop;
        this.changeLock = changeLock;
        this.maxPendingBytes = maxPendingBytes;
        timer = Executors.newSingleThreadScheduledExecutor(Threads.named(name + "-commit"));
    }

    /**
     * Returns the period of the commits, in milliseconds. Written bytes become durable after at most two periods plus
     * the duration of a commit.
     */
    public static long periodMs() {
        return Long.getLong("sar.commit.period.ms", PERIOD_MS);
    }

    public void start() {
        timer.execute(devices::checkBallasts);
        timer.scheduleWithFixedDelay(Threads.lasting(this::tick), periodMs(), periodMs(), TimeUnit.MILLISECONDS);
        timer.scheduleWithFixedDelay(Threads.lasting(this::retry), RETRY_S, RETRY_S, TimeUnit.SECONDS);
    }

    /** Sets what runs before each periodic commit. Its failure is logged, and the commit is made. */
    public void beforeEachPeriodic(Closing.Step step) {
        beforeEach = step;
    }

    /**
     * Sets what says whether the object store of the volume answers: a volume that stopped because it did not resumes
     * by itself.
     */
    public void resumeWhen(BooleanSupplier storeAnswers) {
        this.storeAnswers = storeAnswers;
    }

    private void retry() {
        if (devices.isShort()) {
            tick();
        }
        if (stop.isResumable()
                && Causes.include(stop.failure(), UnavailableException.class)
                && storeAnswers.getAsBoolean()) {
            try {
                resume();
            } catch (IOException | RuntimeException e) {
                log.debug("the volume does not resume yet", e);
            }
        }
    }

    /** Makes a periodic commit. */
    public void tick() {
        if (stop.isStopped()) {
            return;
        }
        try {
            retryIfShort();
            runBefore();
            files.storeOld();
            commit();
            devices.restoreBallasts();
        } catch (NoSpaceException e) {
            log.debug("the periodic commit waits for space: {}", e.getMessage());
        } catch (WriteFailedException e) {
            log.debug("the periodic commit failed, as reported: {}", e.getMessage());
        } catch (IOException | RuntimeException | Error e) {
            // Catch everything: an exception would cancel the timer, and nothing would be committed any more.
            log.error("the periodic commit failed", e);
        }
    }

    private void runBefore() {
        try {
            beforeEach.run();
        } catch (IOException e) {
            log.error("files on the fast tier cannot be made durable now; it is tried again", e);
        }
    }

    /** Returns the lock that changes of metadata hold. */
    @Override
    public Lock changes() {
        return changeLock.readLock();
    }

    /** Returns the lock that excludes all changes; for the checker. */
    public Lock exclusive() {
        return changeLock.writeLock();
    }

    /** Returns the lock that excludes commits; for the checker. To be acquired before {@link #exclusive}. */
    public Lock commitLock() {
        return commitLock;
    }

    /**
     * Returns the number of the generation that receives changes now. A change is durable when {@link #isDurable(long)}
     * says so of the number that this returned during the change, under the change lock.
     */
    public long generation() {
        return generation;
    }

    /** Returns whether the changes of a generation are durable. */
    public boolean isDurable(long ofGeneration) {
        return durable > ofGeneration;
    }

    /** Returns whether a commit runs, or failed: changes that look as if they were committed may not be durable. */
    public boolean isUnderWay() {
        return underWay;
    }

    /** Returns the number of commits that wrote something. A volume that nobody changes makes none. */
    public long commits() {
        return commits.get();
    }

    /**
     * Checks that changes are allowed; every change calls it first. EROFS after a commit failed. Commits if many
     * changes are pending.
     */
    public void checkWritable() throws IOException {
        checkNotFailed();
        if (metadata.pendingBytes() > maxPendingBytes || files.areMany()) {
            commit();
        }
    }

    /** Checks as {@link #checkWritable} does, without a commit. */
    public void checkNotFailed() throws IOException {
        stop.refuseChanges();
    }

    /** Stops changes because a change found that a disk refuses writes. Returns what the change fails with. */
    public IOException stoppedBy(WriteFailedException failure) {
        stop.begin(failure, true);
        try {
            stop.refuseChanges();
        } catch (PosixException refused) {
            return refused;
        }
        return failure;
    }

    /** Returns whether the volume was opened so that nothing of it changes. */
    public boolean isReadOnly() {
        return stop.isReadOnly();
    }

    /** Refuses work of the volume itself that would change it. */
    public void refuseIfReadOnly() throws IOException {
        if (stop.isReadOnly()) {
            throw new IOException(WriteStop.READ_ONLY);
        }
    }

    /** Returns whether changes are neither refused nor waiting for space. */
    public boolean isAccepting() {
        return !stop.isStopped() && !devices.isShort();
    }

    /** Returns why changes are refused, as text, or null if they are accepted. */
    public @Nullable String stopped() {
        IOException cause = stop.failure();
        return cause == null ? null : String.valueOf(cause.getMessage());
    }

    /** Returns whether {@link #resume} can succeed; false if something accepted is lost. */
    public boolean isResumable() {
        return stop.isResumable();
    }

    /** Returns whether changes wait for space. */
    public boolean isShort() {
        return devices.isShort();
    }

    /**
     * Must be called before dirty bytes are stored: during a shortage nothing is stored, and only a commit ends the
     * shortage. Throws an I/O error if an earlier write failed.
     */
    public void retryIfShort() throws IOException {
        stop.refuseStoring();
        if (devices.isShort()) {
            commit();
        }
    }

    /**
     * Checks that the metadata have room for {@code bytes} more bytes of records. ENOSPC if not. Changes that free
     * something do not call it.
     */
    public void checkRoom(long bytes) throws IOException {
        devices.admitMetadata(bytes);
    }

    /**
     * Makes every change that was made before the call durable. ENOSPC if the changes are not durable yet; they become
     * durable when there is space.
     */
    @Override
    public void commit() throws IOException {
        if (stop.isReadOnly()) {
            // There is nothing that is not durable.
            return;
        }
        long answering = turns.begin();
        if (answering == 0) {
            return;
        }
        long answered = 0;
        commitLock.lock();
        try {
            stop.refuseStoring();
            run();
            answered = answering;
        } finally {
            commitLock.unlock();
            turns.end(answered);
        }
    }

    /**
     * Makes a last change of the generation that the next commit freezes, with all other changes excluded, and commits
     * as {@link #commit} does. The change must not wait for a disk.
     *
     * @return whether the change was made; if this throws, {@link #commit} says what is durable
     */
    public boolean commitWith(Closing.Step change) throws IOException {
        stop.refuseChanges();
        AtomicBoolean isMade = new AtomicBoolean();
        Closing.Step once = () -> {
            change.run();
            isMade.set(true);
        };
        lastChanges.add(once);
        try {
            commit();
        } finally {
            lastChanges.remove(once);
        }
        return isMade.get();
    }

    /**
     * Commits the new places of the containers that a crash left open. A full device is tolerated: the next commit
     * includes them, and until then a crash leaves what this mount found.
     */
    public void commitRecovery() throws IOException {
        if (!containers.hasRecovered()) {
            return;
        }
        try {
            commit();
        } catch (NoSpaceException e) {
            // After the next crash, no reference may point to what this recovery found missing.
            if (containers.hasLost()) {
                throw e;
            }
            log.info("what was recovered is committed when there is space: {}", e.getMessage());
        }
    }

    /**
     * Resumes after a failed write: makes durable what waits in memory, and accepts changes again. First rewrites the
     * containers whose writes failed. The commit opens the database again. Does nothing if no write failed.
     *
     * @return whether a write had failed
     * @throws IOException if a disk still fails, or something is lost. The volume stays read-only and keeps what it has
     *     in memory
     */
    public boolean resume() throws IOException {
        commitLock.lock();
        try {
            IOException cause = stop.failure();
            if (cause == null) {
                return false;
            }
            stop.requireResumable();
            reviveContainers();
            // From here on as usual: changes that arrive meanwhile are committed with the rest, or wait with it.
            stop.end();
            run();
            log.warn(
                    "the volume accepts changes again; nothing that it accepted is lost. It had stopped: {}",
                    cause.getMessage());
            return true;
        } finally {
            commitLock.unlock();
        }
    }

    private void reviveContainers() throws IOException {
        try {
            containers.revive();
        } catch (CorruptionException e) {
            stop.begin(e, false);
            throw e;
        }
    }

    private void run() throws IOException {
        try {
            try {
                makeDurable();
            } catch (NoSpaceException e) {
                if (!devices.freeBallasts()) {
                    throw e;
                }
                makeDurable();
            }
            devices.endShortage();
        } catch (NoSpaceException e) {
            devices.beginShortage(e);
            throw e;
        } catch (IOException | RuntimeException e) {
            IOException cause = e instanceof IOException io ? io : new IOException(e);
            stop.begin(cause, e instanceof IOException && !(e instanceof CorruptionException));
            throw cause;
        }
    }

    private void makeDurable() throws IOException {
        underWay = true;
        Frozen earlier = waiting;
        if (earlier != null) {
            makeDurable(earlier);
        }
        Frozen frozen = freeze();
        waiting = frozen;
        makeDurable(frozen);
        underWay = false;
    }

    /**
     * Writes what was frozen, by this attempt or by one that found a device full. Retrying is harmless. The containers
     * are forced first, which fails permanently if one of their chunks was lost. The batch holds whole records, so it
     * makes no difference if the earlier attempt was durable after all.
     */
    private void makeDurable(Frozen frozen) throws IOException {
        ContainerChanges changes = containers.force();
        if (metadata.commit(frozen.generation(), changes)) {
            commits.incrementAndGet();
        }
        containers.committed(changes);
        waiting = null;
        durable = frozen.number();
        frozen.files().committed();
    }

    /** The changes that one commit writes, and those of files among them. */
    private record Frozen(Generation generation, FileChanges.Cut files, long number) {}

    /**
     * Secures the bytes that must become durable no later than their file's name, then freezes. Retries if another file
     * got a name in between.
     */
    private Frozen freeze() throws IOException {
        FileChanges.Cut cut = files.begin();
        for (int round = 1; ; round++) {
            cut.secure(changes());
            changeLock.writeLock().lock();
            try {
                if (cut.isSecured() || round == MAX_ROUNDS) {
                    cut.encode();
                    makeLastChanges();
                    Generation frozen = metadata.freeze();
                    generation++;
                    return new Frozen(frozen, cut, generation);
                }
            } finally {
                changeLock.writeLock().unlock();
            }
        }
    }

    private void makeLastChanges() throws IOException {
        for (Closing.Step change = lastChanges.poll(); change != null; change = lastChanges.poll()) {
            change.run();
        }
    }

    /** Ends the periodic commits. Makes no last commit; that is the caller's choice. */
    @Override
    public void close() {
        timer.shutdown();
        try {
            timer.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
