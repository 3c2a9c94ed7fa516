package org.opendedup.sar.volume;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The contents of a file that is read while it is written: blocks that contain their number and version. So a reader
 * knows whether a block is whole, and written no later than the read. Each block has one writer at a time, any number
 * of readers.
 */
public final class VersionedBlocks {
    /** Of a block. */
    public static final int BYTES = 2048;

    /** By block: the version that is being written, and the one whose write has returned. */
    private final AtomicLongArray begun;

    private final AtomicLongArray done;

    /** @param count number of blocks, none of which was written yet */
    public VersionedBlocks(int count) {
        begun = new AtomicLongArray(count);
        done = new AtomicLongArray(count);
    }

    /** The bytes of the next version of some blocks, which are going to be written. */
    public ByteBuffer begin(int first, int count) {
        ByteBuffer bytes = ByteBuffer.allocate(count * BYTES);
        for (int block = first; block < first + count; block++) {
            put(bytes, block, begun.incrementAndGet(block));
        }
        return bytes.flip();
    }

    /** Their write has returned. */
    public void end(int first, int count) {
        for (int block = first; block < first + count; block++) {
            done.set(block, begun.get(block));
        }
    }

    private static void put(ByteBuffer target, int block, long version) {
        Random bytes = new Random(version << 32 | block);
        target.putInt(block).putInt((int) version);
        for (int i = 2 * Integer.BYTES; i < BYTES; i += Integer.BYTES) {
            target.putInt(bytes.nextInt());
        }
    }

    /** The versions of blocks whose writes have returned; 0: none. */
    public long[] versions(int first, int count) {
        long[] versions = new long[count];
        for (int i = 0; i < count; i++) {
            versions[i] = done.get(first + i);
        }
        return versions;
    }

    /**
     * Whether each block that was read is whole, and not older than the versions before the read.
     *
     * @param read begins with block {@code first}; an incomplete block at its end is ignored
     */
    public boolean isUpToDate(ByteBuffer read, int first, long[] versionsBefore) {
        ByteBuffer expected = ByteBuffer.allocate(BYTES);
        for (int i = 0; read.remaining() >= BYTES; i++) {
            int version = read.getInt(read.position() + Integer.BYTES);
            put(expected.clear(), first + i, version);
            boolean isWhole = expected.flip().equals(read.slice().limit(BYTES));
            if (!isWhole || version < versionsBefore[i] || version > begun.get(first + i)) {
                return false;
            }
            read.position(read.position() + BYTES);
        }
        return true;
    }
}
