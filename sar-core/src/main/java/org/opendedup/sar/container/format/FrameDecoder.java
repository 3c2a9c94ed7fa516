package org.opendedup.sar.container.format;

import java.util.BitSet;
import java.util.function.IntFunction;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;

/** Decodes a frame that a frame table describes, and checks that its bytes are what was written. */
public final class FrameDecoder {
    private FrameDecoder() {}

    /** The expected place of a frame, for checks and messages, which name the pack and the offset in it. */
    public record Expected(long container, LocatedTable at, int frame) {
        FrameTable table() {
            return at.table();
        }

        @Override
        public String toString() {
            int first = table().firstSlot(frame);
            return "container " + container + ", slots " + first + " to " + (first + table().slotCount(frame) - 1)
                    + " (" + PackFormat.fileName(at.pack()) + ")";
        }

        public CorruptionException corrupt(String expected, String found) {
            return new CorruptionException(toString(), at.start(frame), expected, found);
        }

        /** Returns the error for a reader that wants a removed frame. */
        public CorruptionException removed() {
            return corrupt("a frame", "that the container was written anew without it");
        }
    }

    /**
     * Decodes the frame at {@code offset}, and checks that it is the expected one and that its checksum holds. A
     * removed chunk has length 0 and fingerprint prefix 0 in it, a lost one length 0.
     */
    public static Frame decode(
            byte[] bytes, int offset, Expected expected, Compressor compressor, boolean verifyFingerprints)
            throws CorruptionException {
        return decode(bytes, offset, expected, compressor, verifyFingerprints, byte[]::new);
    }

    /** As the other, but into an array of at least the given length in bytes, which {@code arrays} returns. */
    public static Frame decode(
            byte[] bytes,
            int offset,
            Expected expected,
            Compressor compressor,
            boolean verifyFingerprints,
            IntFunction<byte[]> arrays)
            throws CorruptionException {
        FrameTable table = expected.table();
        int frame = expected.frame();
        if (table.isRemoved(frame)) {
            throw expected.removed();
        }
        int length = table.fileLength(frame);
        FrameFormat.Header header = FrameFormat.readHeader(bytes, offset, offset + length);
        if (header == null || header.frameBytes() != length) {
            throw expected.corrupt("a frame of " + length + " bytes", header == null ? "none" : "another length");
        }
        if (!FrameFormat.crcHolds(bytes, offset, header)) {
            throw expected.corrupt("a frame whose CRC-32C holds", "one whose does not");
        }
        if (header.identity().container() != expected.container()
                || !header.identity().writing().equals(table.writing())
                || header.firstSlot() != table.firstSlot(frame)
                || header.chunks() != table.slotCount(frame)
                || header.rawBytes() != table.rawLength(frame)) {
            throw expected.corrupt("the frame that the frame table describes", header.toString());
        }
        int listEnd = offset + FrameFormat.HEADER_BYTES + header.listBytes();
        int rawBytes = header.rawBytes();
        byte[] data = arrays.apply(rawBytes);
        String damage = rawBytes == 0
                ? null
                : compressor.decompress(header.codec(), bytes, listEnd, header.storedBytes(), data, rawBytes);
        if (damage != null) {
            throw expected.corrupt(rawBytes + " bytes of chunks", damage);
        }
        return readChunks(bytes, offset + FrameFormat.HEADER_BYTES, listEnd, data, expected, verifyFingerprints);
    }

    private static Frame readChunks(
            byte[] bytes, int listStart, int listEnd, byte[] data, Expected expected, boolean verifyFingerprints)
            throws CorruptionException {
        int rawBytes = expected.table().rawLength(expected.frame());
        int chunks = expected.table().slotCount(expected.frame());
        int[] ends = new int[chunks];
        int[] fingerprintPrefixes = new int[chunks];
        ByteReader list = new ByteReader(bytes, listStart, listEnd, expected);
        BitSet lost = new BitSet();
        int end = 0;
        for (int chunk = 0; chunk < chunks; chunk++) {
            int start = end;
            int entry = list.readVarint();
            int length = ChunkEntry.storedBytes(entry);
            if (length > rawBytes - start || !ChunkEntry.isValid(entry)) {
                throw expected.corrupt("chunks of " + rawBytes + " bytes together", "more");
            }
            end = start + length;
            ends[chunk] = end;
            if (!ChunkEntry.hasFingerprint(entry)) {
                continue;
            }
            int fingerprint = list.position();
            list.skip(Fingerprints.BYTES);
            fingerprintPrefixes[chunk] = Fingerprints.fingerprintPrefix(bytes, fingerprint);
            lost.set(chunk, ChunkEntry.isLost(entry));
            if (verifyFingerprints && length > 0) {
                verify(data, start, end, bytes, fingerprint, expected, chunk);
            }
        }
        if (end != rawBytes || list.remaining() != 0) {
            throw expected.corrupt("a chunk list for " + rawBytes + " bytes", "one for " + end);
        }
        return new Frame(
                expected.container(),
                expected.table().firstSlot(expected.frame()),
                data,
                ends,
                fingerprintPrefixes,
                lost);
    }

    private static void verify(
            byte[] data, int start, int end, byte[] fingerprints, int fingerprint, Expected expected, int chunk)
            throws CorruptionException {
        if (!new ContentHasher().matches(data, start, end - start, fingerprints, fingerprint)) {
            int slot = expected.table().firstSlot(expected.frame()) + chunk;
            throw expected.corrupt(
                    "in slot " + slot + " a chunk with fingerprint " + Fingerprints.toHex(fingerprints, fingerprint),
                    "one with another");
        }
    }
}
