package org.opendedup.sar.container.format;

import java.util.BitSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;

/**
 * Decodes frames that a frame table describes, and checks that their bytes are what was written. Safe for several
 * threads.
 */
public final class FrameDecoder {
    private final Compressor decompressor;
    private final ContainerCipher cipher;
    private final ConcurrentLinkedQueue<FrameContent> contents = new ConcurrentLinkedQueue<>();

    /** @param cipher that of the volume: a frame that it did not write is refused */
    public FrameDecoder(Compressor decompressor, ContainerCipher cipher) {
        this.decompressor = decompressor;
        this.cipher = cipher;
    }

    public Compressor decompressor() {
        return decompressor;
    }

    public ContainerCipher cipher() {
        return cipher;
    }

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
    public Frame decode(byte[] bytes, int offset, Expected expected, boolean verifyFingerprints)
            throws CorruptionException {
        return decode(bytes, offset, expected, verifyFingerprints, byte[]::new);
    }

    /** As the other, but into an array of at least the given length in bytes, which {@code arrays} returns. */
    public Frame decode(
            byte[] bytes, int offset, Expected expected, boolean verifyFingerprints, IntFunction<byte[]> arrays)
            throws CorruptionException {
        FrameContent pooled = contents.poll();
        FrameContent content = pooled == null ? new FrameContent(cipher) : pooled;
        try {
            FrameFormat.Header header = open(bytes, offset, expected, content);
            return decode(header, content, expected, verifyFingerprints, arrays);
        } finally {
            content.clear();
            contents.add(content);
        }
    }

    /**
     * Opens the frame at {@code offset}, and checks that it is the expected one and that its checksum holds.
     *
     * @return its header
     */
    FrameFormat.Header open(byte[] bytes, int offset, Expected expected, FrameContent content)
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
        String problem = content.open(bytes, offset, header);
        if (problem != null) {
            throw expected.corrupt("a frame that this volume wrote", problem);
        }
        return header;
    }

    /** Decodes a frame that was opened. */
    Frame decode(
            FrameFormat.Header header,
            FrameContent content,
            Expected expected,
            boolean verifyFingerprints,
            IntFunction<byte[]> arrays)
            throws CorruptionException {
        int rawBytes = header.rawBytes();
        byte[] data = arrays.apply(rawBytes);
        String damage = rawBytes == 0
                ? null
                : decompressor.decompress(
                        header.codec(), content.bytes(), content.payload(), header.storedBytes(), data, rawBytes);
        if (damage != null) {
            throw expected.corrupt(rawBytes + " bytes of chunks", damage);
        }
        return readChunks(content, data, expected, verifyFingerprints);
    }

    private static Frame readChunks(FrameContent content, byte[] data, Expected expected, boolean verifyFingerprints)
            throws CorruptionException {
        byte[] bytes = content.bytes();
        int rawBytes = expected.table().rawLength(expected.frame());
        int chunks = expected.table().slotCount(expected.frame());
        int[] ends = new int[chunks];
        int[] fingerprintPrefixes = new int[chunks];
        ByteReader list = content.listReader(expected);
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
