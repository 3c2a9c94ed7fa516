package org.opendedup.sar.raw;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.RandomFile;

/** The bytes of a file, with holes, and its times. Blocks are never changed, so that copies share them. */
final class SparseContent {
    private static final int BLOCK_BYTES = 512;

    private static final byte[] ZEROS = new byte[BLOCK_BYTES];

    private final TreeMap<Long, byte[]> blocks = new TreeMap<>();
    private long size;
    private long modifiedNs;
    private long changedNs;

    SparseContent copy() {
        SparseContent copy = new SparseContent();
        copy.blocks.putAll(blocks);
        copy.size = size;
        copy.modifiedNs = modifiedNs;
        copy.changedNs = changedNs;
        return copy;
    }

    /**
     * Returns what is left of a change from one content to another: blocks of both, and zeros behind the old end.
     *
     * @param size the length that is left; only the old content has bytes behind the end of the new one
     */
    static SparseContent mixed(SparseContent old, SparseContent changed, long size, Random random, long timeNs) {
        SparseContent left = new SparseContent();
        TreeSet<Long> numbers = new TreeSet<>(old.blocks.keySet());
        numbers.addAll(changed.blocks.keySet());
        for (long number : numbers) {
            long end = Math.min(size, (number + 1) * BLOCK_BYTES);
            boolean takesNew = random.nextBoolean() && end <= changed.size;
            byte[] block = (takesNew ? changed : old).blocks.get(number);
            if (block != null && number * BLOCK_BYTES < size) {
                left.blocks.put(number, block);
            }
        }
        left.size = size;
        left.truncate(size);
        // The time of a change may be durable before its bytes are.
        left.changed(random.nextBoolean() ? changed.changedNs : timeNs);
        return left;
    }

    long size() {
        return size;
    }

    RandomFile.Status status() {
        return new RandomFile.Status(size, (long) blocks.size() * BLOCK_BYTES, modifiedNs, changedNs);
    }

    /** Notes a change of bytes. */
    void changed(long timeNs) {
        changedNs = timeNs;
        modifiedNs = changedNs;
    }

    void setModified(long ns, long timeNs) {
        modifiedNs = ns;
        changedNs = timeNs;
    }

    int read(long offset, ByteBuffer target) {
        int length = (int) Math.max(0, Math.min(target.remaining(), size - offset));
        for (int done = 0; done < length; ) {
            long at = offset + done;
            int within = (int) (at % BLOCK_BYTES);
            int count = Math.min(length - done, BLOCK_BYTES - within);
            target.put(blocks.getOrDefault(at / BLOCK_BYTES, ZEROS), within, count);
            done += count;
        }
        return length;
    }

    void write(long offset, ByteBuffer source) {
        long at = offset;
        while (source.hasRemaining()) {
            int within = (int) (at % BLOCK_BYTES);
            int count = Math.min(source.remaining(), BLOCK_BYTES - within);
            byte[] block = blocks.getOrDefault(at / BLOCK_BYTES, ZEROS).clone();
            source.get(block, within, count);
            blocks.put(at / BLOCK_BYTES, block);
            at += count;
        }
        extend(at);
    }

    void extend(long end) {
        size = Math.max(size, end);
    }

    void truncate(long newSize) {
        zero(newSize, Long.MAX_VALUE);
        size = newSize;
    }

    /** Makes a range zeros: whole blocks become a hole. */
    void zero(long from, long to) {
        zeroWithin(from / BLOCK_BYTES, from, to);
        zeroWithin(to / BLOCK_BYTES, from, to);
        long first = (from + BLOCK_BYTES - 1) / BLOCK_BYTES;
        long end = to / BLOCK_BYTES;
        if (first < end) {
            blocks.subMap(first, end).clear();
        }
    }

    private void zeroWithin(long number, long from, long to) {
        byte[] block = blocks.get(number);
        if (block != null) {
            byte[] changed = block.clone();
            long start = number * BLOCK_BYTES;
            for (int i = 0; i < BLOCK_BYTES; i++) {
                if (start + i >= from && start + i < to) {
                    changed[i] = 0;
                }
            }
            blocks.put(number, changed);
        }
    }

    long seekData(long offset) throws IOException {
        Map.Entry<Long, byte[]> next = blocks.ceilingEntry(offset / BLOCK_BYTES);
        if (next == null || offset >= size) {
            throw new PosixException(Reason.ENXIO, "no data after " + offset);
        }
        return Math.max(offset, next.getKey() * BLOCK_BYTES);
    }

    long seekHole(long offset) throws IOException {
        if (offset >= size) {
            throw new PosixException(Reason.ENXIO, "nothing at " + offset);
        }
        long number = offset / BLOCK_BYTES;
        while (blocks.containsKey(number)) {
            number++;
        }
        return Math.min(size, Math.max(offset, number * BLOCK_BYTES));
    }
}
