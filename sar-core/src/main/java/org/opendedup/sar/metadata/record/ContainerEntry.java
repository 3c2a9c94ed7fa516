package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.metadata.pending.ContainerTable;

/**
 * An entry of the {@link ContainerTable}: where a container lies, and how much of it is in use.
 *
 * <p>Its stored format is specified in docs/FORMAT.md.
 *
 * @param container the container's id
 * @param stored where it lies and what it is
 * @param liveBytes bytes, before compression, of its chunks to which at least one recipe refers
 * @param damagedSlots number of its slots that are known to be damaged
 */
public record ContainerEntry(long container, StoredContainer stored, long liveBytes, int damagedSlots) {
    public static final int VERSION = 2;

    private static final int OPEN = 0;
    private static final int SEALED = 1;

    /** Usual size of a record, in bytes. */
    private static final int USUAL_BYTES = 40;

    /**
     * Returns the bytes of the container in its pack that no recipe refers to; 0 while it is open. They include chunks
     * that were never referred to, and tombstones. An estimate unless no chunk has a reference: it assumes that all
     * chunks compress alike.
     */
    public long garbageBytes() {
        if (stored.state() == StoredContainer.State.OPEN) {
            return 0;
        }
        return liveBytes == 0
                ? stored.bytes()
                : (long) (stored.bytes() * Math.max(0, 1 - (double) liveBytes / stored.rawBytes()));
    }

    public static byte[] encode(ContainerEntry entry) {
        StoredContainer stored = entry.stored();
        return new ValueWriter(USUAL_BYTES)
                .writeByte(VERSION)
                .writeVarint(stored.state() == State.OPEN ? OPEN : SEALED)
                .writeVarint(stored.pack())
                .writeVarint(stored.offset())
                .writeVarint(stored.bytes())
                .writeLongLittleEndian(stored.writing().salt())
                .writeVarint(stored.writing().generation())
                .writeVarint(stored.slots())
                .writeVarint(stored.rawBytes())
                .writeVarint(entry.liveBytes())
                .writeVarint(entry.damagedSlots())
                .writeVarint(stored.recompressed())
                .toBytes();
    }

    public static ContainerEntry decode(long container, byte[] value)
            throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "entry of container", container).expectVersion(VERSION);
        State state = in.readVarint(SEALED) == OPEN ? State.OPEN : State.SEALED;
        long pack = in.readVarint(Long.MAX_VALUE);
        long offset = in.readVarint(Long.MAX_VALUE);
        long bytes = in.readVarint(Long.MAX_VALUE - offset);
        Writing writing = new Writing(in.readLongLittleEndian(), (int) in.readVarint(Integer.MAX_VALUE));
        int slots = (int) in.readVarint(ChunkId.MAX_SLOTS);
        long rawBytes = in.readVarint(Long.MAX_VALUE);
        long liveBytes = in.readVarint(Long.MAX_VALUE);
        int damagedSlots = (int) in.readVarint(ChunkId.MAX_SLOTS);
        int recompressed = (int) in.readVarint(StoredContainer.MAX_LEVEL);
        in.expectEnd();
        return new ContainerEntry(
                container,
                new StoredContainer(writing, state, pack, offset, bytes, slots, rawBytes, recompressed),
                liveBytes,
                damagedSlots);
    }
}
