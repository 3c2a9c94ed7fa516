package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The format of a recipe page's record: a byte of type and version, the entries, and a CRC-32C. The checksum detects
 * damage in the database, so that a damaged record is never read as another file's bytes.
 *
 * <pre>
 * record := type and version (1 byte: type in the upper four bits, version in the lower four)
 *           entry*
 *           crc    (4 bytes: CRC-32C of the key and of all bytes before it)
 * entry  := head   (varint: (length - 1) * 4 + kind)
 *           place  (by kind)
 *           prefix (first 4 bytes of the fingerprint; not for ZEROS)
 * place  := ZEROS | NEXT_SLOT     nothing
 *         | SAME_CONTAINER        slot (zigzag)
 *         | ELSEWHERE             container (zigzag, from the previous entry's), slot (zigzag), chunk offset (varint)
 * </pre>
 *
 * Slots are stored as differences from the slot after the previous entry's. For the first entry, the previous entry
 * counts as container 0 and slot -1. The usual entry is NEXT_SLOT: 6 bytes for a chunk of up to 4 KiB, 7 up to 512 KiB.
 * Type 0 is a deduplicated page; type 1 is reserved for a page that is stored raw on the fast tier.
 */
public final class RecipeFormat {
    static final int VERSION = 1;

    private static final int ZEROS = 0;
    private static final int NEXT_SLOT = 1;
    private static final int SAME_CONTAINER = 2;
    private static final int ELSEWHERE = 3;

    private RecipeFormat() {}

    public static byte[] encode(byte[] key, RecipePage page) {
        ValueWriter out = new ValueWriter(16 + 8 * page.count()).writeByte(VERSION);
        long container = 0;
        int nextSlot = 0;
        for (int entry = 0; entry < page.count(); entry++) {
            writeEntry(out, page, entry, container, nextSlot);
            if (!page.isZero(entry)) {
                container = ChunkId.container(page.chunkId(entry));
                nextSlot = ChunkId.slot(page.chunkId(entry)) + 1;
            }
        }
        out.writeIntLittleEndian(RecordChecksum.of(key, out.buffer(), out.length()));
        return out.toBytes();
    }

    private static void writeEntry(ValueWriter out, RecipePage page, int entry, long container, int nextSlot) {
        long head = (page.length(entry) - 1L) << 2;
        if (page.isZero(entry)) {
            out.writeVarint(head | ZEROS);
            return;
        }
        long chunkContainer = ChunkId.container(page.chunkId(entry));
        int slotDelta = ChunkId.slot(page.chunkId(entry)) - nextSlot;
        if (chunkContainer != container || page.chunkOffset(entry) != 0) {
            out.writeVarint(head | ELSEWHERE)
                    .writeZigzag(chunkContainer - container)
                    .writeZigzag(slotDelta)
                    .writeVarint(page.chunkOffset(entry));
        } else if (slotDelta != 0) {
            out.writeVarint(head | SAME_CONTAINER).writeZigzag(slotDelta);
        } else {
            out.writeVarint(head | NEXT_SLOT);
        }
        out.writeIntLittleEndian(page.fingerprintPrefix(entry));
    }

    /**
     * Decodes a page with its birth.
     *
     * @param pageBytes maximum number of bytes that a page describes
     */
    public static RecipePage decode(byte[] key, byte[] value, int pageBytes)
            throws CorruptionException, UnsupportedFormatException {
        long inode = Keys.longAt(key, 0);
        String kind = "recipe page " + Keys.longAt(key, Keys.LONG_BYTES) + " of inode";
        byte[] body = Births.body(value);
        RecordChecksum.verify(SnapshotIds.plainKey(key), body, kind, inode);
        ValueReader in = new ValueReader(body, body.length - RecordChecksum.BYTES, kind, inode).expectVersion(VERSION);
        RecipePage.Builder page = new RecipePage.Builder();
        long container = 0;
        long nextSlot = 0;
        while (in.remaining() > 0) {
            long head = in.readVarint((((long) pageBytes - page.bytes()) << 2) - 1);
            int length = (int) (head >>> 2) + 1;
            int form = (int) head & 3;
            if (form == ZEROS) {
                page.add(ChunkId.NONE, 0, length, 0);
                continue;
            }
            container += form == ELSEWHERE ? in.readZigzag() : 0;
            long slot = nextSlot + (form == NEXT_SLOT ? 0 : in.readZigzag());
            int offset = form == ELSEWHERE ? (int) in.readVarint(Integer.MAX_VALUE) : 0;
            if (container <= 0 || container > ChunkId.MAX_CONTAINER || slot < 0 || slot >= ChunkId.MAX_SLOTS) {
                throw in.corruption("a chunk id", container + ":" + slot);
            }
            page.add(ChunkId.of(container, (int) slot), offset, length, in.readIntLittleEndian());
            nextSlot = slot + 1;
        }
        return page.build().bornIn(Births.of(value));
    }
}
