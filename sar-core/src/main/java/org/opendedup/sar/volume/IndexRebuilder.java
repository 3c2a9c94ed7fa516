package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.ReferenceCounts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the fingerprint index up to date with the containers: reads the directories of those that it does not cover.
 * Skips chunks that no file ever referred to, and those that are tombstoned. Runs concurrently with normal work;
 * content that is not covered yet is at worst stored twice. First logs which packs are missing.
 */
final class IndexRebuilder implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(IndexRebuilder.class);

    /** Number of chunks looked up and inserted at a time. */
    private static final int BATCH_CHUNKS = 512;

    private final ContainerStore containers;
    private final ChunkIndex index;
    private final ReferenceCounts counts;
    private final String volume;
    private final Thread thread;
    private final CountDownLatch done = new CountDownLatch(1);
    private final AtomicLong examined = new AtomicLong();
    private volatile boolean closing;
    private volatile boolean complete;
    /** Whether a container could not be covered; used by the one thread only. */
    private boolean failed;
    /** Whether the disk of the index is full; used by the one thread only. */
    private boolean full;

    IndexRebuilder(ContainerStore containers, ChunkIndex index, ReferenceCounts counts, String name) {
        this.containers = containers;
        this.index = index;
        this.counts = counts;
        volume = name;
        thread = Threads.named(name + "-index").newThread(this::run);
    }

    /** Starts the thread, and waits until it ends, for at most {@code waitMs} milliseconds. */
    void start(long waitMs) throws IOException {
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

    /** Returns how far the index is. */
    VolumeCondition.Index condition() {
        boolean usable = index.keepsAnything();
        boolean updating = thread.isAlive();
        return new VolumeCondition.Index(usable, updating, complete, examined.get());
    }

    private void run() {
        try {
            MissingPacks.log(containers, volume);
            if (!index.keepsAnything()) {
                return;
            }
            long[] covered = new long[] {0};
            containers.forEachContainer(container -> {
                covered[0] += cover(container) ? 1 : 0;
                examined.incrementAndGet();
            });
            complete = !failed && !closing;
            if (covered[0] > 0) {
                log.info("the fingerprint index was brought up to date with {} containers", covered[0]);
            }
        } catch (IOException | RuntimeException e) {
            log.error("the fingerprint index could not be brought up to date; some content may be stored twice", e);
        } finally {
            done.countDown();
        }
    }

    private boolean cover(long container) {
        if (full) {
            return false;
        }
        try {
            if (closing || index.frameTable(container) != null) {
                return false;
            }
            BitSet alive = counts.alive(container);
            if (alive.isEmpty()) {
                return false;
            }
            SealedContainer directory = containers.directory(container);
            for (int slot = 0; slot < directory.slots(); slot += BATCH_CHUNKS) {
                insert(directory, alive, slot, Math.min(directory.slots(), slot + BATCH_CHUNKS));
            }
            index.cover(container, directory.frameTableBytes());
            return true;
        } catch (IOException e) {
            if (Device.isFull(e)) {
                full = true;
                failed = true;
                log.warn(
                        "the disk of the fingerprint index is full; what is not indexed may be stored twice: {}",
                        e.getMessage());
                return false;
            }
            failed = true;
            log.error("container {} cannot be indexed; its content may be stored twice: {}", container, e.getMessage());
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
        index.lookup(segment);
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
        index.insert(segment);
    }

    @Override
    public void close() {
        closing = true;
        try {
            thread.join(TimeUnit.MINUTES.toMillis(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
