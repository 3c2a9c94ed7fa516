package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;

/**
 * Finds out where the blocks of a RocksDB table begin, as keys. RocksDB does not step over a damaged block; it reads on
 * from a key behind it. A table's index has such a key for each block: not lower than the block's last key, and lower
 * than the first key of the next block. RocksDB gives no access to it, so this class reads it: the footer, the index of
 * the index, and its partitions, as {@link DatabaseOptions} chooses them (format version 5, partitions, LZ4 or
 * nothing).
 *
 * <p>The keys are only used to look for records, which RocksDB verifies. So no checksum is verified here, and a damaged
 * index gives fewer or wrong keys: then more records are taken for lost, and none is wrong.
 */
public final class TableSeparators {
    private static final int FOOTER_BYTES = 53;
    private static final long MAGIC = 0x88e241b785f4cff7L;
    private static final int NO_COMPRESSION = 0;
    private static final int LZ4 = 4;
    /** Type of compression and checksum, after each block. */
    private static final int TRAILER_BYTES = 5;

    private static final int MAX_BLOCK_BYTES = 64 << 20;

    private final Input table;
    private final List<byte[]> keys = new ArrayList<>();

    private record Place(long offset, long bytes) {}

    private record IndexEntry(byte[] key, Place place) {}

    private TableSeparators(Input table) {
        this.table = table;
    }

    /** Returns the keys in ascending order as far as they can be read; empty if none can. */
    public static List<byte[]> of(Path file) throws IOException {
        Directory folder =
                FileDirectory.open(Objects.requireNonNull(file.toAbsolutePath().getParent()));
        String name = file.getFileName().toString();
        try (Input table = folder.open(name)) {
            TableSeparators separators = new TableSeparators(table);
            separators.read(table.length());
            separators.keys.sort(Arrays::compareUnsigned);
            return separators.keys;
        }
    }

    private void read(long length) throws IOException {
        for (IndexEntry partition : topLevel(length)) {
            keys.add(partition.key());
            try {
                for (IndexEntry block : entries(partition.place())) {
                    keys.add(block.key());
                }
            } catch (IOException | RuntimeException e) {
                // A damaged partition: the blocks of the others are found.
                continue;
            }
        }
    }

    private List<IndexEntry> topLevel(long length) {
        if (length < FOOTER_BYTES) {
            return List.of();
        }
        try {
            ByteBuffer footer = read(new Place(length - FOOTER_BYTES, FOOTER_BYTES));
            if (footer.getLong(FOOTER_BYTES - Long.BYTES) != MAGIC) {
                return List.of();
            }
            footer.position(1);
            place(footer);
            return entries(place(footer));
        } catch (IOException | RuntimeException e) {
            // A damaged footer, or a damaged index of the index.
            return List.of();
        }
    }

    private ByteBuffer read(Place place) throws IOException {
        if (place.bytes() < 0 || place.bytes() > MAX_BLOCK_BYTES || place.offset() < 0) {
            throw new IOException("no place of a block: " + place);
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) place.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        table.readFully(place.offset(), bytes);
        return bytes.flip();
    }

    private List<IndexEntry> entries(Place place) throws IOException {
        ByteBuffer stored = read(new Place(place.offset(), place.bytes() + TRAILER_BYTES));
        int type = stored.get((int) place.bytes());
        stored.limit((int) place.bytes());
        ByteBuffer block = decompress(stored, type);
        int restarts = block.getInt(block.limit() - Integer.BYTES) & 0x0fff_ffff;
        block.limit(block.limit() - Integer.BYTES - restarts * Integer.BYTES);
        List<IndexEntry> entries = new ArrayList<>();
        byte[] key = {};
        Place before = new Place(0, 0);
        while (block.hasRemaining()) {
            int shared = length(block, key.length);
            byte[] rest = new byte[length(block, block.remaining())];
            block.get(rest);
            byte[] next = Arrays.copyOf(key, shared + rest.length);
            System.arraycopy(rest, 0, next, shared, rest.length);
            before = shared == 0 ? place(block) : following(before, block);
            key = next;
            entries.add(new IndexEntry(key, before));
        }
        return entries;
    }

    private static int length(ByteBuffer in, int max) throws IOException {
        long length = varint(in);
        if (length < 0 || length > max) {
            throw new IOException("a length of " + length + " bytes where " + max + " is the maximum");
        }
        return (int) length;
    }

    private static ByteBuffer decompress(ByteBuffer stored, int type) throws IOException {
        if (type == NO_COMPRESSION) {
            return stored;
        }
        if (type != LZ4) {
            throw new IOException("a block with compression " + type);
        }
        long bytes = varint(stored);
        if (bytes > MAX_BLOCK_BYTES) {
            throw new IOException("a block of " + bytes + " bytes");
        }
        byte[] compressed = new byte[stored.remaining()];
        stored.get(compressed);
        byte[] block = new byte[(int) bytes];
        try {
            LZ4Factory.fastestInstance().safeDecompressor().decompress(compressed, 0, compressed.length, block, 0);
        } catch (LZ4Exception e) {
            throw new IOException("a damaged block", e);
        }
        return ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static Place place(ByteBuffer in) {
        return new Place(varint(in), varint(in));
    }

    private static Place following(Place before, ByteBuffer in) {
        long zigzag = varint(in);
        long difference = zigzag >>> 1 ^ -(zigzag & 1);
        return new Place(before.offset() + before.bytes() + TRAILER_BYTES, before.bytes() + difference);
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("a number of more than 64 bits");
    }
}
