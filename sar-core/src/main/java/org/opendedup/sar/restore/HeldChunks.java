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
    /** A frame of which less is wanted would take too much more memory than is counted. */
    private static final int MIN_SHARED_PERCENT = 85;

    private final Shard[] shards = new Shard[SHARDS];
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong mostBytes = new AtomicLong();

    HeldChunks() {
        Arrays.setAll(shards, i -> new Shard());
    }

    /**
     * A chunk that has come.
     *
     * @param data its bytes are in it, and perhaps others beside them; not to be changed
     * @param check the first four bytes of its fingerprint, as {@link org.opendedup.sar.common.Fingerprints#check}
     */
    record Held(byte[] data, int offset, int length, int check) {
        static Held copyOf(byte[] source, int offset, int length, int check) {
            return new Held(Arrays.copyOfRange(source, offset, offset + length), 0, length, check);
        }
    }

    /** Changed with its shard's monitor. Who waits for it has its own monitor only. */
    private static final class Holding {
        private int holders;
        /** Whether somebody is going to bring the bytes, if they are not there. */
        private volatile boolean comes;

        private volatile @Nullable Held held;
        private volatile int waiting;

        /** Wakes who waits. He says so before he looks, and this looks after a change was made: so none sleeps through it. */
        void changed() {
            if (waiting > 0) {
                synchronized (this) {
                    notifyAll();
                }
            }
        }

        synchronized @Nullable Held await() throws InterruptedException {
            waiting++;
            try {
                while (held == null && comes) {
                    wait();
                }
            } finally {
                waiting--;
            }
            return held;
        }
    }

    /** The chunks of some of the containers: all of one container are in one shard. Guarded by its monitor. */
    private static final class Shard {
        private final LongMap<Holding> chunks = new LongMap<>();
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
            holding.changed();
            Held held = holding.held;
            if (held != null) {
                bytes.addAndGet(-held.length);
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
        Holding holding;
        synchronized (shard) {
            holding = shard.chunks.get(chunkId);
        }
        return holding == null ? null : holding.await();
    }

    /** The chunk's bytes will not come, if they have not; who waits for them is told. */
    void giveUp(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            if (holding != null && holding.held == null) {
                holding.comes = false;
                holding.changed();
            }
        }
    }

    /**
     * Takes over, from a frame, the chunks that are held and have no bytes yet: the frame itself if that is nearly all of it, else
     * copies.
     */
    void fill(Frame frame) {
        long added;
        Shard shard = shard(frame.container());
        synchronized (shard) {
            boolean shared = wantedBytes(shard, frame) >= frame.data().length * MIN_SHARED_PERCENT / 100;
            added = fill(shard, frame, shared);
        }
        noteAdded(added);
    }

    private static int wantedBytes(Shard shard, Frame frame) {
        int wanted = 0;
        for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
            Holding holding = shard.chunks.get(ChunkId.of(frame.container(), slot));
            wanted += holding == null || holding.held != null ? 0 : frame.length(slot);
        }
        return wanted;
    }

    private static long fill(Shard shard, Frame frame, boolean shared) {
        long added = 0;
        for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
            Holding holding = shard.chunks.get(ChunkId.of(frame.container(), slot));
            if (holding != null && holding.held == null) {
                int offset = frame.offset(slot);
                int length = frame.length(slot);
                holding.held = shared
                        ? new Held(frame.data(), offset, length, frame.check(slot))
                        : Held.copyOf(frame.data(), offset, length, frame.check(slot));
                holding.changed();
                added += length;
            }
        }
        return added;
    }

    /** Takes over a chunk's bytes, by copying them, if it is held and has none yet. */
    void fill(long chunkId, byte[] source, int offset, int length, int check) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            if (holding == null || holding.held != null) {
                return;
            }
            holding.held = Held.copyOf(source, offset, length, check);
            holding.changed();
        }
        noteAdded(length);
    }

    /** The chunk will be held for long: its bytes must not keep those of its neighbours in memory. */
    void detach(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.chunks.get(chunkId);
            Held held = holding == null ? null : holding.held;
            if (holding != null && held != null && held.length < held.data.length) {
                holding.held = Held.copyOf(held.data, held.offset, held.length, held.check);
            }
        }
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
