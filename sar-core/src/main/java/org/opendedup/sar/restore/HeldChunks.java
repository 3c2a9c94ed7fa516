package org.opendedup.sar.restore;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
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
    /** A {@link Holding} with its places in the maps here and in {@link ChunkHolds}, a {@link Held} and its room's object: 140 to 220. */
    private static final int HOLDING_BYTES = 184;

    private final Shard[] shards = new Shard[SHARDS];
    private final ByteGauge memory;
    private final Slabs slabs;

    /**
     * @param memory is told of what is held: the arrays that chunks are in, as long as one of their chunks is held or used
     * @param maxBytes what would need more arrays is not brought, whoever wants it
     */
    HeldChunks(ByteGauge memory, long maxBytes) {
        this(memory, new Slabs(memory, maxBytes));
    }

    HeldChunks(ByteGauge memory, Slabs slabs) {
        this.memory = memory;
        this.slabs = slabs;
        Arrays.setAll(shards, i -> new Shard());
    }

    /** What holding a chunk of so many bytes takes of the memory. */
    static int heldBytes(int chunkBytes) {
        return Slabs.roomFor(chunkBytes) + HOLDING_BYTES;
    }

    /**
     * How much memory the chunks that one step brings may take beyond what was charged for them. How long a chunk is shows only when it
     * comes: a recipe may name 64 bytes of one of 64 KiB. Safe for use by many threads.
     */
    static final class Surplus {
        private final AtomicLong left = new AtomicLong();
        private final LongAdder refused = new LongAdder();

        void allow(long bytes) {
            left.addAndGet(bytes);
        }

        private boolean take(int bytes) {
            if (bytes <= 0 || left.addAndGet(-bytes) >= 0) {
                return true;
            }
            left.addAndGet(bytes);
            refused.add(bytes);
            return false;
        }

        /** What was not brought, for it would have been too much. */
        long refusedBytes() {
            return refused.sum();
        }
    }

    /**
     * A chunk that has come. Who was given it may use its bytes until it is closed, whatever becomes of the chunk.
     *
     * @param data its bytes are in it, and others beside them; not to be changed
     * @param check the first four bytes of its fingerprint, as {@link org.opendedup.sar.common.Fingerprints#check}
     * @param room of {@code data}, the chunk's; null: all of it is
     */
    record Held(byte[] data, int offset, int length, int check, Slabs.@Nullable Room room) implements AutoCloseable {
        private Held used() {
            if (room != null) {
                room.join();
            }
            return this;
        }

        @Override
        public void close() {
            if (room != null) {
                room.leave();
            }
        }
    }

    /** Changed with its shard's monitor. Who waits for it has its own monitor only. */
    private static final class Holding {
        private int holders;
        /** The most that one of them is charged for it. */
        private int charged;
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

        /** Waits while somebody is about to bring the bytes. */
        synchronized void await() throws InterruptedException {
            waiting++;
            try {
                while (held == null && bringers > 0) {
                    wait();
                }
            } finally {
                waiting--;
            }
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
            // What may find no memory comes first: nothing is taken by then.
            Holding holding = new Holding();
            int place = freeCount > 0 ? free[freeCount - 1] : used;
            if (place == holdings.length) {
                int[] moreFree = Arrays.copyOf(free, 2 * place);
                holdings = Arrays.copyOf(holdings, 2 * place);
                free = moreFree;
            }
            places.put(chunkId, place);
            holdings[place] = holding;
            if (freeCount > 0) {
                freeCount--;
            } else {
                used++;
            }
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

    /**
     * One more is going to want the chunk, and will {@link #release} it.
     *
     * @param charged bytes that he is charged for it, see {@link #heldBytes}
     */
    void hold(long chunkId, int charged) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            if (holding == null) {
                holding = shard.add(chunkId);
                memory.add(HOLDING_BYTES);
            }
            holding.holders++;
            holding.charged = Math.max(holding.charged, charged);
        }
    }

    /** Who holds the chunk is charged so much more for it. */
    void charge(long chunkId, int charged) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.holding(chunkId);
            holding.charged = Math.max(holding.charged, charged);
        }
    }

    /** The caller, who holds the chunk, is about to bring its bytes: who wants them is to wait until he says {@link #brought}. */
    void bring(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            shard.holding(chunkId).bringers++;
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
            memory.add(-HOLDING_BYTES);
            if (holding.held != null) {
                forget(holding.held);
            }
        }
    }

    private void forget(Held held) {
        if (held.room == null) {
            slabs.unreserve(held.data.length);
        }
        held.close();
    }

    /** Whether the chunk is held and its bytes have come. */
    boolean has(long chunkId) {
        return bytes(chunkId) >= 0;
    }

    /** How many bytes the chunk has, if it is held and they have come; otherwise -1. */
    int bytes(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            return holding == null || holding.held == null ? -1 : holding.held.length;
        }
    }

    /** The chunk, if it is held and its bytes have come; to be closed. */
    @Nullable
    Held use(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            return holding == null || holding.held == null ? null : holding.held.used();
        }
    }

    /** As {@link #use}, but waits for the bytes of a chunk that is held, until nobody is about to bring them. */
    @Nullable
    Held await(long chunkId) throws InterruptedException {
        Shard shard = shard(ChunkId.container(chunkId));
        Holding holding;
        synchronized (shard) {
            holding = shard.get(chunkId);
        }
        if (holding != null) {
            holding.await();
        }
        return use(chunkId);
    }

    /** Undoes one {@link #bring}. If the bytes have not come and nobody else brings them, who waits is told. */
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

    /** Copies, from a frame, the chunks that are held and have no bytes yet, as far as the memory goes. */
    void fill(Frame frame, Surplus surplus) {
        Shard shard = shard(frame.container());
        synchronized (shard) {
            for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
                Holding holding = shard.get(ChunkId.of(frame.container(), slot));
                if (holding != null && holding.held == null) {
                    fill(holding, frame.data(), frame.offset(slot), frame.length(slot), frame.check(slot), surplus);
                }
            }
        }
    }

    /** Copies a chunk's bytes, if it is held and has none yet, and there is memory for them. */
    void fill(long chunkId, byte[] source, int offset, int length, int check, Surplus surplus) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            if (holding != null && holding.held == null) {
                fill(holding, source, offset, length, check, surplus);
            }
        }
    }

    private void fill(Holding holding, byte[] source, int offset, int length, int check, Surplus surplus) {
        if (!surplus.take(heldBytes(length) - holding.charged)) {
            return;
        }
        if (length <= Slabs.MAX_BYTES) {
            Slabs.Room room = slabs.take(length);
            if (room == null) {
                return;
            }
            System.arraycopy(source, offset, room.bytes(), room.offset(), length);
            holding.held = new Held(room.bytes(), room.offset(), length, check, room);
        } else {
            byte[] own = slabs.array(length);
            if (own == null) {
                return;
            }
            System.arraycopy(source, offset, own, 0, length);
            holding.held = new Held(own, 0, length, check, null);
        }
        holding.changed();
    }

    /** Gives back memory that was taken for chunks and that nobody needed since this was called last. */
    void trim() {
        slabs.trim();
    }

    /** What all readers in sequence take of the memory, the chunks held among it. */
    ByteGauge memory() {
        return memory;
    }
}
