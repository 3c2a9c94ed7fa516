package org.opendedup.sar.sim.block;

import java.util.Arrays;

/** A read or write of consecutive blocks of 4 KiB. One object is refilled for each request. For one thread. */
public final class BlockRequest {
    /** Size of a block, in bytes. */
    public static final int BLOCK_BYTES = 4096;
    /** Most blocks in one request: 1 MiB. */
    public static final int MAX_BLOCKS = 256;
    /** Content of a block of zero bytes. */
    public static final long ZERO_CONTENT = 0;
    /** Bits of a block's number on its device: a device has at most 2 to this power blocks, which is 1 TiB. */
    public static final int DEVICE_BITS = 28;

    private long timeNanos;
    private boolean isWrite;
    private long firstBlock;
    private int count;
    private long[] contents = new long[16];

    /**
     * Starts a new request without blocks.
     *
     * @param timeNanos time from the start of the trace, in nanoseconds
     * @param firstBlock number of the first block: the device's number, shifted left by {@link #DEVICE_BITS}, and the
     *     block's number on the device
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

    /** Returns the number of the first block. */
    public long firstBlock() {
        return firstBlock;
    }

    /** Returns the number of blocks. */
    public int count() {
        return count;
    }

    /** Returns the content written to, or read from, block {@code i} of the request, counted from 0. */
    public long content(int i) {
        return contents[i];
    }
}
