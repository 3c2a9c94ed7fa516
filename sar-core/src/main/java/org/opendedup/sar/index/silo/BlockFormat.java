package org.opendedup.sar.index.silo;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;

/**
 * The bytes of a block file (docs/FORMAT.md, "Blocks of a SiLo index"). Numbers are little-endian:
 *
 * <pre>
 * magic (8) "SARBLOCK", format (4), number (4), index (8), segments (4), entries (4), data bytes (8),
 * CRC-32C of what follows (4), CRC-32C of the header up to here (4)
 * segments x end (4)                     the number of entries before the end of the segment
 * entries x (fingerprint (32), id (8))   the sign bit of an id is set if the copy was new
 * </pre>
 */
final class BlockFormat {
    static final int HEADER_BYTES = 48;
    static final int FORMAT = 1;

    private static final byte[] MAGIC = "SARBLOCK".getBytes(StandardCharsets.US_ASCII);
    private static final int BODY_CRC = 40;
    private static final int HEADER_CRC = 44;
    /** Each segment has an entry. */
    private static final long MAX_BYTES = HEADER_BYTES + (long) Block.MAX_ENTRIES * (Block.ENTRY_BYTES + Integer.BYTES);

    private BlockFormat() {}

    /**
     * Returns the bytes of a block.
     *
     * @param index random number of the index that it belongs to
     */
    static ByteBuffer encode(Block block, long index) {
        int ends = block.segments() * Integer.BYTES;
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES + ends + block.count() * Block.ENTRY_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(MAGIC)
                .putInt(FORMAT)
                .putInt(block.number())
                .putLong(index)
                .putInt(block.segments())
                .putInt(block.count())
                .putLong(block.dataBytes())
                .position(HEADER_BYTES);
        for (int segment = 0; segment < block.segments(); segment++) {
            bytes.putInt(block.segmentEnd(segment));
        }
        bytes.put(block.entries(), 0, block.count() * Block.ENTRY_BYTES).flip();
        bytes.putInt(BODY_CRC, crc(bytes.array(), HEADER_BYTES, bytes.limit()));
        return bytes.putInt(HEADER_CRC, crc(bytes.array(), 0, HEADER_CRC));
    }

    /**
     * Returns the block of a file.
     *
     * @param bytes all of the file
     * @param place its name, for messages
     * @throws CorruptionException if the bytes are not a block of that index with that number
     */
    static Block decode(byte[] bytes, long index, int number, String place) throws CorruptionException {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        require(bytes.length >= HEADER_BYTES, place, "a header", bytes.length + " bytes");
        require(in.getInt(HEADER_CRC) == crc(bytes, 0, HEADER_CRC), place, "a header with its checksum", "others");
        byte[] magic = new byte[MAGIC.length];
        in.get(magic);
        require(Arrays.equals(magic, MAGIC), place, "the magic of a block", "another");
        int format = in.getInt();
        require(format == FORMAT, place, "format " + FORMAT, "format " + format);
        int found = in.getInt();
        require(found == number, place, "block " + number, "block " + found);
        require(in.getLong() == index, place, "a block of this index", "one of another");
        int segments = in.getInt();
        int entries = in.getInt();
        long dataBytes = in.getLong();
        require(entries >= 0 && entries <= Block.MAX_ENTRIES, place, "at most " + Block.MAX_ENTRIES, "" + entries);
        require(segments >= 0 && segments <= entries, place, "at most a segment an entry", segments + " segments");
        int length = HEADER_BYTES + segments * Integer.BYTES + entries * Block.ENTRY_BYTES;
        require(bytes.length == length, place, length + " bytes", bytes.length + " bytes");
        require(
                in.getInt(BODY_CRC) == crc(bytes, HEADER_BYTES, length),
                place,
                "entries with their checksum",
                "others");
        int[] ends = new int[segments];
        in.position(HEADER_BYTES);
        for (int segment = 0; segment < segments; segment++) {
            ends[segment] = in.getInt();
        }
        byte[] all = new byte[entries * Block.ENTRY_BYTES];
        in.get(all);
        return Block.of(number, all, ends, dataBytes);
    }

    /** Returns whether a file of this length can be a block: it is not read otherwise. */
    static boolean isPossible(long length) {
        return length >= HEADER_BYTES && length <= MAX_BYTES;
    }

    private static void require(boolean is, String place, String expected, String found) throws CorruptionException {
        if (!is) {
            throw new CorruptionException(place, -1, expected, found);
        }
    }

    private static int crc(byte[] bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, to - from);
        return (int) crc.getValue();
    }
}
