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

    /**
     * The least part of a frame, or of a container, for which it is compressed anew: about 3 %, as for compressing at
     * all. Less is not worth the bytes that are written.
     */
    public static final int MIN_SAVING = 32;

    private final FrameDecoder decoder;
    private final FrameContent content;
    private final @Nullable Compressor probe;
    private final RawFrame raw = new RawFrame(BUFFER_BYTES);
    private final Bytes out = new Bytes(BUFFER_BYTES);
    private int rawBytes;
    private int listedBytes;
    private int savedBytes;
    private boolean isCompressedAnew;

    /**
     * @param probe compresses a raw frame before the recompressor does, which only gets it if it shrinks; null: it gets
     *     all
     */
    public FrameCopier(FrameDecoder decoder, @Nullable Compressor probe) {
        this.decoder = decoder;
        content = new FrameContent(decoder.cipher());
        this.probe = probe;
    }

    /**
     * Returns the frame for the next generation, valid until the next call; null if none of its chunks stays. A chunk
     * that an earlier generation removed stays removed, and one that is lost stays lost.
     *
     * @param source has the whole frame, from {@code offset} on
     * @param expected the frame in the present generation
     * @param removed slots of the container whose chunks are to be removed
     * @param next the writing that the copy belongs to: the same container and salt, another generation
     * @param recompressor compresses a frame that loses chunks
     * @param alsoWhole whether a frame that keeps all its chunks is compressed anew as well, if it gets smaller by at
     *     least 1/{@value #MIN_SAVING}
     * @throws CorruptionException if any chunk of the frame, also one that is to be removed, is not what was written;
     *     not noticed if the whole frame is to be removed
     */
    public @Nullable Bytes copy(
            byte[] source,
            int offset,
            FrameDecoder.Expected expected,
            BitSet removed,
            ContainerWriting next,
            Compressor recompressor,
            boolean alsoWhole)
            throws CorruptionException {
        rawBytes = 0;
        listedBytes = 0;
        savedBytes = 0;
        isCompressedAnew = false;
        FrameTable table = expected.table();
        int first = table.firstSlot(expected.frame());
        int end = first + table.slotCount(expected.frame());
        if (table.isRemoved(expected.frame()) || removed.nextClearBit(first) >= end) {
            return null;
        }
        FrameFormat.Header header = decoder.open(source, offset, expected, content);
        Frame frame = decoder.decode(header, content, expected, true, byte[]::new);
        boolean isWhole = collect(frame, removed, content.bytes(), content.listReader(expected));
        rawBytes = raw.bytes();
        listedBytes = raw.listedBytes();
        if (listedBytes == 0) {
            return null;
        }
        Compression.Codec codec = header.codec();
        isCompressedAnew = !isWhole || alsoWhole;
        if (isCompressedAnew) {
            codec = compress(header.codec(), recompressor);
        }
        if (isWhole) {
            int before = table.fileLength(expected.frame());
            int after = FrameFormat.completeBytes(out, next);
            savedBytes = isCompressedAnew && isWorth(before, after) ? before - after : 0;
            isCompressedAnew = savedBytes > 0;
        }
        if (isCompressedAnew) {
            FrameFormat.complete(raw, next, codec, out);
        } else {
            FrameFormat.copy(content.bytes(), content.list(), header, next, out);
        }
        return out;
    }

    /** What the probe leaves in {@link #out} if the frame does not shrink is the content of the frame stored raw. */
    private Compression.Codec compress(Compression.Codec before, Compressor recompressor) {
        if (probe != null && before == Compression.Codec.NONE) {
            Compression.Codec probed = FrameFormat.putContent(raw, probe, out);
            if (probed == Compression.Codec.NONE) {
                return probed;
            }
        }
        return FrameFormat.putContent(raw, recompressor, out);
    }

    /** Returns whether it is worth writing {@code after} bytes in the place of {@code before}. */
    public static boolean isWorth(long before, long after) {
        return after <= before - before / MIN_SAVING;
    }

    /**
     * Puts the chunks that stay into {@link #raw}; {@code list} is at the first chunk in the list in {@code source}.
     *
     * @return whether all of them stay
     */
    private boolean collect(Frame frame, BitSet removed, byte[] source, ByteReader list) throws CorruptionException {
        int end = frame.firstSlot() + frame.count();
        boolean isWhole = true;
        raw.start(frame.firstSlot());
        for (int slot = frame.firstSlot(); slot < end; slot++) {
            int entry = list.readVarint();
            int fingerprint = list.position();
            if (ChunkEntry.hasFingerprint(entry)) {
                list.skip(Fingerprints.BYTES);
            }
            if (!ChunkEntry.hasFingerprint(entry) || removed.get(slot)) {
                isWhole &= !ChunkEntry.hasFingerprint(entry);
                raw.addRemoved();
            } else if (ChunkEntry.isLost(entry)) {
                raw.addLost(ChunkEntry.length(entry), source, fingerprint);
            } else {
                raw.add(frame.data(), frame.offset(slot), entry, source, fingerprint);
            }
        }
        return isWhole;
    }

    /**
     * Returns a damaged frame for the next generation, valid until the next call, with all its chunks: it stays as
     * readable as it was, and as damaged. If its checksum holds, so that a fingerprint shows the damage, it gets the
     * header and the checksum of the next generation. Else its bytes stay, and no checksum will hold for them.
     *
     * @param source has the whole frame, from {@code offset} on
     * @param expected the frame in the present generation
     * @param next as for {@link #copy}
     */
    public Bytes copyDamaged(byte[] source, int offset, FrameDecoder.Expected expected, ContainerWriting next) {
        int length = expected.table().fileLength(expected.frame());
        FrameFormat.Header header = FrameFormat.readHeader(source, offset, offset + length);
        if (header != null
                && header.frameBytes() == length
                && FrameFormat.crcHolds(source, offset, header)
                && header.identity().container() == expected.container()
                && header.identity().writing().equals(expected.table().writing())
                && content.open(source, offset, header) == null) {
            FrameFormat.copy(content.bytes(), content.list(), header, next, out);
        } else {
            out.clear();
            out.putBytes(source, offset, length);
        }
        return out;
    }

    /**
     * Returns whether the frame that {@link #copy} returned was compressed anew, because it lost chunks or got smaller.
     */
    public boolean isCompressedAnew() {
        return isCompressedAnew;
    }

    /** Appends the chunk list of the frame that {@link #copy} returned. */
    public void putList(Bytes lists) {
        raw.putList(lists);
    }

    /** Returns by how much the frame that {@link #copy} returned is smaller, if all its chunks stay, in bytes. */
    public int savedBytes() {
        return savedBytes;
    }

    /** Returns the bytes of the chunks in the frame that {@link #copy} returned, lost ones included. */
    public int listedBytes() {
        return listedBytes;
    }

    /** Returns the bytes of the chunks in the frame that {@link #copy} returned, before compression; 0 for none. */
    public int rawBytes() {
        return rawBytes;
    }
}
