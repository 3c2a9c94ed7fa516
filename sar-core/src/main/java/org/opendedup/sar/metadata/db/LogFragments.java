package org.opendedup.sar.metadata.db;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Reads a file in RocksDB's log format: blocks of 32 KiB, filled with fragments of records. Reports every fragment with
 * a correct checksum, and every place without one. For one thread.
 *
 * <p>A fragment is a masked CRC-32C (4 bytes) of the bytes after the length, the payload's length (2), the type (1) and
 * the payload, all little-endian. The first and the middle fragments of a record end with their block. Up to 6 bytes at
 * a block's end are not a fragment.
 */
final class LogFragments {
    static final int BLOCK_BYTES = 32 << 10;

    private static final int HEADER_BYTES = 7;
    private static final int PAGE_BYTES = 4096;
    private static final int CRC_MASK = 0xa282ead8;

    /** The position of a fragment in its record. */
    enum Type {
        /** Types that our options never write. */
        OTHER,
        WHOLE,
        FIRST,
        MIDDLE,
        LAST;

        static Type of(byte code) {
            return code >= 1 && code <= 4 ? values()[code] : OTHER;
        }
    }

    /** Receives fragments and damage in the order of the file. */
    interface Visitor {
        /**
         * Reports a fragment with a correct checksum.
         *
         * @param offset offset of its header in the file, in bytes
         * @param payload valid during the call only
         */
        void fragment(Type type, long offset, ByteBuffer payload);

        /**
         * Reports that no fragment begins here, although one should. The next fragment, if any, lies after this offset.
         */
        void damage(long offset);
    }

    private final byte[] block = new byte[BLOCK_BYTES];
    private final ByteBuffer fields = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C crc = new CRC32C();

    void read(Path file, Visitor visitor) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long length = channel.size();
            for (long start = 0; start < length; start += BLOCK_BYTES) {
                int size = (int) Math.min(BLOCK_BYTES, length - start);
                fill(channel, start, size);
                visitBlock(start, size, visitor);
            }
        }
    }

    /** Unreadable pages count as damaged: a disk that loses power during a write can also leave unreadable pages. */
    private void fill(FileChannel channel, long start, int size) {
        for (int at = 0; at < size; at += PAGE_BYTES) {
            int end = Math.min(size, at + PAGE_BYTES);
            try {
                fill(channel, start, at, end);
            } catch (IOException e) {
                Arrays.fill(block, at, end, (byte) 0);
            }
        }
    }

    private void fill(FileChannel channel, long start, int from, int to) throws IOException {
        ByteBuffer target = ByteBuffer.wrap(block, from, to - from);
        while (target.hasRemaining()) {
            if (channel.read(target, start + target.position()) < 0) {
                throw new EOFException("the log was cut off while it was read");
            }
        }
    }

    private void visitBlock(long start, int size, Visitor visitor) {
        int at = 0;
        while (size - at >= HEADER_BYTES) {
            if (isFragment(at, size)) {
                ByteBuffer payload = ByteBuffer.wrap(block, at + HEADER_BYTES, payloadBytes(at))
                        .slice()
                        .asReadOnlyBuffer()
                        .order(ByteOrder.LITTLE_ENDIAN);
                visitor.fragment(type(at), start + at, payload);
                at = end(at);
            } else {
                visitor.damage(start + at);
                at = nextFragment(at + 1, size);
            }
        }
        if (at < size && size < BLOCK_BYTES) {
            visitor.damage(start + at); // a part of a header at the file's end
        }
    }

    /**
     * Returns the next offset where a fragment begins, or {@code size}. The lengths in damaged headers cannot be
     * trusted, so every byte is tried. A fragment that begins within a block is a whole record, or the first of a
     * record; then it ends with the block.
     */
    private int nextFragment(int from, int size) {
        for (int at = from; size - at >= HEADER_BYTES; at++) {
            Type type = type(at);
            boolean possible = type == Type.WHOLE || type == Type.FIRST && end(at) == BLOCK_BYTES;
            if (possible && isFragment(at, size)) {
                return at;
            }
        }
        return size;
    }

    private boolean isFragment(int at, int size) {
        if (block[at + 6] == 0 || end(at) > size) {
            return false;
        }
        crc.reset();
        crc.update(block, at + 6, 1 + payloadBytes(at));
        int value = (int) crc.getValue();
        return fields.getInt(at) == Integer.rotateRight(value, 15) + CRC_MASK;
    }

    private Type type(int at) {
        return Type.of(block[at + 6]);
    }

    private int payloadBytes(int at) {
        return fields.getShort(at + 4) & 0xffff;
    }

    private int end(int at) {
        return at + HEADER_BYTES + payloadBytes(at);
    }
}
