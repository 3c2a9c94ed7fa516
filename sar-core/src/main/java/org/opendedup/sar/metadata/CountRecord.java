package org.opendedup.sar.metadata;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * One container's counts. Each slot has a state: {@value #NEVER} never referenced, {@value #TOMBSTONE} tombstoned, n +
 * {@value #ALIVE} alive with n references. Belongs to one {@link Generation}: once that is frozen, nobody changes it.
 *
 * <p>Stored as a version byte, the number of slots and the slots' states, all varints.
 */
final class CountRecord implements ContainerCounts {
    static final int VERSION = 1;
    static final int NEVER = 0;
    static final int TOMBSTONE = 1;
    static final int ALIVE = 2;

    private final long generation;
    private int[] states;
    private int slots;

    private CountRecord(long generation, int[] states, int slots) {
        this.generation = generation;
        this.states = states;
        this.slots = slots;
    }

    static CountRecord empty(long generation) {
        return new CountRecord(generation, new int[16], 0);
    }

    static CountRecord decode(long container, byte[] value, long generation)
            throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "counts of container", container).expectVersion(VERSION);
        int slots = (int) in.readVarint(Math.min(ChunkId.MAX_SLOTS, in.remaining()));
        int[] states = new int[slots];
        for (int slot = 0; slot < slots; slot++) {
            states[slot] = (int) in.readVarint(Integer.MAX_VALUE);
        }
        in.expectEnd();
        return new CountRecord(generation, states, slots);
    }

    byte[] encode() {
        ValueWriter out =
                new ValueWriter(8 + slots + slots / 8).writeByte(VERSION).writeVarint(slots);
        for (int slot = 0; slot < slots; slot++) {
            out.writeVarint(states[slot]);
        }
        return out.toBytes();
    }

    CountRecord copy(long toGeneration) {
        return new CountRecord(toGeneration, states.clone(), slots);
    }

    long generation() {
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
    public int count(int slot) {
        return Math.max(0, state(slot) - ALIVE);
    }

    /** A copy that was never referenced becomes alive; a tombstone stays one, and refuses. */
    void add(long container, int slot, int delta) {
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

    void tombstone(long container, int slot) {
        if (count(slot) != 0) {
            throw new IllegalStateException(
                    "chunk " + container + ":" + slot + " has " + count(slot) + " references: it can't be tombstoned");
        }
        set(slot, TOMBSTONE);
    }

    int heapBytes() {
        return 64 + 4 * states.length;
    }

    private int state(int slot) {
        return slot < slots ? states[slot] : NEVER;
    }

    private void set(int slot, int state) {
        if (slot >= states.length) {
            states = Arrays.copyOf(states, Math.max(slot + 1, states.length + states.length / 2));
        }
        slots = Math.max(slots, slot + 1);
        states[slot] = state;
    }
}
