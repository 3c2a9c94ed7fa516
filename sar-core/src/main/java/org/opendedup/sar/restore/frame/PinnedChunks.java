package org.opendedup.sar.restore.frame;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.Frame;

/**
 * The bytes of chunks that sequential readers are going to want. Each chunk is stored once, however many readers, and
 * places of their files, want it: from the first {@link #hold} to the last {@link #release}. Chunks do not change, so a
 * held chunk is never out of date, whatever is written meanwhile. Safe for use by many threads.
 */
public final class PinnedChunks {
    private static final int SHARDS = 16;
    /**
     * Bytes of a {@link Holding} with its places in the maps here and in {@code ChunkHolds}, of a {@link Pinned} and of
     * its slot's object: 140 to 220.
     */
    private static final int HOLDING_BYTES = 184;

    private final Shard[] shards = new Shard[SHARDS];
    private final ByteGauge memory;
    private final Slabs slabs;

    /**
     * @param memory gauge of what is held: arrays with chunks, as long as one of their chunks is held or used
     * @param maxBytes most bytes of arrays; a chunk that would need more is not brought
     */
    public PinnedChunks(ByteGauge memory, long maxBytes) {
        this(memory, new Slabs(memory, maxBytes));
    }

    PinnedChunks(ByteGauge memory, Slabs slabs) {
        this.memory = memory;
        this.slabs = slabs;
        Arrays.setAll(shards, i -> new Shard());
    }

    /** Bytes of memory for holding a chunk of {@code chunkBytes} bytes. */
    public static int heldBytes(int chunkBytes) {
        return Slabs.slotBytesFor(chunkBytes) + HOLDING_BYTES;
    }

    /**
     * The memory that the chunks of one batch may use beyond their charge. The length of a chunk is known only when it
     * arrives: a recipe may name 64 bytes of a chunk of 64 KiB. Safe for use by many threads.
     */
    public static final class Surplus {
        private final AtomicLong left = new AtomicLong();
        private final LongAdder refused = new LongAdder();

        public void allow(long bytes) {
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

        /** Bytes of chunks that were not brought because the surplus was used up. */
        public long refusedBytes() {
            return refused.sum();
        }
    }

    /**
     * The bytes of a chunk that has arrived. Its user may read the bytes until it is closed, even if the chunk is
     * released meanwhile.
     *
     * @param data array with the chunk's bytes and others; not to be changed
     * @param fingerprintPrefix first four bytes of the chunk's fingerprint, as
     *     {@link org.opendedup.sar.common.Fingerprints#fingerprintPrefix}
     * @param slot the chunk's slot in {@code data}; null if all of {@code data} is the chunk's
     */
    public record Pinned(byte[] data, int offset, int length, int fingerprintPrefix, Slabs.@Nullable Slot slot)
            implements AutoCloseable {
        private Pinned used() {
            if (slot != null) {
                slot.join();
            }
            return this;
        }

        @Override
        public void close() {
            if (slot != null) {
                slot.leave();
            }
        }
    }

    /** Changed with its shard's monitor held. A thread that waits for it holds only its own monitor. */
    private static final class Holding {
        private int holders;
        /** Largest charge of a holder, in bytes. */
        private int charged;
        /** Number of batches that are about to bring the bytes, if they have not arrived. */
        private volatile int bringers;

        private volatile @Nullable Pinned pinned;
        private volatile int waiting;

        /**
         * Wakes the waiting threads. A thread increments {@link #waiting} first and then looks; this looks after the
         * change was made. So no thread sleeps through a change.
         */
        void changed() {
            if (waiting > 0) {
                synchronized (this) {
                    notifyAll();
                }
            }
        }

        /** Waits until the bytes have arrived, or no batch is about to bring them. */
        synchronized void await() throws InterruptedException {
            waiting++;
            try {
                while (pinned == null && bringers > 0) {
                    wait();
                }
            } finally {
                waiting--;
            }
        }
    }

    /** The chunks of some of the containers: all chunks of one container are in one shard. Guarded by its monitor. */
    private static final class Shard {
        private static final int NONE = -1;

        /** Maps chunk ids to places in {@link #holdings}. */
        private final LongIntHashMap places = new LongIntHashMap();

        private @Nullable Holding[] holdings = new Holding[64];
        /** Free places, up to {@link #freeCount}; all places from {@link #used} on are free as well. */
        private int[] free = new int[64];

        private int freeCount;
        private int used;

        @Nullable
        Holding get(long chunkId) {
            int place = places.getOrDefault(chunkId, NONE);
            return place == NONE ? null : holdings[place];
        }

        /** Returns the holding of a chunk that is held. */
        Holding holding(long chunkId) {
            Holding holding = get(chunkId);
            if (holding == null) {
                throw new IllegalStateException("chunk " + ChunkId.toString(chunkId) + " is not held");
            }
            return holding;
        }

        /** Adds a holding for a chunk that has none. */
        Holding add(long chunkId) {
            // Allocations that may run out of memory are made first: nothing is changed by then.
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
            int place = places.remove(chunkId);
            holdings[place] = null;
            free[freeCount++] = place;
        }
    }

    private Shard shard(long container) {
        return shards[(int) (container & SHARDS - 1)];
    }

    /**
     * Adds a holder of a chunk; each holder must call {@link #release}.
     *
     * @param charged bytes that the holder is charged for it, see {@link #heldBytes}
     */
    public void hold(long chunkId, int charged) {
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

    /** Notes that a holder of the chunk is charged {@code charged} bytes for it. */
    public void charge(long chunkId, int charged) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.holding(chunkId);
            holding.charged = Math.max(holding.charged, charged);
        }
    }

    /**
     * Notes that the caller, who holds the chunk, is about to bring its bytes: threads that want them wait until
     * {@link #brought} is called.
     */
    public void bring(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            shard.holding(chunkId).bringers++;
        }
    }

    /** Undoes one {@link #hold}; after the last one the chunk's bytes are released. */
    public void release(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.holding(chunkId);
            if (--holding.holders > 0) {
                return;
            }
            shard.remove(chunkId);
            memory.add(-HOLDING_BYTES);
            if (holding.pinned != null) {
                forget(holding.pinned);
            }
        }
    }

    private void forget(Pinned pinned) {
        if (pinned.slot == null) {
            slabs.unreserve(pinned.data.length);
        }
        pinned.close();
    }

    /** Whether the chunk is held and its bytes have arrived. */
    public boolean has(long chunkId) {
        return bytes(chunkId) >= 0;
    }

    /** Returns the length of the chunk in bytes, if it is held and its bytes have arrived; otherwise -1. */
    public int bytes(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            return holding == null || holding.pinned == null ? -1 : holding.pinned.length;
        }
    }

    /** Returns the chunk, to be closed, if it is held and its bytes have arrived; otherwise null. */
    @Nullable
    public Pinned use(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            return holding == null || holding.pinned == null ? null : holding.pinned.used();
        }
    }

    /** As {@link #use}, but waits for the bytes of a held chunk, as long as a batch is about to bring them. */
    @Nullable
    public Pinned await(long chunkId) throws InterruptedException {
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

    /**
     * Undoes one {@link #bring}. If the bytes have not arrived and no other batch brings them, waiting threads are
     * woken.
     */
    public void brought(long chunkId) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.holding(chunkId);
            holding.bringers--;
            holding.changed();
        }
    }

    /** Whether one of these chunks is held and its bytes have not arrived. */
    public boolean lacks(long container, int firstSlot, int count) {
        Shard shard = shard(container);
        synchronized (shard) {
            for (int slot = firstSlot; slot < firstSlot + count; slot++) {
                Holding holding = shard.get(ChunkId.of(container, slot));
                if (holding != null && holding.pinned == null) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Copies, from a frame, the chunks that are held here and have no bytes yet, as long as there is memory. Leaves out
     * chunks that are removed from the frame.
     */
    public void fill(Frame frame, Surplus surplus) {
        Shard shard = shard(frame.container());
        synchronized (shard) {
            for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
                Holding holding = shard.get(ChunkId.of(frame.container(), slot));
                if (holding != null && holding.pinned == null && frame.holds(slot)) {
                    fill(
                            holding,
                            frame.data(),
                            frame.offset(slot),
                            frame.length(slot),
                            frame.fingerprintPrefix(slot),
                            surplus);
                }
            }
        }
    }

    /** Copies a chunk's bytes, if it is held and has none yet, and there is memory for them. */
    public void fill(long chunkId, byte[] source, int offset, int length, int fingerprintPrefix, Surplus surplus) {
        Shard shard = shard(ChunkId.container(chunkId));
        synchronized (shard) {
            Holding holding = shard.get(chunkId);
            if (holding != null && holding.pinned == null) {
                fill(holding, source, offset, length, fingerprintPrefix, surplus);
            }
        }
    }

    private void fill(Holding holding, byte[] source, int offset, int length, int fingerprintPrefix, Surplus surplus) {
        if (!surplus.take(heldBytes(length) - holding.charged)) {
            return;
        }
        if (length <= Slabs.MAX_BYTES) {
            Slabs.Slot slot = slabs.take(length);
            if (slot == null) {
                return;
            }
            System.arraycopy(source, offset, slot.bytes(), slot.offset(), length);
            holding.pinned = new Pinned(slot.bytes(), slot.offset(), length, fingerprintPrefix, slot);
        } else {
            byte[] own = slabs.array(length);
            if (own == null) {
                return;
            }
            System.arraycopy(source, offset, own, 0, length);
            holding.pinned = new Pinned(own, 0, length, fingerprintPrefix, null);
        }
        holding.changed();
    }

    /** Releases free arrays that were not needed since the last call. */
    public void trim() {
        slabs.trim();
    }

    /** Returns the gauge of the memory of all sequential readers, including the held chunks. */
    public ByteGauge memory() {
        return memory;
    }
}
