package org.opendedup.sar.container;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.ByteReader;
import org.opendedup.sar.container.format.ChunkEntry;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerFormat.Footer;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameContent;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.FrameTable;

/**
 * Makes the directory of a sealed container anew whose header, directory or footer is damaged: each frame has a list of
 * its chunks. A frame table tells which frame has which number, because numbers must stay. If there is no copy of it,
 * the frames tell, while each one begins where the one before it ends.
 *
 * <p>In an encrypted volume a list counts only if its tag holds, in the frame or in the old directory: who knows the
 * content of a chunk can change its encrypted fingerprint into that of another known chunk in both.
 */
final class DirectoryFromFrames {
    private final long container;
    private final StoredContainer stored;
    private final byte[] bytes;
    private final int length;
    private final ContainerCipher cipher;
    private final FrameContent content;
    private final String place;

    /**
     * @param stored what the container table says about the container
     * @param bytes the whole container, also where it is damaged; the rest of the array is unused
     * @param cipher that of the volume
     * @param place names the container in messages
     */
    DirectoryFromFrames(long container, StoredContainer stored, byte[] bytes, ContainerCipher cipher, String place) {
        this.cipher = cipher;
        content = new FrameContent(cipher);
        this.container = container;
        this.stored = stored;
        this.bytes = bytes;
        length = (int) stored.bytes();
        this.place = place;
    }

    /**
     * Returns the directory. The chunks of a damaged frame are in it if the frame and what is left of the old directory
     * list the same ones; otherwise their slots have length 0, although the frame is in the table.
     *
     * @param known a copy of the frame table of this writing; null if there is none
     * @throws CorruptionException if the numbers of the frames are not known
     */
    SealedContainer make(@Nullable FrameTable known) throws CorruptionException {
        FrameTable table = known != null && end(known) <= length ? known : null;
        table = table == null ? ownTable() : table;
        table = table == null ? tableFromFrames() : table;
        if (table == null) {
            throw new CorruptionException(
                    place,
                    -1,
                    "a frame table, or frames without a gap",
                    "none of them; sdfs-check --rebuild-containers finds the whole frames");
        }
        SealedContainer made = SealedContainer.of(container, table);
        if (readOldLists(table, made)) {
            return made;
        }
        for (int frame = 0; frame < table.frames(); frame++) {
            if (!table.isRemoved(frame)) {
                putList(table, frame, made);
            }
        }
        return made;
    }

    private static long end(FrameTable table) {
        int last = table.frames() - 1;
        return last < 0 ? ContainerFormat.HEADER_BYTES : table.fileOffset(last) + table.fileLength(last);
    }

    private @Nullable FrameTable ownTable() {
        try {
            byte[] end = Arrays.copyOfRange(bytes, length - ContainerFormat.FOOTER_BYTES, length);
            Footer footer = ContainerFormat.readFooter(end, container, length, cipher, place);
            int from = (int) footer.directoryOffset();
            byte[] encoded = Arrays.copyOfRange(bytes, from, from + footer.tableBytes());
            FrameTable table = FrameTable.decode(encoded, footer.identity().salt(), place);
            return table.writing().equals(stored.writing()) && end(table) <= from ? table : null;
        } catch (CorruptionException | UnsupportedFormatException e) {
            return null;
        }
    }

    /**
     * Follows the headers of the frames from the first one to the last slot. A header whose checksum does not hold
     * counts if the next one is where it says. Returns null if there is a gap: frames that are removed may have been
     * there, or frames whose header is damaged, and their number is not known.
     */
    private @Nullable FrameTable tableFromFrames() {
        FrameTable.Builder table = new FrameTable.Builder(stored.writing());
        int at = ContainerFormat.HEADER_BYTES;
        int slot = 0;
        while (slot < stored.slots()) {
            FrameFormat.Header header = FrameFormat.readHeader(bytes, at, length);
            if (header == null || !isOurs(header) || header.firstSlot() != slot) {
                return null;
            }
            table.add(slot, header.chunks(), at, header.frameBytes(), header.rawBytes());
            slot += header.chunks();
            at += header.frameBytes();
        }
        return slot == stored.slots() ? table.build() : null;
    }

    /**
     * Takes all lists from the old directory if it is encrypted and the tag holds. Only lists and tag need to be whole:
     * the footer and the table follow from what is known.
     */
    private boolean readOldLists(FrameTable table, SealedContainer made) throws CorruptionException {
        byte[] encoded = table.encode();
        int offset = (int) end(table);
        int count = length - ContainerFormat.FOOTER_BYTES - offset;
        if (cipher.tagBytes() == 0 || count < encoded.length + cipher.tagBytes() + Integer.BYTES) {
            return false;
        }
        byte[] directory = Arrays.copyOfRange(bytes, offset, offset + count);
        System.arraycopy(encoded, 0, directory, 0, encoded.length);
        ContainerIdentity identity = new ContainerIdentity(
                container, stored.writing().salt(), stored.writing().generation());
        if (ContainerFormat.openLists(directory, new Footer(identity, encoded.length, offset, count), cipher) != null) {
            return false;
        }
        made.readChunkLists(directory, encoded.length, count - Integer.BYTES - cipher.tagBytes(), place);
        return true;
    }

    private boolean isOurs(FrameFormat.Header header) {
        ContainerIdentity identity = header.identity();
        return header.tagBytes() == cipher.tagBytes()
                && identity.container() == container
                && identity.writing().equals(stored.writing());
    }

    private void putList(FrameTable table, int frame, SealedContainer made) throws CorruptionException {
        int at = (int) table.fileOffset(frame);
        FrameFormat.Header header = FrameFormat.readHeader(bytes, at, at + table.fileLength(frame));
        if (header == null
                || !isOurs(header)
                || header.frameBytes() != table.fileLength(frame)
                || header.firstSlot() != table.firstSlot(frame)
                || header.chunks() != table.slotCount(frame)
                || header.rawBytes() != table.rawLength(frame)) {
            return;
        }
        // Damaged bytes of a list might be fingerprints of other content, whose copies would be taken for these chunks.
        boolean isRight = content.open(bytes, at, header) == null
                && (header.isEncrypted() || FrameFormat.crcHolds(bytes, at, header) || isInOldDirectory(table));
        if (isRight && isList(header)) {
            made.readChunkList(frame, content.bytes(), content.listReader(place), place);
        }
    }

    private boolean isInOldDirectory(FrameTable table) {
        int from = content.list();
        int end = content.payload();
        int count = end - from;
        for (int at = (int) end(table); at + count <= length; at++) {
            if (Arrays.equals(bytes, from, end, bytes, at, at + count)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the bytes in the place of the list are a list of a frame's chunks. */
    private boolean isList(FrameFormat.Header header) {
        ByteReader list = content.listReader(place);
        try {
            long sum = 0;
            for (int chunk = 0; chunk < header.chunks(); chunk++) {
                int entry = list.readVarint();
                sum += ChunkEntry.storedBytes(entry);
                list.skip(ChunkEntry.hasFingerprint(entry) ? Fingerprints.BYTES : 0);
            }
            return sum == header.rawBytes() && list.remaining() == 0;
        } catch (CorruptionException e) {
            return false;
        }
    }
}
