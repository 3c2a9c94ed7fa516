package org.opendedup.sar.container;

import java.util.BitSet;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.FrameTable;

/** A container as its own bytes in a pack describe it, whatever the container table says. */
public final class FoundContainer {
    private final long container;
    private final StoredContainer stored;
    private final FrameTable table;
    private final int[] lengths;
    private final int[] prefixes;
    private final BitSet whole;
    private final BitSet lost;

    private FoundContainer(
            long container,
            StoredContainer stored,
            FrameTable table,
            int[] lengths,
            int[] prefixes,
            BitSet whole,
            BitSet lost) {
        this.lost = lost;
        this.container = container;
        this.stored = stored;
        this.table = table;
        this.lengths = lengths;
        this.prefixes = prefixes;
        this.whole = whole;
    }

    /** @param whole the slots whose bytes are known to be whole; null: all that the directory has, unread */
    static FoundContainer sealed(SealedContainer directory, long pack, long offset, long bytes, BitSet whole) {
        FrameTable table = directory.frameTable();
        // A lost chunk has length 0, and its fingerprint.
        int[] lengths = new int[directory.slots()];
        int[] prefixes = new int[directory.slots()];
        BitSet lost = new BitSet();
        for (int slot = 0; slot < lengths.length; slot++) {
            lengths[slot] = directory.length(slot);
            lost.set(slot, directory.isLost(slot));
            prefixes[slot] = Fingerprints.fingerprintPrefix(directory.fingerprints(), slot * Fingerprints.BYTES);
        }
        return of(
                directory.container(),
                State.SEALED,
                pack,
                offset,
                bytes,
                table,
                lengths,
                prefixes,
                whole,
                lost,
                directory.lostBytes());
    }

    static FoundContainer open(
            long container,
            long pack,
            long offset,
            long bytes,
            FrameTable table,
            int[] lengths,
            int[] prefixes,
            BitSet lost) {
        BitSet whole = new BitSet();
        for (int slot = 0; slot < lengths.length; slot++) {
            whole.set(slot, lengths[slot] > 0);
        }
        return of(container, State.OPEN, pack, offset, bytes, table, lengths, prefixes, whole, lost, 0);
    }

    private static FoundContainer of(
            long container,
            State state,
            long pack,
            long offset,
            long bytes,
            FrameTable table,
            int[] lengths,
            int[] prefixes,
            BitSet whole,
            BitSet lost,
            long lostBytes) {
        long rawBytes = lostBytes;
        for (int frame = 0; frame < table.frames(); frame++) {
            rawBytes += table.rawLength(frame);
        }
        Writing writing = table.writing();
        StoredContainer stored = new StoredContainer(writing, state, pack, offset, bytes, table.slots(), rawBytes);
        return new FoundContainer(container, stored, table, lengths, prefixes, whole, lost);
    }

    public long container() {
        return container;
    }

    /** Returns the entry that the container table should have for it. */
    public StoredContainer stored() {
        return stored;
    }

    public FrameTable table() {
        return table;
    }

    /** Returns the length of a slot's chunk in bytes; 0 if the container has none, up to {@link ChunkId#MAX_SLOTS}. */
    public int length(int slot) {
        return slot < lengths.length ? lengths[slot] : 0;
    }

    /** Returns whether a slot's chunk is listed without its bytes. */
    public boolean isLost(int slot) {
        return lost.get(slot);
    }

    /** Returns the first four bytes of a slot's fingerprint; 0 if the container has no such chunk. */
    public int fingerprintPrefix(int slot) {
        return slot < prefixes.length ? prefixes[slot] : 0;
    }

    /**
     * Returns the slots with a chunk whose bytes are there: those of frames with a right checksum, or, of a container
     * whose frames were not read, all those in its directory.
     */
    public BitSet present() {
        return (BitSet) whole.clone();
    }
}
