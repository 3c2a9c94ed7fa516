package org.opendedup.sar.container;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.ByteReader;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ChunkEntry;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerFormat.Footer;
import org.opendedup.sar.container.format.FrameTable;

/**
 * The directory of a sealed container: everything about its chunks except their bytes; enough to rebuild the index. A
 * slot that the container does not hold has length 0: recovery left its damaged frame out, or the chunk is removed or
 * lost. Of a lost chunk the fingerprint is known, and the {@link #listedLength listed length}.
 */
public final class SealedContainer {
    private final long container;
    private final FrameTable table;
    private final byte[] fingerprints;
    private final int[] lengths;
    private final int[] lostLengths;
    private final int[] offsets;

    private SealedContainer(long container, FrameTable table) {
        this.container = container;
        this.table = table;
        fingerprints = new byte[table.slots() * Fingerprints.BYTES];
        lengths = new int[table.slots()];
        lostLengths = new int[table.slots()];
        offsets = new int[table.slots()];
    }

    /** Returns the directory of a container that lists no chunk yet. */
    static SealedContainer of(long container, FrameTable table) {
        return new SealedContainer(container, table);
    }

    public long container() {
        return container;
    }

    /** Returns the highest slot plus 1. */
    public int slots() {
        return lengths.length;
    }

    /**
     * Returns the fingerprints of all slots, one after another; slot {@code i}'s begins at {@code i *
     * Fingerprints.BYTES}. Those of slots without a chunk are zeros; a lost chunk has one.
     */
    public byte[] fingerprints() {
        return fingerprints;
    }

    /** Returns the length of a slot's chunk in bytes; 0 if there is none, or if it is lost. */
    public int length(int slot) {
        return lengths[slot];
    }

    /** Returns the length of a slot's chunk in bytes, also if it is lost; 0 if there is none. */
    public int listedLength(int slot) {
        return lengths[slot] + lostLengths[slot];
    }

    /** Returns whether a slot's chunk is listed without its bytes, because no copy of it was found. */
    public boolean isLost(int slot) {
        return lostLengths[slot] > 0;
    }

    /** Returns the bytes of all lost chunks. */
    long lostBytes() {
        return IntStream.of(lostLengths).asLongStream().sum();
    }

    /** Lists a chunk, of a slot without one, of which only length and fingerprint are known. */
    void putLost(int slot, int length, byte[] source, int fingerprint) {
        lostLengths[slot] = length;
        System.arraycopy(source, fingerprint, fingerprints, slot * Fingerprints.BYTES, Fingerprints.BYTES);
    }

    /** Returns the offset of a slot's chunk in the bytes of its frame. */
    int offset(int slot) {
        return offsets[slot];
    }

    /** Returns the frame with this slot, or -1 if none has it or it is removed. */
    int frame(int slot) {
        return table.frameOf(slot);
    }

    public FrameTable frameTable() {
        return table;
    }

    /** Appends the chunk list of a frame, as the directory has it. */
    void putChunkList(int frame, Bytes out) {
        int end = table.firstSlot(frame) + table.slotCount(frame);
        for (int slot = table.firstSlot(frame); slot < end; slot++) {
            out.putVarint(entry(slot));
            if (ChunkEntry.hasFingerprint(entry(slot))) {
                out.putBytes(fingerprints, slot * Fingerprints.BYTES, Fingerprints.BYTES);
            }
        }
    }

    /** Returns the number with which a slot's chunk begins in a chunk list. */
    int entry(int slot) {
        return lostLengths[slot] > 0 ? ChunkEntry.lost(lostLengths[slot]) : lengths[slot];
    }

    /** Returns the frame table as a {@link SealListener} gets it. */
    public byte[] frameTableBytes() {
        return table.encodeWithSalt();
    }

    /** Reads the encoded directory that a footer points to, and changes its bytes. */
    static SealedContainer decode(long container, byte[] directory, Footer footer, ContainerCipher cipher, String place)
            throws CorruptionException, UnsupportedFormatException {
        int end = directory.length - Integer.BYTES;
        long offset = footer.directoryOffset();
        ContainerFormat.checkCrc(directory, 0, end, place, offset);
        String problem = ContainerFormat.openLists(directory, footer, cipher);
        if (problem != null) {
            throw new CorruptionException(place, offset, "a directory that this volume wrote", problem);
        }
        byte[] encodedTable = Arrays.copyOf(directory, footer.tableBytes());
        FrameTable table = FrameTable.decode(encodedTable, footer.identity().salt(), place);
        SealedContainer sealed = new SealedContainer(container, table);
        sealed.readChunkLists(directory, footer.tableBytes(), end - cipher.tagBytes(), place);
        return sealed;
    }

    /** Reads the chunk lists of all frames. */
    void readChunkLists(byte[] directory, int from, int to, String place) throws CorruptionException {
        ByteReader lists = new ByteReader(directory, from, to, place);
        for (int frame = 0; frame < table.frames(); frame++) {
            if (!table.isRemoved(frame)) {
                readChunkList(frame, directory, lists, place);
            }
        }
        if (lists.remaining() != 0) {
            throw new CorruptionException(place, -1, "the end of the directory", lists.remaining() + " more bytes");
        }
    }

    /** Reads the chunk list of a frame from the array {@code bytes}, at the place of the reader. */
    void readChunkList(int frame, byte[] directory, ByteReader lists, String place) throws CorruptionException {
        int end = table.firstSlot(frame) + table.slotCount(frame);
        int offset = 0;
        for (int slot = table.firstSlot(frame); slot < end; slot++) {
            offsets[slot] = offset;
            int entry = lists.readVarint();
            lengths[slot] = ChunkEntry.storedBytes(entry);
            lostLengths[slot] = ChunkEntry.length(entry) - lengths[slot];
            if (lengths[slot] > table.rawLength(frame) - offset || !ChunkEntry.isValid(entry)) {
                throw new CorruptionException(place, -1, "chunks within frame " + frame, "slot " + slot + " beyond it");
            }
            if (!ChunkEntry.hasFingerprint(entry)) {
                continue;
            }
            offset += lengths[slot];
            int fingerprint = lists.position();
            lists.skip(Fingerprints.BYTES);
            System.arraycopy(directory, fingerprint, fingerprints, slot * Fingerprints.BYTES, Fingerprints.BYTES);
        }
    }
}
