package org.opendedup.sar.container;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.SealedContainers.Whole;
import org.opendedup.sar.container.format.ChunkEntry;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;

/**
 * Looks in a damaged frame for chunks that have the right bytes nevertheless: a checksum, a header or another chunk may
 * be what is damaged. The directory tells where the payload begins and which fingerprint each chunk has. For one
 * thread.
 */
final class FrameSalvage {
    private final Compressor decompressor;
    private final ContainerCipher cipher;
    private final ContentHasher hasher = new ContentHasher();

    FrameSalvage(FrameDecoder decoder) {
        decompressor = decoder.decompressor();
        cipher = decoder.cipher();
    }

    /** Returns the chunks of a frame whose bytes have the fingerprint of the directory, by slot. */
    Map<Integer, byte[]> chunks(Whole whole, int frame) {
        SealedContainer directory = whole.directory();
        int first = whole.table().firstSlot(frame);
        int end = first + whole.table().slotCount(frame);
        int listBytes = 0;
        for (int slot = first; slot < end; slot++) {
            listBytes += ChunkEntry.listBytes(directory.entry(slot));
        }
        Map<Integer, byte[]> found = new HashMap<>();
        byte[] data = new byte[whole.table().rawLength(frame)];
        for (byte[] content : contents(whole, frame)) {
            int payloadBytes = content.length - listBytes;
            if (payloadBytes <= 0) {
                return found;
            }
            for (Compression.Codec codec : Compression.Codec.values()) {
                if (codec == Compression.Codec.NONE) {
                    System.arraycopy(content, listBytes, data, 0, Math.min(data.length, payloadBytes));
                } else {
                    // What it says does not matter: each chunk is verified.
                    decompressor.decompress(codec, content, listBytes, payloadBytes, data);
                }
                collect(directory, first, end, data, found);
            }
        }
        return found;
    }

    /**
     * Returns what list and payload of a frame may be. In an encrypted volume the key depends on the writing, which the
     * header names if a damaged frame was copied as it was, and on the key salt, which neighbours repeat.
     */
    private List<byte[]> contents(Whole whole, int frame) {
        FrameTable table = whole.table();
        Set<Long> keySalts = new LinkedHashSet<>();
        for (int near : new int[] {frame, frame - 1, frame + 1}) {
            if (near >= 0 && near < table.frames() && !table.isRemoved(near)) {
                keySalts.add(cipher.keySalt(whole.bytes(), content(table, near), contentBytes(table, near)));
            }
        }
        int offset = (int) table.fileOffset(frame);
        int length = table.fileLength(frame);
        Set<ContainerIdentity> identities = new LinkedHashSet<>();
        identities.add(new ContainerIdentity(
                whole.container(), table.writing().salt(), table.writing().generation()));
        FrameFormat.Header header = FrameFormat.readHeader(whole.bytes(), offset, offset + length);
        if (header != null && header.isEncrypted()) {
            identities.add(header.identity());
        }
        List<byte[]> contents = new ArrayList<>();
        for (ContainerIdentity identity : identities) {
            for (long keySalt : keySalts) {
                contents.add(cipher.readDamaged(
                        identity,
                        table.firstSlot(frame),
                        whole.bytes(),
                        content(table, frame),
                        contentBytes(table, frame),
                        keySalt));
            }
        }
        return contents;
    }

    private static int content(FrameTable table, int frame) {
        return (int) table.fileOffset(frame) + FrameFormat.HEADER_BYTES;
    }

    /** Returns the bytes between header and checksum; negative if the frame is shorter than these. */
    private static int contentBytes(FrameTable table, int frame) {
        return table.fileLength(frame) - FrameFormat.HEADER_BYTES - FrameFormat.CRC_BYTES;
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
}
