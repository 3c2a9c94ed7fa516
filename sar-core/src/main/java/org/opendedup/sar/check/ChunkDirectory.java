package org.opendedup.sar.check;

import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.container.format.FrameTable;

/** Which chunks a container has, by its own bytes. */
public final class ChunkDirectory {
    /** The directories of a volume's containers. */
    @FunctionalInterface
    public interface Source {
        /**
         * Returns the directory of a container; null if it is known to be unreadable and need not be reported.
         *
         * @throws IOException if it cannot be read
         */
        @Nullable
        ChunkDirectory of(long container) throws IOException;
    }

    private final FrameTable table;
    /** Number of slots; more than the frames have while frames wait to be written. */
    private final int slots;

    private final int @Nullable [] lengths;
    private final int @Nullable [] prefixes;
    private final BitSet lost;

    private ChunkDirectory(
            FrameTable table, int slots, int @Nullable [] lengths, int @Nullable [] prefixes, BitSet lost) {
        this.lost = lost;
        this.table = table;
        this.slots = slots;
        this.lengths = lengths;
        this.prefixes = prefixes;
    }

    /** Returns the directory of a container that was found in a pack. */
    static ChunkDirectory of(FoundContainer found) {
        int slots = found.table().slots();
        int[] lengths = new int[slots];
        int[] prefixes = new int[slots];
        BitSet lost = new BitSet();
        for (int slot = 0; slot < slots; slot++) {
            lengths[slot] = found.length(slot);
            lost.set(slot, found.isLost(slot));
            prefixes[slot] = found.fingerprintPrefix(slot);
        }
        return new ChunkDirectory(found.table(), slots, lengths, prefixes, lost);
    }

    public static ChunkDirectory of(SealedContainer directory) {
        int slots = directory.slots();
        int[] lengths = new int[slots];
        int[] prefixes = new int[slots];
        BitSet lost = new BitSet();
        for (int slot = 0; slot < slots; slot++) {
            lengths[slot] = directory.length(slot);
            lost.set(slot, directory.isLost(slot));
            prefixes[slot] = Fingerprints.fingerprintPrefix(directory.fingerprints(), slot * Fingerprints.BYTES);
        }
        return new ChunkDirectory(directory.frameTable(), slots, lengths, prefixes, lost);
    }

    /**
     * Returns the directory of a container of which only the frames are known, as of one that is being written.
     *
     * @param slots number of its chunks, with those of frames that wait to be written
     */
    public static ChunkDirectory of(FrameTable table, int slots) {
        return new ChunkDirectory(table, Math.max(slots, table.slots()), null, null, new BitSet());
    }

    FrameTable table() {
        return table;
    }

    int slots() {
        return slots;
    }

    /** Returns whether the container has a chunk in a slot, as far as is known. */
    boolean has(int slot) {
        return slot < slots && (lengths == null || lengths[slot] > 0);
    }

    /** Returns whether a slot's chunk is listed without its bytes. */
    boolean isLost(int slot) {
        return lost.get(slot);
    }

    /** Returns the length of a slot's chunk in bytes; 0 if it is unknown. */
    int length(int slot) {
        return lengths == null || slot >= lengths.length ? 0 : lengths[slot];
    }

    /** Returns whether a slot's chunk may have a fingerprint that begins with these four bytes. */
    boolean mayBegin(int slot, int prefix) {
        return prefixes == null || slot < prefixes.length && prefixes[slot] == prefix;
    }
}
