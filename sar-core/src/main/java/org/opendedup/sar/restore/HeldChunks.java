package org.opendedup.sar.restore;

import java.util.Arrays;
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
    private static final int SHARDS = 16;

    private final Shard[] shards = new Shard[SHARDS];
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong mostBytes = new AtomicLong();

    HeldChunks() {
        Arrays.setAll(shards, i -> new Shard());
    }

    /** A chunk's bytes and the first four bytes of its fingerprint, as {@link org.opendedup.sar.common.Fingerprints#check}. */
    record Held(byte[] data, int check) {}

    private static final class Holding {
        private int holders;
        /** Whether somebody is going to bring the bytes, if they are not there. */
        private boolean comes;

        private @Nullable Held held;
    }

    /** The chunks of some of the containers: all of one container are in one shard. Guarded by its monitor. */
    private static final class Shard {
        private final LongMap<Holding> chunks = new LongMap<>();
        private int waiting;

        /** Something that others may wait for has changed. */
        void changed() {
            if (waiting > 0) {
                notifyAll();
            }
        }
    }

    private Shard shard(long container) {
        return shards[(int) (container & SHARDS - 1)];
    }

    /** One more is going to want the chunk, and will {@link #release} it. Its bytes may have yet to come. */
    void hold(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            if (holding == null) {
                holding = new Holding();
                shard.chunks.put(chunkId, holding);
            }
            holding.holders++;
            holding.comes = true;
        }
    }

    /** Undoes one {@link #hold}; behind the last one the chunk's bytes are forgotten. */
    void release(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            if (holding == null || --holding.holders > 0) {
                return;
            }
            shard.chunks.remove(chunkId);
            holding.comes = false;
            shard.changed();
            if (holding.held != null) {
                bytes.addAndGet(-holding.held.data.length);
            }
        }
    }

    /** The chunk, if it is held and its bytes have come. */
    @Nullable
    Held get(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            return holding == null ? null : holding.held;
        }
    }

    /** As {@link #get}, but waits for the bytes of a chunk that is held, until whoever was to bring them gives up. */
    @Nullable
    Held await(long chunkId) throws InterruptedException {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            if (holding == null) {
                return null;
            }
            shard.waiting++;
            try {
                while (holding.held == null && holding.comes) {
                    shard.wait();
                }
            } finally {
                shard.waiting--;
            }
            return holding.held;
        }
    }

    /** The chunk's bytes will not come, if they have not; who waits for them is told. */
    void giveUp(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            if (holding != null && holding.held == null) {
                holding.comes = false;
                shard.changed();
            }
        }
    }

    /** Takes over, from a frame, the chunks that are held and have no bytes yet, by copying them. */
    void fill(Frame frame) {
        long added = 0;
        Shard shard = shard(frame.container());
        synchronized (shard) {
            for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
                Holding holding = shard.chunks.get(ChunkId.of(frame.container(), slot));
                if (holding != null && holding.held == null) {
                    int from = frame.offset(slot);
                    byte[] copy = Arrays.copyOfRange(frame.data(), from, from + frame.length(slot));
                    holding.held = new Held(copy, frame.check(slot));
                    added += copy.length;
                }
            }
            shard.changed();
        }
        noteAdded(added);
    }

    /** Takes over a chunk's bytes, by copying them, if it is held and has none yet. */
    void fill(long chunkId, byte[] source, int offset, int length, int check) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            if (holding == null || holding.held != null) {
                return;
            }
            holding.held = new Held(Arrays.copyOfRange(source, offset, offset + length), check);
            shard.changed();
        }
        noteAdded(length);
    }

    private void noteAdded(long added) {
        mostBytes.accumulateAndGet(bytes.addAndGet(added), Math::max);
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
