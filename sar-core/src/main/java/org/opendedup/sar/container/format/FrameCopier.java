package org.opendedup.sar.container.format;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;

/**
 * Makes the frames of a container's next generation from those of the present one, without the chunks that are to be
 * removed. Number and slots of each frame stay; {@link FrameTable} describes removed frames, {@link FrameFormat}
 * removed chunks. Reuses its buffers. For one thread.
 */
public final class FrameCopier {
    private static final int BUFFER_BYTES = 256 << 10;

    private final Compressor compressor;
    private final RawFrame raw = new RawFrame(BUFFER_BYTES);
    private final Bytes out = new Bytes(BUFFER_BYTES);
    private int rawBytes;

    /** @param compressor compresses the frames that lose some of their chunks */
    public FrameCopier(Compressor compressor) {
        this.compressor = compressor;
    }

    /**
     * Returns the frame for the next generation, valid until the next call; null if none of its chunks stays. A chunk
     * that an earlier generation removed stays removed.
     *
     * @param source has the whole frame, from {@code offset} on
     * @param expected the frame in the present generation
     * @param removed slots of the container whose chunks are to be removed
     * @param next the writing that the copy belongs to: the same container and salt, another generation
     * @param recompress compresses the chunks anew, also if all of them stay; null: only a frame that loses chunks is
     *     compressed anew
     * @throws CorruptionException if any chunk of the frame, also one that is to be removed, is not what was written;
     *     not noticed if the whole frame is to be removed
     */
    public @Nullable Bytes copy(
            byte[] source,
            int offset,
            FrameDecoder.Expected expected,
            BitSet removed,
            ContainerIdentity next,
            @Nullable Compressor recompress)
            throws CorruptionException {
        rawBytes = 0;
        FrameTable table = expected.table();
        int first = table.firstSlot(expected.frame());
        int end = first + table.slotCount(expected.frame());
        if (table.isRemoved(expected.frame()) || removed.nextClearBit(first) >= end) {
            return null;
        }
        Frame frame = FrameDecoder.decode(source, offset, expected, compressor, true);
        FrameFormat.Header header = FrameFormat.readHeader(source, offset, offset + table.fileLength(expected.frame()));
        if (header == null) {
            throw new AssertionError("the decoder has read the header of " + expected);
        }
        ByteReader list = new ByteReader(
                source,
                offset + FrameFormat.HEADER_BYTES,
                offset + FrameFormat.HEADER_BYTES + header.listBytes(),
                expected);
        collect(frame, removed, source, list);
        rawBytes = raw.bytes();
        if (rawBytes == 0) {
            return null;
        }
        if (rawBytes == frame.data().length && recompress == null) {
            out.clear();
            FrameFormat.copy(source, offset, header, next, out);
        } else {
            FrameFormat.encode(raw, next, recompress == null ? compressor : recompress, out);
        }
        return out;
    }

    /**
     * Puts the chunks that stay into {@link #raw}; {@code list} is at the first chunk in the list in {@code source}.
     */
    private void collect(Frame frame, BitSet removed, byte[] source, ByteReader list) throws CorruptionException {
        int end = frame.firstSlot() + frame.count();
        raw.start(frame.firstSlot());
        for (int slot = frame.firstSlot(); slot < end; slot++) {
            int length = list.readVarint();
            int fingerprint = list.position();
            if (length > 0) {
                list.skip(Fingerprints.BYTES);
            }
            if (length == 0 || removed.get(slot)) {
                raw.addRemoved();
            } else {
                raw.add(frame.data(), frame.offset(slot), length, source, fingerprint);
            }
        }
    }

    /** Returns the bytes of the chunks in the frame that {@link #copy} returned, before compression; 0 for none. */
    public int rawBytes() {
        return rawBytes;
    }
}
