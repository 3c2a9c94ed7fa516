package org.opendedup.sar.restore;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.LongIntMap;
import org.opendedup.sar.container.Frame;

/**
 * Bytes of the chunks that readers in sequence are going to want: each chunk once, however many readers and places of their files
 * want it, from the first {@link #hold} to the last {@link #release}. Chunks do not change, so what is held cannot be out of date,
 * whatever is written meanwhile. Safe for use by many threads.
 */
final class HeldChunks {
    private static final int SHARDS = 16;
    /** A frame of which less is wanted takes too much more memory than what is wanted. */
    private static final int MIN_SHARED_PERCENT = 85;
    /** A {@link Holding} with its place in the map, and a {@link Held}. */
    private static final int HOLDING_BYTES = 112;

    private final Shard[] shards = new Shard[SHARDS];
    private final ByteGauge memory;

    /** @param memory is told of what is held: the arrays that chunks are in, as long as one of their chunks is held */
    HeldChunks(ByteGauge memory) {
        this.memory = memory;
        Arrays.setAll(shards, i -> new Shard());
    }

    /**
     * A chunk that has come.
     *
     * @param data its bytes are in it, and perhaps others beside them; not to be changed
     * @param check the first four bytes of its fingerprint, as {@link org.opendedup.sar.common.Fingerprints#check}
     * @param shared what counts the chunks in {@code data}; null: there is this one alone
     */
    record Held(
            byte[] data,
            int offset,
            int length,
            int check,
            @Nullable SharedFrame shared) {
        static Held copyOf(byte[] source, int offset, int length, int check) {
            return new Held(Arrays.copyOfRange(source, offset, offset + length), 0, length, check, null);
        }
    }

    /** The bytes of a frame, several of whose chunks are held. Guarded by their shard's monitor. */
    private static final class SharedFrame {
        private int chunks;
    }

    /** Changed with its shard's monitor. Who waits for it has its own monitor only. */
    private static final class Holding {
        private int holders;
        /** How many are about to bring the bytes, if they are not there. */
        private volatile int bringers;

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
                while (held == null && bringers > 0) {
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
        /** Chunk ids to places in {@link #holdings}. */
        private final LongIntMap places = new LongIntMap();

        private @Nullable Holding[] holdings = new Holding[64];
        /** Places that are free, up to {@link #freeCount}, and all from {@link #used} on. */
        private int[] free = new int[64];

        private int freeCount;
        private int used;

        @Nullable
        Holding get(long chunkId) {
            int place = places.get(chunkId);
            return place == LongIntMap.ABSENT ? null : holdings[place];
        }

        /** Of a chunk that is held. */
        Holding holding(long chunkId) {
            Holding holding = get(chunkId);
            if (holding == null) {
                throw new IllegalStateException("chunk " + ChunkId.toString(chunkId) + " is not held");
            }
            return holding;
        }

        /** A new one for a chunk that has none. */
        Holding add(long chunkId) {
            int place = freeCount > 0 ? free[--freeCount] : used++;
            if (place == holdings.length) {
                holdings = Arrays.copyOf(holdings, 2 * place);
                free = Arrays.copyOf(free, 2 * place);
            }
            Holding holding = new Holding();
            holdings[place] = holding;
            places.put(chunkId, place);
            return holding;
        }

        void remove(long chunkId) {
            int place = places.get(chunkId);
            places.remove(chunkId);
            holdings[place] = null;
            free[freeCount++] = place;
        }
    }

    private Shard shard(long container) {
        return shards[(int) (container & SHARDS - 1)];
    }

    /** One more is going to want the chunk, and will {@link #release} it. */
    void hold(long chunkId) {
        hold(chunkId, 0);
    }

    /** As {@link #hold}, and the caller is about to bring its bytes: who wants them is to wait until it says {@link #brought}. */
    void holdToBring(long chunkId) {
        hold(chunkId, 1);
    }

    private void hold(long chunkId, int bringers) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            if (holding == null) {
                holding = shard.add(chunkId);
                memory.add(HOLDING_BYTES);
            }
            holding.holders++;
            holding.bringers += bringers;
        }
    }

    /** Undoes one {@link #hold}; behind the last one the chunk's bytes are forgotten. */
    void release(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.holding(chunkId);
            if (--holding.holders > 0) {
                return;
            }
            shard.remove(chunkId);
            Held held = holding.held;
            memory.add(-HOLDING_BYTES - (held == null ? 0 : freedBytes(held)));
        }
    }

    /** Memory that is free when a chunk is no longer held in this form. */
    private static int freedBytes(Held held) {
        SharedFrame shared = held.shared;
        return shared == null || --shared.chunks == 0 ? held.data.length : 0;
    }

    /** The chunk, if it is held and its bytes have come. */
    @Nullable
    Held get(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            return holding == null ? null : holding.held;
        }
    }

    /** As {@link #get}, but waits for the bytes of a chunk that is held, until nobody is about to bring them. */
    @Nullable
    Held await(long chunkId) throws InterruptedException {
        Shard shard = shard(ChunkId.container(chunkId));
        Holding holding;
        synchronized (shard) {
            holding = shard.get(chunkId);
        }
        return holding == null ? null : holding.await();
    }

    /** Undoes what {@link #holdToBring} said. If the bytes have not come and nobody else brings them, who waits is told. */
    void brought(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.holding(chunkId);
            holding.bringers--;
            holding.changed();
        }
    }

    /** Whether one of these chunks is held and has no bytes. */
    boolean lacks(long container, int firstSlot, int count) {
        Shard shard = shard(container);
        synchronized (shard) {
            for (int slot = firstSlot; slot < firstSlot + count; slot++) {
                Holding holding = shard.get(ChunkId.of(container, slot));
                if (holding != null && holding.held == null) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Takes over, from a frame, the chunks that are held and have no bytes yet: the frame itself if that is nearly all of it, else
     * copies.
     */
    void fill(Frame frame) {
        Shard shard = shard(frame.container());
        synchronized (shard) {
            boolean shared = wantedBytes(shard, frame) >= frame.data().length * MIN_SHARED_PERCENT / 100;
            memory.add(fill(shard, frame, shared ? new SharedFrame() : null));
        }
    }

    private static int wantedBytes(Shard shard, Frame frame) {
        int wanted = 0;
        for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
            Holding holding = shard.get(ChunkId.of(frame.container(), slot));
            wanted += holding == null || holding.held != null ? 0 : frame.length(slot);
        }
        return wanted;
    }

    /** Returns the memory that it takes. */
    private static long fill(Shard shard, Frame frame, @Nullable SharedFrame shared) {
        long added = 0;
        for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
            Holding holding = shard.get(ChunkId.of(frame.container(), slot));
            if (holding != null && holding.held == null) {
                int offset = frame.offset(slot);
                int length = frame.length(slot);
                if (shared == null) {
                    holding.held = Held.copyOf(frame.data(), offset, length, frame.check(slot));
                    added += length;
                } else {
                    holding.held = new Held(frame.data(), offset, length, frame.check(slot), shared);
                    shared.chunks++;
                }
                holding.changed();
            }
        }
        return shared == null || shared.chunks == 0 ? added : frame.data().length;
    }

    /** Takes over a chunk's bytes, by copying them, if it is held and has none yet. */
    void fill(long chunkId, byte[] source, int offset, int length, int check) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            if (holding == null || holding.held != null) {
                return;
            }
            holding.held = Held.copyOf(source, offset, length, check);
            holding.changed();
            memory.add(length);
        }
    }

    /** The chunk will be held for long: its bytes must not keep those of its neighbours in memory. */
    void detach(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            Held held = holding == null ? null : holding.held;
            if (holding != null && held != null && held.length < held.data.length) {
                holding.held = Held.copyOf(held.data, held.offset, held.length, held.check);
                memory.add(held.length - freedBytes(held));
            }
        }
    }

    /** What all readers in sequence take of the memory, the chunks held among it. */
    ByteGauge memory() {
        return memory;
    }
}
