package org.opendedup.sar.index.chunkstash;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;

/**
 * The records of a {@link StashLog}, little-endian. Each begins with {@code length:u32 crc:u32 type:u8}:
 *
 * <pre>
 * page       flags:u8 count:u16 page:u32 container:u64 superseded:u32 0:u32
 *            [notLive:128] [notKept:128] (pointer:u64)*superseded (entry:40)*count
 * entry      slot:u16 0:u16 crc:u32 fingerprint:32
 * cover      0:u8 0:u16 0:u32 container:u64 frameTable
 * uncover    0:u8 0:u16 0:u32 container:u64
 * dropped    0:u8 0:u16 page:u32 bitmap:128
 * epoch      0:u8 0:u16 0:u32 volume:16 number:u64 token:u64
 * </pre>
 *
 * A page record carries the pointers of the entries that its own replace, so that both change together. The checksum of
 * an entry covers its page, container, slot and fingerprint: one entry is read without the rest of its page.
 */
final class StashRecords {
    static final byte PAGE = 1;
    static final byte COVER = 2;
    static final byte UNCOVER = 3;
    static final byte DROPPED = 4;
    static final byte EPOCH = 5;

    static final int ENTRY_BYTES = 8 + Fingerprints.BYTES;
    /** Offset of the fingerprint in an entry. */
    static final int FINGERPRINT_AT = 8;

    private static final int ENTRY_CRC_AT = 4;
    private static final int FLAGS_AT = 9;
    private static final int COUNT_AT = 10;
    private static final int PAGE_AT = 12;
    private static final int CONTAINER_AT = 16;
    private static final int SUPERSEDED_AT = 24;
    private static final int PAGE_HEADER_BYTES = 32;
    private static final int HEADER_BYTES = 16;
    private static final int COVER_HEADER_BYTES = 24;
    private static final int BITMAP_BYTES = PageDirectory.BITMAP_LONGS * Long.BYTES;
    private static final int HAS_NOT_LIVE = 1;
    private static final int HAS_NOT_KEPT = 2;

    private StashRecords() {}

    private static ByteBuffer record(byte type, int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN).put(StashLog.TYPE_AT, type);
    }

    /** @param entries the entries of the page, {@value #ENTRY_BYTES} bytes each, with their checksums */
    static ByteBuffer page(
            int page,
            long container,
            byte[] entries,
            int count,
            long[] superseded,
            int supersededCount,
            long @Nullable [] notLive,
            long @Nullable [] notKept) {
        int bitmaps = (notLive == null ? 0 : BITMAP_BYTES) + (notKept == null ? 0 : BITMAP_BYTES);
        int bytes = PAGE_HEADER_BYTES + bitmaps + supersededCount * Long.BYTES + count * ENTRY_BYTES;
        ByteBuffer record = record(PAGE, bytes);
        record.put(FLAGS_AT, (byte) ((notLive == null ? 0 : HAS_NOT_LIVE) | (notKept == null ? 0 : HAS_NOT_KEPT)));
        record.putShort(COUNT_AT, (short) count).putInt(PAGE_AT, page).putLong(CONTAINER_AT, container);
        record.putInt(SUPERSEDED_AT, supersededCount).position(PAGE_HEADER_BYTES);
        put(record, notLive);
        put(record, notKept);
        for (int i = 0; i < supersededCount; i++) {
            record.putLong(superseded[i]);
        }
        return record.put(entries, 0, count * ENTRY_BYTES).flip();
    }

    private static void put(ByteBuffer record, long @Nullable [] bitmap) {
        if (bitmap != null) {
            for (long bits : bitmap) {
                record.putLong(bits);
            }
        }
    }

    static ByteBuffer cover(long container, byte[] frameTable) {
        return record(COVER, COVER_HEADER_BYTES + frameTable.length)
                .putLong(CONTAINER_AT, container)
                .put(COVER_HEADER_BYTES, frameTable);
    }

    static ByteBuffer uncover(long container) {
        return record(UNCOVER, COVER_HEADER_BYTES).putLong(CONTAINER_AT, container);
    }

    /** @param entries those of the page that are forgotten */
    static ByteBuffer dropped(int page, BitSet entries) {
        ByteBuffer record = record(DROPPED, HEADER_BYTES + BITMAP_BYTES).putInt(PAGE_AT, page);
        long[] bits = entries.toLongArray();
        for (int i = 0; i < bits.length; i++) {
            record.putLong(HEADER_BYTES + i * Long.BYTES, bits[i]);
        }
        return record;
    }

    static ByteBuffer epoch(Epoch epoch) {
        return epoch.put(record(EPOCH, HEADER_BYTES + Epoch.BYTES).position(HEADER_BYTES))
                .flip();
    }

    static byte type(ByteBuffer record) {
        return record.get(StashLog.TYPE_AT);
    }

    static int count(ByteBuffer record) {
        return Short.toUnsignedInt(record.getShort(COUNT_AT));
    }

    static int pageNumber(ByteBuffer record) {
        return record.getInt(PAGE_AT);
    }

    static long container(ByteBuffer record) {
        return record.getLong(CONTAINER_AT);
    }

    static long @Nullable [] notLive(ByteBuffer page) {
        return bitmap(page, PAGE_HEADER_BYTES, HAS_NOT_LIVE);
    }

    static long @Nullable [] notKept(ByteBuffer page) {
        boolean both = (page.get(FLAGS_AT) & HAS_NOT_LIVE) != 0;
        return bitmap(page, PAGE_HEADER_BYTES + (both ? BITMAP_BYTES : 0), HAS_NOT_KEPT);
    }

    private static long @Nullable [] bitmap(ByteBuffer page, int at, int flag) {
        if ((page.get(FLAGS_AT) & flag) == 0) {
            return null;
        }
        long[] bits = new long[PageDirectory.BITMAP_LONGS];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = page.getLong(at + i * Long.BYTES);
        }
        return bits;
    }

    /** Returns the pointers that the entries of a page replace. */
    static long[] superseded(ByteBuffer page) {
        long[] pointers = new long[page.getInt(SUPERSEDED_AT)];
        int at = entriesAt(page.limit(), count(page)) - pointers.length * Long.BYTES;
        for (int i = 0; i < pointers.length; i++) {
            pointers[i] = page.getLong(at + i * Long.BYTES);
        }
        return pointers;
    }

    /** Returns the offset in a page record of its entries. */
    static int entriesAt(int recordLength, int count) {
        return recordLength - count * ENTRY_BYTES;
    }

    static boolean isDropped(ByteBuffer record, int entry) {
        return (record.getLong(HEADER_BYTES + entry / Long.SIZE * Long.BYTES) & 1L << entry) != 0;
    }

    static Epoch epoch(ByteBuffer record) {
        return Epoch.get(record.position(HEADER_BYTES));
    }

    static byte[] frameTable(ByteBuffer cover) {
        byte[] frameTable = new byte[cover.limit() - COVER_HEADER_BYTES];
        cover.get(COVER_HEADER_BYTES, frameTable);
        return frameTable;
    }

    /** Writes an entry without its checksum. */
    static void putEntry(byte[] entries, int entry, int slot, byte[] fingerprints, int offset) {
        int at = entry * ENTRY_BYTES;
        entries[at] = (byte) slot;
        entries[at + 1] = (byte) (slot >>> Byte.SIZE);
        System.arraycopy(fingerprints, offset, entries, at + FINGERPRINT_AT, Fingerprints.BYTES);
    }

    static int slot(byte[] entries, int entry) {
        int at = entry * ENTRY_BYTES;
        return Byte.toUnsignedInt(entries[at]) | Byte.toUnsignedInt(entries[at + 1]) << Byte.SIZE;
    }

    /** Sets the checksums of all entries of a page. */
    static void seal(int page, long container, byte[] entries, int count) {
        ByteBuffer bytes = ByteBuffer.wrap(entries).order(ByteOrder.LITTLE_ENDIAN);
        for (int entry = 0; entry < count; entry++) {
            bytes.putInt(entry * ENTRY_BYTES + ENTRY_CRC_AT, entryCrc(page, container, entries, entry));
        }
    }

    /** Returns whether an entry that was read alone has its checksum. */
    static boolean isSound(int page, long container, byte[] entry) {
        return ByteBuffer.wrap(entry).order(ByteOrder.LITTLE_ENDIAN).getInt(ENTRY_CRC_AT)
                == entryCrc(page, container, entry, 0);
    }

    private static int entryCrc(int page, long container, byte[] entries, int entry) {
        CRC32C crc = new CRC32C();
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            crc.update(page >>> shift);
        }
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            crc.update((int) (container >>> shift));
        }
        crc.update(entries, entry * ENTRY_BYTES, ENTRY_CRC_AT);
        crc.update(entries, entry * ENTRY_BYTES + FINGERPRINT_AT, Fingerprints.BYTES);
        return (int) crc.getValue();
    }
}
