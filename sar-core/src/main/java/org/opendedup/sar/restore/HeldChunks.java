package org.opendedup.sar.restore;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.Frame;

/**
 * Bytes of the chunks that readers in sequence are going to want: each chunk once, however many readers and places of their files
 * want it, from the first {@link #hold} to the last {@link #release}. Chunks do not change, so what is held cannot be out of date,
 * whatever is written meanwhile. Safe for use by many threads.
 */
final class HeldChunks {
    private final ConcurrentMap<Long, Holding> chunks = new ConcurrentHashMap<>();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong mostBytes = new AtomicLong();

    /** A chunk's bytes and the first four bytes of its fingerprint, as {@link org.opendedup.sar.common.Fingerprints#check}. */
    record Held(byte[] data, int check) {}

    /** Changed under its own monitor, within the map's lock on its key. */
    private static final class Holding {
        private int holders;
        private boolean comes = true;
        private volatile @Nullable Held held;

        synchronized void add() {
            holders++;
            comes = true;
        }

        /** One holder less; whether there are others. */
        synchronized boolean remove() {
            holders--;
            if (holders == 0) {
                giveUp();
            }
            return holders > 0;
        }

        synchronized void set(Held arrived) {
            held = arrived;
            notifyAll();
        }

        synchronized void giveUp() {
            comes = false;
            notifyAll();
        }

        synchronized @Nullable Held await() throws InterruptedException {
            while (held == null && comes) {
                wait();
            }
            return held;
        }
    }

    /** One more is going to want the chunk, and will {@link #release} it. Its bytes may have yet to come. */
    void hold(long chunkId) {
        chunks.compute(chunkId, (id, known) -> {
            Holding holding = known == null ? new Holding() : known;
            holding.add();
            return holding;
        });
    }

    /** Undoes one {@link #hold}; behind the last one the chunk's bytes are forgotten. */
    void release(long chunkId) {
        chunks.computeIfPresent(chunkId, (id, holding) -> {
            if (holding.remove()) {
                return holding;
            }
            Held held = holding.held;
            if (held != null) {
                bytes.addAndGet(-held.data.length);
            }
            return null;
        });
    }

    /** The chunk, if it is held and its bytes have come. */
    @Nullable
    Held get(long chunkId) {
        Holding holding = chunks.get(chunkId);
        return holding == null ? null : holding.held;
    }

    /** As {@link #get}, but waits for the bytes of a chunk that is held, until whoever was to bring them gives up. */
    @Nullable
    Held await(long chunkId) throws InterruptedException {
        Holding holding = chunks.get(chunkId);
        return holding == null ? null : holding.await();
    }

    /** The chunk's bytes will not come, if they have not; who waits for them is told. */
    void giveUp(long chunkId) {
        Holding holding = chunks.get(chunkId);
        if (holding != null && holding.held == null) {
            holding.giveUp();
        }
    }

    /** Takes over, from a frame, the chunks that are held and have no bytes yet. */
    void fill(Frame frame) {
        for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
            fill(
                    ChunkId.of(frame.container(), slot),
                    frame.data(),
                    frame.offset(slot),
                    frame.length(slot),
                    frame.check(slot));
        }
    }

    /** Takes over a chunk's bytes, by copying them, if it is held and has none yet. */
    void fill(long chunkId, byte[] source, int offset, int length, int check) {
        Holding wanted = chunks.get(chunkId);
        if (wanted == null || wanted.held != null) {
            return;
        }
        chunks.computeIfPresent(chunkId, (id, holding) -> {
            if (holding.held == null) {
                holding.set(new Held(Arrays.copyOfRange(source, offset, offset + length), check));
                mostBytes.accumulateAndGet(bytes.addAndGet(length), Math::max);
            }
            return holding;
        });
    }

    /** Bytes of all chunks held now. */
    long bytes() {
        return bytes.get();
    }

    /** The most that {@link #bytes} ever was. */
    long mostBytes() {
        return mostBytes.get();
    }
}
