package org.opendedup.sar.volume.engine;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.volume.store.RenewableIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the fingerprint index up to date with the containers: reads the directories of those that it does not cover.
 * Skips chunks that no file ever referred to, and those that are tombstoned. Runs concurrently with normal work;
 * content that is not covered yet is at worst stored twice. Directories are read in turns of
 * {@link Importance#BACKGROUND}, so that programs which read come first. Afterwards looks every 20 s whether the index
 * is lost, and makes it anew, and whether one that a full disk kept back has room now.
 */
public final class IndexRebuilder implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(IndexRebuilder.class);

    /** Containers of a store whose directories are asked for at the same time, in one turn. */
    private static final int AT_ONCE = 16;

    /** Number of chunks looked up and inserted at a time. */
    private static final int BATCH_CHUNKS = 512;

    /** Maximum number of looks that are skipped after failures: an hour. A disk that hangs costs a thread each time. */
    private static final int MAX_SKIPPED = 180;

    private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Time between two looks at whether the index is lost, in milliseconds. */
    private final long lookMs = Long.getLong("sar.index.look.ms", 20_000);

    private final ContainerStore containers;
    private final ChunkIndex index;
    private final MetadataStore metadata;
    private final ReferenceCounts counts;
    private final DiskQueue disk;
    /** What is filled: the index, or what replaced it since. Used by the one thread only. */
    private ChunkIndex filled;

    private final Room room;
    private final Runnable first;
    private final String volume;
    private final Thread thread;
    private final CountDownLatch done = new CountDownLatch(1);
    private final AtomicLong examined = new AtomicLong();
    private final AtomicLong expected = new AtomicLong();
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile boolean updating;
    /** Whether the index is known to be lost, and not replaced yet. */
    private volatile boolean lost;
    /**
     * If not 0: containers with lower ids that were open when the index was lost are added when all are sealed. Used by
     * the one thread only.
     */
    private long firstUnseen;

    private boolean saidThatItFails;
    /** Number of looks to skip after failures; used by the one thread only. */
    private int skip;

    private int failures;
    private volatile boolean complete;
    /** Number of containers that could not be covered in the last update; used by the one thread only. */
    private long failed;
    /** Why the first of them could not; used by the one thread only. */
    private String reason = "";
    /** Number of updates in succession that left the index incomplete; used by the one thread only. */
    private int incomplete;
    /** Number of looks until the next update of an incomplete index; used by the one thread only. */
    private int untilUpdate;
    /** Whether the disk of the index is full; used by the one thread only. */
    private boolean full;

    /** Told when containers were added to the index. Guarded by this, as is the next. */
    private Runnable updated = () -> {};

    private boolean hasUpdated;

    /** Tells whether the index may grow: its disk may be one that others must write to. */
    @FunctionalInterface
    public interface Room {
        boolean isThere() throws IOException;
    }

    /**
     * @param disk queue of the device that holds the containers
     * @param first what the thread does before, because it reads the container table, too
     */
    public IndexRebuilder(
            ContainerStore containers,
            ChunkIndex index,
            MetadataStore metadata,
            DiskQueue disk,
            Room room,
            Runnable first,
            String name) {
        this.room = room;
        this.containers = containers;
        this.index = index;
        this.metadata = metadata;
        this.disk = disk;
        this.first = first;
        volume = name;
        filled = index;
        counts = metadata.counts();
        thread = Threads.named(name + "-index").newThread(this::run);
    }

    /** Starts the thread, and waits until it ends, for at most {@code waitMs} milliseconds. */
    public void start(long waitMs) throws IOException {
        updating = true;
        thread.start();
        try {
            if (waitMs > 0 && !done.await(waitMs, TimeUnit.MILLISECONDS)) {
                log.info("updating the fingerprint index continues in the background");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while opening the volume", e);
        }
    }

    /** Sets what runs each time containers were added to the index; runs it at once if some were added already. */
    public synchronized void whenUpdated(Runnable toTell) {
        updated = toTell;
        if (hasUpdated) {
            toTell.run();
        }
    }

    private synchronized void tellUpdated() {
        hasUpdated = true;
        updated.run();
    }

    /** Returns how far the index is. */
    public VolumeCondition.Index condition() {
        boolean usable = index.keepsAnything() && !lost;
        return new VolumeCondition.Index(usable, updating, complete, examined.get(), expected.get(), index.use());
    }

    private void run() {
        try {
            first.run();
            if (index.keepsAnything() && room.isThere()) {
                update();
            } else if (index.keepsAnything()) {
                log.info("the disk is full; the fingerprint index is brought up to date when there is space");
            }
        } catch (IOException | RuntimeException e) {
            log.error("the fingerprint index could not be brought up to date; some content may be stored twice", e);
        } finally {
            updating = false;
            done.countDown();
        }
        try {
            while (index instanceof RenewableIndex renewable && !closing.await(lookMs, TimeUnit.MILLISECONDS)) {
                look(renewable);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Makes a lost index anew. Goes on until it has also the containers that were open at that time. */
    private void look(RenewableIndex renewable) {
        if (skip > 0) {
            skip--;
            return;
        }
        try {
            if (renewable.isLost()) {
                if (!lost) {
                    log.warn(
                            "the fingerprint index of {} is lost, damaged or cannot be written: duplicates may be"
                                    + " stored again until it is made anew, which begins now",
                            volume);
                }
                lost = true;
                complete = false;
                filled = renewable.renew(metadata.epochs().current(), metadata::firstFreeContainer);
                firstUnseen = renewable.firstUnseen();
                lost = false;
                updating = true;
                update();
            } else if (firstUnseen > 0 && !metadata.containers().hasOpenBelow(firstUnseen)) {
                // Those that were open when the index was lost are sealed now.
                firstUnseen = 0;
                updating = true;
                update();
            } else if (!complete && --untilUpdate <= 0 && room.isThere()) {
                updating = true;
                update();
            }
            failures = 0;
        } catch (IOException | RuntimeException e) {
            skip = looksAfter(failures++);
            if (!saidThatItFails) {
                saidThatItFails = true;
                log.warn("the fingerprint index cannot be made anew yet; it is tried again: {}", e.getMessage());
            }
        } finally {
            updating = false;
        }
    }

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    private static int looksAfter(int failures) {
        return Math.min(MAX_SKIPPED, 1 << Math.min(failures, 30));
    }

    private void update() throws IOException {
        untilUpdate = looksAfter(incomplete++);
        failed = 0;
        full = false;
        examined.set(0);
        expected.set(metadata.containers().containers());
        Progress progress = new Progress();
        long[] covered = new long[] {0};
        int atOnce = containers.answersAtOnce() ? AT_ONCE : 1;
        List<Long> some = new ArrayList<>();
        containers.forEachContainer(container -> {
            some.add(container);
            if (some.size() == atOnce) {
                covered[0] += cover(some, progress);
                some.clear();
            }
            return !isClosing();
        });
        covered[0] += cover(some, progress);
        complete = failed == 0 && !isClosing();
        incomplete = complete ? 0 : incomplete;
        if (failed > 0 && !saidThatItFails) {
            log.warn(
                    "{} containers cannot be indexed, and their content may be stored twice; it is tried again. The"
                            + " first: {}",
                    full ? "some" : failed,
                    reason);
        }
        saidThatItFails = failed > 0;
        if (covered[0] > 0) {
            log.info("the fingerprint index was brought up to date with {} containers", covered[0]);
            tellUpdated();
        }
    }

    /** Logs how far a long update is. */
    private final class Progress {
        private final long beganNanos = System.nanoTime();
        private long loggedNanos = beganNanos;

        void at(long done) {
            long now = System.nanoTime();
            if (now - loggedNanos >= LOG_NANOS) {
                loggedNanos = now;
                long left = Math.max(0, expected.get() - done);
                double seconds = (now - beganNanos) / 1e9 / done * left;
                log.info(
                        "the fingerprint index is being rebuilt: {} of {} containers, {} s left",
                        done,
                        expected.get(),
                        (long) Math.ceil(seconds));
            }
        }
    }

    /** Adds containers to the index. Returns how many it did not have. */
    private int cover(List<Long> some, Progress progress) {
        Map<Long, BitSet> wanted = new LinkedHashMap<>();
        for (long container : some) {
            try {
                BitSet alive = isClosing() || full || filled.frameTable(container) != null
                        ? new BitSet()
                        : counts.alive(container);
                if (!alive.isEmpty()) {
                    wanted.put(container, alive);
                }
            } catch (IOException e) {
                noteFailure(container, e);
            }
        }
        int covered = 0;
        for (SealedContainer directory : wanted.isEmpty() ? List.<SealedContainer>of() : directories(wanted.keySet())) {
            BitSet alive = wanted.getOrDefault(directory.container(), new BitSet());
            covered += cover(directory, alive) ? 1 : 0;
        }
        some.forEach(container -> progress.at(examined.incrementAndGet()));
        return covered;
    }

    /** Reads directories, in one turn at the device. */
    private List<SealedContainer> directories(Collection<Long> wanted) {
        List<SealedContainer> found = new ArrayList<>();
        try (DiskQueue.Turn turn = disk.enter(Importance.BACKGROUND)) {
            turn.expects();
            wanted.forEach(container -> containers.expect(container, 0));
            for (long container : wanted) {
                try {
                    found.add(containers.directory(container));
                } catch (IOException e) {
                    noteFailure(container, e);
                }
            }
        }
        return found;
    }

    private void noteFailure(long container, IOException failure) {
        full |= Device.isFull(failure);
        if (failed++ == 0 || full) {
            reason = "container " + container + ": " + (full ? "the disk is full: " : "") + failure.getMessage();
        }
    }

    private boolean cover(SealedContainer directory, BitSet alive) {
        if (full || isClosing()) {
            return false;
        }
        try {
            for (int slot = 0; slot < directory.slots(); slot += BATCH_CHUNKS) {
                insert(directory, alive, slot, Math.min(directory.slots(), slot + BATCH_CHUNKS));
            }
            filled.cover(directory.container(), directory.frameTableBytes());
            return true;
        } catch (IOException e) {
            noteFailure(directory.container(), e);
            return false;
        }
    }

    /**
     * Inserts those of slots {@code from} to {@code to} (exclusive) that are alive, except content that a younger
     * container has: that copy may replace one found damaged here.
     */
    private void insert(SealedContainer directory, BitSet alive, int from, int to) throws IOException {
        Segment segment = new Segment(0);
        for (int slot = from; slot < to; slot++) {
            segment.add(0, directory.length(slot), false);
        }
        System.arraycopy(
                directory.fingerprints(),
                from * Fingerprints.BYTES,
                segment.fingerprints(),
                0,
                (to - from) * Fingerprints.BYTES);
        filled.lookup(segment);
        Set<ByteBuffer> seen = new HashSet<>();
        for (int slot = alive.nextSetBit(from); slot >= 0 && slot < to; slot = alive.nextSetBit(slot + 1)) {
            int chunk = slot - from;
            int at = chunk * Fingerprints.BYTES;
            boolean isFirst = seen.add(ByteBuffer.wrap(segment.fingerprints(), at, Fingerprints.BYTES)
                    .slice());
            if (isFirst
                    && ChunkId.container(segment.chunkId(chunk)) < directory.container()
                    && directory.length(slot) > 0) {
                segment.setChunkId(chunk, ChunkId.of(directory.container(), slot));
                segment.setFresh(chunk, true);
            }
        }
        filled.insert(segment);
    }

    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join(TimeUnit.MINUTES.toMillis(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
