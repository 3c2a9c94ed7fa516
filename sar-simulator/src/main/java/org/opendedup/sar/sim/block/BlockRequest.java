package org.opendedup.sar.sim.block;

import java.util.Arrays;

/** A read or write of consecutive blocks of 4 KiB. Filled again for the next one. For one thread. */
public final class BlockRequest {
    /** Bytes of a block. */
    public static final int BLOCK_BYTES = 4096;
    /** The most blocks of one request: a MiB. */
    public static final int MAX_BLOCKS = 256;
    /** The content of a block of zero bytes. */
    public static final long ZERO_CONTENT = 0;
    /** A device of the trace has this many blocks at most: a TiB. */
    public static final int DEVICE_BITS = 28;

    private long timeNanos;
    private boolean isWrite;
    private long firstBlock;
    private int count;
    private long[] contents = new long[16];

    /**
     * Begins anew, without blocks.
     *
     * @param timeNanos since the start of the trace
     * @param firstBlock number of the first block: the device's number, shifted left by {@link #DEVICE_BITS}, and the block's on it
     */
    public void begin(long timeNanos, boolean isWrite, long firstBlock) {
        this.timeNanos = timeNanos;
        this.isWrite = isWrite;
        this.firstBlock = firstBlock;
        count = 0;
    }

    /** Adds the block that follows; there must be fewer than {@link #MAX_BLOCKS}. */
    public void add(long content) {
        assert count < MAX_BLOCKS : count;
        if (count == contents.length) {
            contents = Arrays.copyOf(contents, 2 * count);
        }
        contents[count++] = content;
    }

    public long timeNanos() {
        return timeNanos;
    }

    public boolean isWrite() {
        return isWrite;
    }

    /** Number of the first block. */
    public long firstBlock() {
        return firstBlock;
    }

    /** Number of blocks. */
    public int count() {
        return count;
    }

    /** What is written to, or was read from, the block so many after the first. */
    public long content(int i) {
        return contents[i];
    }
}
