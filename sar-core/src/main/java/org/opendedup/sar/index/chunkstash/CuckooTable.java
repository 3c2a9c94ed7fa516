package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;

/**
 * A hash table from fingerprints to pointers that stores no fingerprint: a slot is a signature of two bytes and a
 * pointer of four or five (ChunkStash, section 3.2). Fingerprints are placed by cuckoo hashing. A fingerprint has a
 * number of candidate positions, usually 24 as in the paper, but they are the slots of buckets with
 * {@value #BUCKET_SLOTS} each instead of single slots: so an unknown fingerprint costs three accesses to memory instead
 * of 24. The buckets come from double hashing, {@code h(i) = g1 + i * g2}: the upper 16 bits of {@code h(i)} are the
 * signature in bucket {@code i}, so that two fingerprints that agree in one bucket do not agree in the others; the 32
 * bits below choose the bucket. Fingerprints are random, so two parts of one are g1 and g2.
 *
 * <p>If all candidates are occupied, a fingerprint is moved to another of its buckets, which needs its bytes: they are
 * read through {@link Keys}. After {@value #MAX_RELOCATIONS} relocations the last one moved goes to an auxiliary table.
 *
 * <p>Not thread-safe. Does no I/O of its own.
 */
public final class CuckooTable {
    static final int BUCKET_SLOTS = 8;

    /** Usual number of candidate positions of a fingerprint (ChunkStash, section 4.4). */
    public static final int CANDIDATES = 3 * BUCKET_SLOTS;

    /** Most candidate positions. */
    public static final int MOST_CANDIDATES = 4 * BUCKET_SLOTS;

    /** Relocations of one insertion (ChunkStash, section 4.4: 5 to 10 suffice). */
    static final int MAX_RELOCATIONS = 10;

    /** Share of the slots that may be in use (ChunkStash, section 4.4). */
    public static final double MOST_LOAD = 0.9;

    static final int SIGNATURE_BYTES = Short.BYTES;
    private static final int SIGNATURES_BYTES = BUCKET_SLOTS * SIGNATURE_BYTES;
    private static final int PART_SHIFT = 20;
    /** Buckets of one array, which has at most 56 MiB. */
    private static final int PART_BUCKETS = 1 << PART_SHIFT;

    /** Free slots that insertions leave in a bucket as long as another one has more. */
    private static final int SPARE_SLOTS = 2;

    /** Estimated bytes of an entry of the auxiliary table. */
    private static final int AUXILIARY_BYTES = 100;

    /** Two parts of the 16 bytes that are random in all fingerprints, also those of a client. */
    private static final int G1_OFFSET = 8;

    private static final int G2_OFFSET = 0;
    private static final long LANES = 0x0001_0001_0001_0001L;
    private static final long LANE_TOPS = 0x8000_8000_8000_8000L;
    private static final int LANES_OF_LONG = 4;
    private static final long[] NO_POINTERS = {};

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    /** Reads the fingerprints that pointers lead to. */
    @FunctionalInterface
    public interface Keys {
        /** @param target receives the {@value Fingerprints#BYTES} bytes */
        void read(long pointer, byte[] target) throws IOException;
    }

    private final int pointerBytes;
    /** Buckets in which a fingerprint can be. */
    private final int ways;

    private final int bucketBytes;
    private final int buckets;
    private final byte[][] parts;
    /** Pointers that found no slot, by g1. */
    private final Map<Long, long[]> auxiliary = new HashMap<>();

    private int auxiliaryCount;
    private long inSlots;
    private long relocations;
    private int victim;
    private final byte[] homeless = new byte[Fingerprints.BYTES];
    private final byte[] evicted = new byte[Fingerprints.BYTES];

    /**
     * @param slots number of slots, rounded up to whole buckets
     * @param pointerBytes 4 or 5
     * @param candidates positions in which a fingerprint can be: a multiple of {@value #BUCKET_SLOTS}, up to
     *     {@value #MOST_CANDIDATES}. More positions need fewer relocations, and match more signatures by chance
     */
    public CuckooTable(long slots, int pointerBytes, int candidates) {
        if (!isPossible(candidates)) {
            throw new IllegalArgumentException(candidates + " candidate positions");
        }
        if (pointerBytes != 4 && pointerBytes != 5) {
            throw new IllegalArgumentException("a pointer has 4 or 5 bytes, not " + pointerBytes);
        }
        long wanted = Math.max(1, (slots + BUCKET_SLOTS - 1) / BUCKET_SLOTS);
        if (wanted > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a table of " + slots + " slots is too large");
        }
        this.pointerBytes = pointerBytes;
        ways = candidates / BUCKET_SLOTS;
        bucketBytes = SIGNATURES_BYTES + BUCKET_SLOTS * pointerBytes;
        buckets = (int) wanted;
        parts = new byte[(buckets + PART_BUCKETS - 1) >>> PART_SHIFT][];
        for (int part = 0; part < parts.length; part++) {
            int inPart = Math.min(PART_BUCKETS, buckets - (part << PART_SHIFT));
            parts[part] = new byte[inPart * bucketBytes];
        }
    }

    /** Returns whether a table can have this number of candidate positions. */
    static boolean isPossible(int candidates) {
        return candidates > 0 && candidates <= MOST_CANDIDATES && candidates % BUCKET_SLOTS == 0;
    }

    /** Returns the number of positions in which a fingerprint can be. */
    int candidatePositions() {
        return ways * BUCKET_SLOTS;
    }

    /** Returns the bytes of a slot. */
    static int slotBytes(int pointerBytes) {
        return SIGNATURE_BYTES + pointerBytes;
    }

    int pointerBytes() {
        return pointerBytes;
    }

    public long slots() {
        return (long) buckets * BUCKET_SLOTS;
    }

    /** Returns the number of pointers. */
    public long size() {
        return inSlots + auxiliaryCount;
    }

    /** Returns whether {@code more} pointers fit without exceeding the load of {@link #MOST_LOAD}. */
    boolean hasRoomFor(long more) {
        return size() + more <= (long) (slots() * MOST_LOAD);
    }

    /** Returns the number of relocations so far. */
    public long relocations() {
        return relocations;
    }

    public int auxiliarySize() {
        return auxiliaryCount;
    }

    long memoryBytes() {
        return (long) buckets * bucketBytes + (long) auxiliaryCount * AUXILIARY_BYTES;
    }

    /**
     * Finds the pointers that may be those of a fingerprint: all those whose signature matches.
     *
     * @param found receives them; what does not fit is left out, as it is too improbable to matter
     * @return their number
     */
    public int candidates(byte[] fingerprints, int offset, long[] found) {
        long g1 = g1(fingerprints, offset);
        long g2 = g2(fingerprints, offset);
        int count = 0;
        long hash = g1;
        for (int way = 0; way < ways; way++, hash += g2) {
            int bucket = bucket(hash);
            byte[] part = parts[bucket >>> PART_SHIFT];
            int at = (bucket & PART_BUCKETS - 1) * bucketBytes;
            short signature = signature(hash);
            long wanted = LANES * (signature & 0xffffL);
            for (int half = 0; half < SIGNATURES_BYTES; half += Long.BYTES) {
                long different = (long) LONG.get(part, at + half) ^ wanted;
                long same = different - LANES & ~different & LANE_TOPS;
                while (same != 0) {
                    int slot = half / Long.BYTES * LANES_OF_LONG + (Long.numberOfTrailingZeros(same) >>> 4);
                    same &= same - 1;
                    long pointer = pointer(part, at, slot);
                    // A borrow of the subtraction may mark a lane above a matching one.
                    if (pointer != 0 && signature(part, at, slot) == signature && count < found.length) {
                        found[count++] = pointer;
                    }
                }
            }
        }
        if (auxiliaryCount > 0) {
            for (long pointer : auxiliary.getOrDefault(g1, NO_POINTERS)) {
                if (count < found.length) {
                    found[count++] = pointer;
                }
            }
        }
        return count;
    }

    /**
     * Adds a pointer, which must not be 0. Does not look whether the fingerprint has one already.
     *
     * @param keys reads the fingerprints of those that are moved
     * @throws IOException if {@code keys} cannot read one; the pointer was added nevertheless
     * @throws CorruptionException if {@code keys} returned bytes that are not those of the pointer
     */
    public void insert(byte[] fingerprints, int offset, long pointer, Keys keys) throws IOException {
        if (putInFreeSlot(fingerprints, offset, pointer)) {
            return;
        }
        System.arraycopy(fingerprints, offset, homeless, 0, Fingerprints.BYTES);
        long moving = pointer;
        for (int moved = 0; moved < MAX_RELOCATIONS; moved++) {
            // The victim changes from one relocation to the next, so that two fingerprints do not swap forever.
            victim = (victim * 5 + 7) & 0xffff;
            int way = victim % ways;
            int slot = victim / ways % BUCKET_SLOTS;
            long hash = g1(homeless, 0) + way * g2(homeless, 0);
            int bucket = bucket(hash);
            byte[] part = parts[bucket >>> PART_SHIFT];
            int at = (bucket & PART_BUCKETS - 1) * bucketBytes;
            long other = pointer(part, at, slot);
            try {
                keys.read(other, evicted);
                requireKey(evicted, bucket, signature(part, at, slot), other);
            } catch (IOException e) {
                putAside(homeless, moving);
                throw e;
            }
            relocations++;
            set(part, at, slot, signature(hash), moving);
            System.arraycopy(evicted, 0, homeless, 0, Fingerprints.BYTES);
            moving = other;
            if (putInFreeSlot(homeless, 0, moving)) {
                return;
            }
        }
        putAside(homeless, moving);
    }

    private void requireKey(byte[] key, int bucket, short signature, long pointer) throws CorruptionException {
        long hash = g1(key, 0);
        for (int way = 0; way < ways; way++, hash += g2(key, 0)) {
            if (bucket(hash) == bucket && signature(hash) == signature) {
                return;
            }
        }
        throw new CorruptionException(
                "fingerprint index, entry " + Long.toHexString(pointer),
                -1,
                "a fingerprint with signature " + Integer.toHexString(signature & 0xffff),
                Fingerprints.toHex(key, 0));
    }

    /**
     * Puts a pointer in the first bucket with at least {@value #SPARE_SLOTS} free slots; if there is none, in the first
     * with a free one. The spare slots of full buckets save most relocations.
     */
    private boolean putInFreeSlot(byte[] fingerprints, int offset, long pointer) {
        return putInFreeSlot(fingerprints, offset, pointer, SPARE_SLOTS)
                || putInFreeSlot(fingerprints, offset, pointer, 1);
    }

    private boolean putInFreeSlot(byte[] fingerprints, int offset, long pointer, int leastFree) {
        long hash = g1(fingerprints, offset);
        long g2 = g2(fingerprints, offset);
        for (int way = 0; way < ways; way++, hash += g2) {
            int bucket = bucket(hash);
            byte[] part = parts[bucket >>> PART_SHIFT];
            int at = (bucket & PART_BUCKETS - 1) * bucketBytes;
            int free = 0;
            for (int slot = 0; slot < BUCKET_SLOTS; slot++) {
                if (pointer(part, at, slot) == 0 && ++free == leastFree) {
                    set(part, at, slot, signature(hash), pointer);
                    inSlots++;
                    return true;
                }
            }
        }
        return false;
    }

    private void putAside(byte[] fingerprint, long pointer) {
        auxiliary.merge(g1(fingerprint, 0), new long[] {pointer}, (present, added) -> {
            long[] all = Arrays.copyOf(present, present.length + 1);
            all[present.length] = pointer;
            return all;
        });
        auxiliaryCount++;
    }

    /** Removes a pointer of a fingerprint; returns whether it was there. */
    boolean remove(byte[] fingerprints, int offset, long pointer) {
        long hash = g1(fingerprints, offset);
        long g2 = g2(fingerprints, offset);
        for (int way = 0; way < ways; way++, hash += g2) {
            int bucket = bucket(hash);
            byte[] part = parts[bucket >>> PART_SHIFT];
            int at = (bucket & PART_BUCKETS - 1) * bucketBytes;
            for (int slot = 0; slot < BUCKET_SLOTS; slot++) {
                if (pointer(part, at, slot) == pointer) {
                    set(part, at, slot, (short) 0, 0);
                    inSlots--;
                    return true;
                }
            }
        }
        return auxiliaryCount > 0 && removeAside(g1(fingerprints, offset), pointer);
    }

    private boolean removeAside(long g1, long pointer) {
        long[] present = auxiliary.getOrDefault(g1, NO_POINTERS);
        long[] left = Arrays.stream(present).filter(other -> other != pointer).toArray();
        if (left.length == present.length) {
            return false;
        }
        if (left.length == 0) {
            auxiliary.remove(g1);
        } else {
            auxiliary.put(g1, left);
        }
        auxiliaryCount -= present.length - left.length;
        return true;
    }

    /** Removes all pointers that are not to be kept. Needs no fingerprints. */
    void retain(LongPredicate kept) {
        for (byte[] part : parts) {
            for (int at = 0; at < part.length; at += bucketBytes) {
                for (int slot = 0; slot < BUCKET_SLOTS; slot++) {
                    long pointer = pointer(part, at, slot);
                    if (pointer != 0 && !kept.test(pointer)) {
                        set(part, at, slot, (short) 0, 0);
                        inSlots--;
                    }
                }
            }
        }
        auxiliary.replaceAll(
                (g1, pointers) -> Arrays.stream(pointers).filter(kept).toArray());
        auxiliary.values().removeIf(pointers -> pointers.length == 0);
        auxiliaryCount = auxiliary.values().stream()
                .mapToInt(pointers -> pointers.length)
                .sum();
    }

    /** Receives or fills a table's bytes, piece by piece in order. */
    @FunctionalInterface
    interface Transfer {
        void run(ByteBuffer piece) throws IOException;
    }

    /** Writes the table: its slots, then the auxiliary table as pairs of g1 and pointer. */
    void write(Transfer out) throws IOException {
        for (byte[] part : parts) {
            out.run(ByteBuffer.wrap(part));
        }
        ByteBuffer aside = ByteBuffer.allocate(auxiliaryCount * 2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        auxiliary.forEach((g1, pointers) -> {
            for (long pointer : pointers) {
                aside.putLong(g1).putLong(pointer);
            }
        });
        out.run(aside.flip());
    }

    /**
     * Reads what {@link #write} wrote for a table of the same number of slots and bytes of a pointer.
     *
     * @param inSlots number of pointers in slots
     * @param aside number of pointers in the auxiliary table
     */
    void read(Transfer in, long inSlots, int aside) throws IOException {
        for (byte[] part : parts) {
            in.run(ByteBuffer.wrap(part));
        }
        ByteBuffer pairs = ByteBuffer.allocate(aside * 2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        in.run(pairs);
        pairs.clear();
        this.inSlots = inSlots;
        for (int i = 0; i < aside; i++) {
            byte[] hash = new byte[Fingerprints.BYTES];
            LONG.set(hash, G1_OFFSET, pairs.getLong());
            putAside(hash, pairs.getLong());
        }
    }

    private long pointer(byte[] part, int bucketAt, int slot) {
        int at = bucketAt + SIGNATURES_BYTES + slot * pointerBytes;
        long low = (int) INT.get(part, at) & 0xffff_ffffL;
        return pointerBytes == 4 ? low : low | (part[at + 4] & 0xffL) << Integer.SIZE;
    }

    private static short signature(byte[] part, int bucketAt, int slot) {
        return (short) SHORT.get(part, bucketAt + slot * SIGNATURE_BYTES);
    }

    private void set(byte[] part, int bucketAt, int slot, short signature, long pointer) {
        assert pointer >>> pointerBytes * Byte.SIZE == 0 : pointer;
        SHORT.set(part, bucketAt + slot * SIGNATURE_BYTES, signature);
        int at = bucketAt + SIGNATURES_BYTES + slot * pointerBytes;
        INT.set(part, at, (int) pointer);
        if (pointerBytes == 5) {
            part[at + 4] = (byte) (pointer >>> Integer.SIZE);
        }
    }

    private static long g1(byte[] fingerprints, int offset) {
        return (long) LONG.get(fingerprints, offset + G1_OFFSET);
    }

    private static long g2(byte[] fingerprints, int offset) {
        return (long) LONG.get(fingerprints, offset + G2_OFFSET);
    }

    private int bucket(long hash) {
        return (int) ((hash << 16 >>> 32) * buckets >>> 32);
    }

    private static short signature(long hash) {
        return (short) (hash >>> 48);
    }
}
