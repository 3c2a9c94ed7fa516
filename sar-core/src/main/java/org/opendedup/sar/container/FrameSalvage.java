package org.opendedup.sar.container;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.SealedContainers.Whole;
import org.opendedup.sar.container.format.ChunkEntry;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.FrameFormat;

/**
 * Looks in a damaged frame for chunks that have the right bytes nevertheless: a checksum, a header or another chunk may
 * be what is damaged. The directory tells where the payload begins and which fingerprint each chunk has. For one
 * thread.
 */
final class FrameSalvage {
    private final Compressor decompressor;
    private final ContentHasher hasher = new ContentHasher();

    FrameSalvage(Compressor decompressor) {
        this.decompressor = decompressor;
    }

    /** Returns the chunks of a frame whose bytes have the fingerprint of the directory, by slot. */
    Map<Integer, byte[]> chunks(Whole whole, int frame) {
        SealedContainer directory = whole.directory();
        int first = whole.table().firstSlot(frame);
        int end = first + whole.table().slotCount(frame);
        int listBytes = 0;
        for (int slot = first; slot < end; slot++) {
            int entry = directory.entry(slot);
            listBytes += varintBytes(entry) + (ChunkEntry.hasFingerprint(entry) ? Fingerprints.BYTES : 0);
        }
        int payload = (int) whole.table().fileOffset(frame) + FrameFormat.HEADER_BYTES + listBytes;
        int payloadBytes =
                whole.table().fileLength(frame) - FrameFormat.HEADER_BYTES - listBytes - FrameFormat.CRC_BYTES;
        Map<Integer, byte[]> found = new HashMap<>();
        if (payloadBytes <= 0) {
            return found;
        }
        byte[] data = new byte[whole.table().rawLength(frame)];
        for (Compression.Codec codec : Compression.Codec.values()) {
            if (codec == Compression.Codec.NONE) {
                System.arraycopy(whole.bytes(), payload, data, 0, Math.min(data.length, payloadBytes));
            } else {
                // What it says does not matter: each chunk is verified.
                decompressor.decompress(codec, whole.bytes(), payload, payloadBytes, data);
            }
            collect(directory, first, end, data, found);
        }
        return found;
    }

    private void collect(SealedContainer directory, int first, int end, byte[] data, Map<Integer, byte[]> found) {
        for (int slot = first; slot < end; slot++) {
            int length = directory.length(slot);
            int offset = directory.offset(slot);
            if (length > 0
                    && !found.containsKey(slot)
                    && hasher.matches(data, offset, length, directory.fingerprints(), slot * Fingerprints.BYTES)) {
                found.put(slot, Arrays.copyOfRange(data, offset, offset + length));
            }
        }
    }

    private static int varintBytes(int value) {
        return Math.max(1, (Integer.SIZE - Integer.numberOfLeadingZeros(value) + 6) / 7);
    }
}
