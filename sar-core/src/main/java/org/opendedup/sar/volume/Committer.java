package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.metadata.Generation;
import org.opendedup.sar.metadata.MetadataStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes changes durable, many at a time: every few seconds, when much is pending, and when somebody asks. The order is what
 * keeps a crash harmless:
 *
 * <ol>
 *   <li>store the dirty bytes of every file that got a name since the last commit, so that no name appears before its data
 *   <li>with the change lock held exclusively: encode the changed inodes, freeze the pending metadata
 *   <li>force the containers: all that the frozen metadata refers to was appended before
 *   <li>write the frozen metadata in one durable batch
 * </ol>
 *
 * A commit that found a device full is tried again, from the forcing of the containers on, until there is space; meanwhile its
 * changes stay visible, and further ones gather. Any other failure leaves the volume read-only: what could not be made durable is
 * known to be so, and what was durable before stays. Callers that wait at the same time share one commit.
 */
final class Committer implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Committer.class);
    /** Period of the commits in seconds. Written bytes wait for up to two of them, and for what a commit takes. */
    static final int INTERVAL_S = 5;

    /** How often a commit that found a device full is tried again, beside those that somebody asks for. */
    private static final int RETRY_S = 1;

    /** Rounds of storing named files before the freeze; where new ones come faster than that, the last go with what is stored. */
    private static final int MAX_ROUNDS = 3;

    private final MetadataStore metadata;
    private final ContainerStore containers;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final DeviceSpaces devices;
    private final long maxPendingBytes;

    /** Changes hold it shared, a freeze exclusively. Taken before any node's monitor. */
    private final ReentrantReadWriteLock changeLock;

    private final ReentrantLock commitLock = new ReentrantLock();
    private final AtomicLong asked = new AtomicLong();
    private long answered;
    private final AtomicLong commits = new AtomicLong();
    private final Set<Node> named = ConcurrentHashMap.newKeySet();
    private volatile @Nullable IOException failure;
    /** Frozen, and not durable: no device had room for it yet. Guarded by the commit lock. */
    private @Nullable Frozen waiting;

    private final ScheduledExecutorService timer;

    Committer(
            MetadataStore metadata,
            ContainerStore containers,
            NodeTable nodes,
            FileWriter writer,
            DeviceSpaces devices,
            ReentrantReadWriteLock changeLock,
            long maxPendingBytes,
            String name) {
        this.metadata = metadata;
        this.containers = containers;
        this.nodes = nodes;
        this.writer = writer;
        this.devices = devices;
        this.changeLock = changeLock;
        this.maxPendingBytes = maxPendingBytes;
        timer = Executors.newSingleThreadScheduledExecutor(Threads.named(name + "-commit"));
    }

    void start() {
        timer.execute(devices::checkBallasts);
        timer.scheduleWithFixedDelay(this::tick, INTERVAL_S, INTERVAL_S, TimeUnit.SECONDS);
        timer.scheduleWithFixedDelay(this::retry, RETRY_S, RETRY_S, TimeUnit.SECONDS);
    }

    private void retry() {
        if (devices.isShort() && failure == null) {
            tick();
        }
    }

    private void tick() {
        try {
            retryIfShort();
            writer.storeOlderThan(TimeUnit.SECONDS.toNanos(INTERVAL_S));
            commit();
            devices.restoreBallasts();
        } catch (NoSpaceException e) {
            log.debug("the periodic commit waits for space: {}", e.getMessage());
        } catch (IOException | RuntimeException | Error e) {
            // Whatever it is: the next tick must come, or nothing would be committed any more.
            log.error("the periodic commit failed", e);
        }
    }

    /** The lock that changes of metadata hold. */
    Lock changes() {
        return changeLock.readLock();
    }

    /** Held while nothing may change; for the checker. */
    Lock exclusive() {
        return changeLock.writeLock();
    }

    /** Notes that a file got a name, by being made, linked or renamed. */
    void noteNamed(Node node) {
        named.add(node);
    }

    long commits() {
        return commits.get();
    }

    /** EROFS after a commit failed. Every change asks first; commits if much is pending. */
    void checkWritable() throws IOException {
        checkNotFailed();
        if (metadata.pendingBytes() > maxPendingBytes || nodes.hasManyDirty()) {
            commit();
        }
    }

    /** As {@link #checkWritable}, without a commit. */
    void checkNotFailed() throws IOException {
        IOException cause = failure;
        if (cause != null) {
            throw new PosixException(
                    PosixException.Reason.EROFS,
                    "the volume is read-only since a commit failed: " + cause.getMessage());
        }
    }

    /** Whether something waits for space. */
    boolean isShort() {
        return devices.isShort();
    }

    /** To be called before dirty bytes are stored: while there is a shortage nothing is, and only a commit ends it. */
    void retryIfShort() throws IOException {
        if (devices.isShort()) {
            commit();
        }
    }

    /** ENOSPC if metadata cannot take records of {@code bytes} more. Changes that free something do not ask. */
    void checkRoom(long bytes) throws IOException {
        devices.admitMetadata(bytes);
    }

    /** Returns when every change made before the call is durable. ENOSPC if it is not, and becomes so when there is space. */
    void commit() throws IOException {
        long ticket = asked.incrementAndGet();
        commitLock.lock();
        try {
            if (answered >= ticket) {
                return;
            }
            IOException earlier = failure;
            if (earlier != null) {
                throw new IOException("an earlier commit failed: " + earlier.getMessage(), earlier);
            }
            long answering = asked.get();
            run();
            answered = answering;
        } finally {
            commitLock.unlock();
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
            failure = cause;
            log.error("a commit failed; the volume is read-only from now on, what was durable stays", e);
            throw cause;
        }
    }

    private void makeDurable() throws IOException {
        Frozen earlier = waiting;
        if (earlier != null) {
            makeDurable(earlier);
        }
        Frozen frozen = freeze();
        waiting = frozen;
        makeDurable(frozen);
    }

    /**
     * Writes what was frozen, now or in an attempt that found a device full. Trying again does no harm: the containers are forced
     * first, which fails for good if one of their chunks was lost; and the batch holds whole records, so that it makes no difference
     * if the earlier attempt was durable after all.
     */
    private void makeDurable(Frozen frozen) throws IOException {
        containers.force();
        metadata.commit(frozen.generation());
        waiting = null;
        commits.incrementAndGet();
        nodes.evict(frozen.encoded());
    }

    /** What one commit writes, and the nodes whose changes it holds. */
    private record Frozen(Generation generation, Iterable<Node> encoded) {}

    /** Stores what must not come after its name, then freezes; tried again if another name came in between. */
    private Frozen freeze() throws IOException {
        for (int round = 1; ; round++) {
            storeNamed();
            changeLock.writeLock().lock();
            try {
                if (named.isEmpty() || round == MAX_ROUNDS) {
                    Iterable<Node> encoded = nodes.encodeDirty();
                    return new Frozen(metadata.freeze(), encoded);
                }
            } finally {
                changeLock.writeLock().unlock();
            }
        }
    }

    private void storeNamed() {
        for (Node node : named) {
            named.remove(node);
            // A failure stays with the file, for whoever syncs or closes it; others' changes must not suffer for it.
            writer.storeLogging(node);
        }
    }

    /** Ends the periodic commits. The caller commits once more if it wants to. */
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
