package org.opendedup.sar.metadata.record;

import java.util.Arrays;
import java.util.BitSet;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.pending.Generation;

/**
 * The reference counts of one container, as a mutable record. It also holds which of its slots are damaged, and how
 * long its chunks are. Each slot has a state: {@value #NEVER} never referenced, {@value #TOMBSTONE} tombstoned, n +
 * {@value #ALIVE} alive with n references. Belongs to one {@link Generation}: once that is frozen, the record must not
 * be changed any more.
 *
 * <p>For the references to a slot it also holds how many are {@link Continuations}, that is, not occurrences of the
 * chunk in a file.
 *
 * <p>The stored format is specified in docs/FORMAT.md.
 */
public final class CountRecord implements ContainerCounts {
    public static final int VERSION = 4;
    /** The generation number of records read from the database. */
    public static final long NO_GENERATION = 0;

    static final int NEVER = 0;
    static final int TOMBSTONE = 1;
    static final int ALIVE = 2;

    private static final BitSet NONE = new BitSet(0);

    private final long generation;
    /** Damaged slots; {@link #NONE} until there is one. */
    private BitSet damaged;

    private int[] states;
    /**
     * Length of each slot's chunk in bytes before compression; 0 where never recorded. Has the same length as
     * {@link #states}.
     */
    private int[] lengths;

    private int slots;
    private Continuations continuations = new Continuations();

    private CountRecord(long generation, BitSet damaged, int[] states, int[] lengths, int slots) {
        this.generation = generation;
        this.damaged = damaged;
        this.states = states;
        this.lengths = lengths;
        this.slots = slots;
    }

    public static CountRecord empty(long generation) {
        return new CountRecord(generation, NONE, new int[16], new int[16], 0);
    }

    public static CountRecord decode(long container, byte[] value, long generation)
            throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "counts of container", container).expectVersion(VERSION);
        BitSet damaged = readDamaged(in);
        int slots = (int) in.readVarint(Math.min(ChunkId.MAX_SLOTS, in.remaining()));
        int[] states = new int[slots];
        for (int slot = 0; slot < slots; slot++) {
            states[slot] = (int) in.readVarint(Integer.MAX_VALUE);
        }
        int[] lengths = readLengths(in, slots);
        CountRecord record = new CountRecord(generation, damaged, states, lengths, slots);
        record.continuations = Continuations.decode(in, record);
        in.expectEnd();
        return record;
    }

    private static int[] readLengths(ValueReader in, int slots) throws CorruptionException {
        int[] lengths = new int[slots];
        long length = 0;
        for (int slot = 0; slot < slots; slot++) {
            length += in.readZigzag();
            if (length < 0 || length > Integer.MAX_VALUE) {
                throw in.corruption("the length of the chunk in slot " + slot, Long.toString(length));
            }
            lengths[slot] = (int) length;
        }
        return lengths;
    }

    private static BitSet readDamaged(ValueReader in) throws CorruptionException {
        int ranges = (int) in.readVarint(in.remaining());
        BitSet damaged = ranges == 0 ? NONE : new BitSet();
        int end = 0;
        for (int range = 0; range < ranges; range++) {
            int first = end + (int) in.readVarint(ChunkId.MAX_SLOTS - end);
            end = first + (int) in.readVarint(ChunkId.MAX_SLOTS - first);
            damaged.set(first, end);
        }
        return damaged;
    }

    public byte[] encode() {
        ValueWriter out = new ValueWriter(10 + 3 * slots + slots / 8).writeByte(VERSION);
        writeDamaged(out);
        out.writeVarint(slots);
        for (int slot = 0; slot < slots; slot++) {
            out.writeVarint(states[slot]);
        }
        // Differences: for chunks of a fixed length each takes one byte.
        int before = 0;
        for (int slot = 0; slot < slots; slot++) {
            out.writeZigzag((long) lengths[slot] - before);
            before = lengths[slot];
        }
        continuations.encode(out);
        return out.toBytes();
    }

    private void writeDamaged(ValueWriter out) {
        int ranges = 0;
        for (int first = damaged.nextSetBit(0); first >= 0; first = damaged.nextSetBit(damaged.nextClearBit(first))) {
            ranges++;
        }
        out.writeVarint(ranges);
        int end = 0;
        for (int first = damaged.nextSetBit(0); first >= 0; first = damaged.nextSetBit(end)) {
            out.writeVarint(first - end);
            end = damaged.nextClearBit(first);
            out.writeVarint(end - first);
        }
    }

    public CountRecord copy(long toGeneration) {
        CountRecord copy = new CountRecord(
                toGeneration,
                damaged == NONE ? NONE : (BitSet) damaged.clone(),
                states.clone(),
                lengths.clone(),
                slots);
        copy.continuations = continuations.copy();
        return copy;
    }

    public long generation() {
        return generation;
    }

    @Override
    public int slots() {
        return slots;
    }

    @Override
    public boolean isAlive(int slot) {
        return state(slot) >= ALIVE;
    }

    @Override
    public boolean isTombstone(int slot) {
        return state(slot) == TOMBSTONE;
    }

    @Override
    public boolean isDamaged(int slot) {
        return damaged.get(slot);
    }

    @Override
    public int count(int slot) {
        return Math.max(0, state(slot) - ALIVE);
    }

    @Override
    public int length(int slot) {
        return slot < slots ? lengths[slot] : 0;
    }

    @Override
    public int continuations(int slot) {
        return continuations.count(slot);
    }

    /**
     * Records the length of a slot's chunk, before its first reference.
     *
     * @param bytes length before compression
     */
    public void setLength(int slot, int bytes) {
        set(slot, state(slot));
        lengths[slot] = bytes;
    }

    /** Returns the slots that are alive. */
    public BitSet alive() {
        BitSet alive = new BitSet(slots);
        for (int slot = 0; slot < slots; slot++) {
            alive.set(slot, isAlive(slot));
        }
        return alive;
    }

    /** Returns the slots that are known to be damaged, as a copy. */
    public BitSet damaged() {
        return (BitSet) damaged.clone();
    }

    /** Returns the number of slots that are known to be damaged. */
    public int damagedSlots() {
        return damaged.cardinality();
    }

    /** Returns whether a slot of the range is neither known to be damaged nor a tombstone. */
    public boolean hasSound(int firstSlot, int endSlot) {
        int slot = damaged.nextClearBit(firstSlot);
        while (slot < endSlot && isTombstone(slot)) {
            slot = damaged.nextClearBit(slot + 1);
        }
        return slot < endSlot;
    }

    /** Returns whether a slot is alive and not known to be damaged. */
    public boolean hasSoundCopy() {
        BitSet sound = alive();
        sound.andNot(damaged);
        return !sound.isEmpty();
    }

    /** Returns whether each slot is a tombstone; true if there is none. */
    public boolean isAllTombstones() {
        int slot = 0;
        while (slot < slots && isTombstone(slot)) {
            slot++;
        }
        return slot == slots;
    }

    /** Marks the slots of a range, except tombstones, as damaged. */
    public void markDamaged(int firstSlot, int endSlot) {
        if (damaged == NONE) {
            damaged = new BitSet();
        }
        for (int slot = firstSlot; slot < endSlot; slot++) {
            if (!isTombstone(slot)) {
                damaged.set(slot);
            }
        }
    }

    /** Records that a slot is not damaged any more. */
    public void markSound(int slot) {
        damaged.clear(slot);
    }

    /**
     * Changes the count. A copy that was never referenced becomes alive; a tombstoned copy cannot be referenced again.
     */
    public void add(long container, int slot, int delta) {
        int state = state(slot);
        if (state == TOMBSTONE) {
            throw new IllegalStateException(
                    "chunk " + container + ":" + slot + " is tombstoned: it can't be referenced");
        }
        long count = (long) count(slot) + delta;
        if (count < 0 || count > Integer.MAX_VALUE - ALIVE) {
            throw new IllegalStateException("chunk " + container + ":" + slot + " has " + count(slot)
                    + " references: a change by " + delta + " is impossible");
        }
        set(slot, (int) count + ALIVE);
    }

    /** Changes the count as {@link #add} does, for a reference that does not begin with the chunk's first byte. */
    public void addContinuation(long container, int slot, int delta) {
        add(container, slot, delta);
        continuations.add(slot, delta);
    }

    /** Makes a slot without references a tombstone. It is not damaged any more: it has no copy. */
    public void tombstone(long container, int slot) {
        if (count(slot) != 0) {
            throw new IllegalStateException(
                    "chunk " + container + ":" + slot + " has " + count(slot) + " references: it can't be tombstoned");
        }
        set(slot, TOMBSTONE);
        if (damaged != NONE) {
            damaged.clear(slot);
        }
    }

    public int heapBytes() {
        return 112
                + continuations.heapBytes()
                + 8 * states.length
                + (damaged == NONE ? 0 : 40 + damaged.size() / Byte.SIZE);
    }

    private int state(int slot) {
        return slot < slots ? states[slot] : NEVER;
    }

    private void set(int slot, int state) {
        if (slot >= states.length) {
            int room = Math.max(slot + 1, states.length + states.length / 2);
            states = Arrays.copyOf(states, room);
            lengths = Arrays.copyOf(lengths, room);
        }
        slots = Math.max(slots, slot + 1);
        states[slot] = state;
    }
}
