package org.opendedup.sar.volume;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The contents written to each block of a file, by any number of threads at once, and when each write began and
 * returned. So the possible values of each byte are known: a write no longer counts after another write has begun after
 * it and has returned.
 */
final class BlockHistory {
    /** Of a block. */
    static final int BYTES = 2048;

    /** Blocks that were made zero; other contents are identified by their number. */
    private static final long ZEROS = 0;

    private static final long NOT_RETURNED = Long.MAX_VALUE;

    private final AtomicLong clock = new AtomicLong();
    private final AtomicLong contents = new AtomicLong();
    private final Block[] blocks;

    /** @param count number of blocks, all of them zeros */
    BlockHistory(int count) {
        blocks = new Block[count];
        for (int i = 0; i < count; i++) {
            blocks[i] = new Block();
        }
    }

    /** The writes to one block. Guarded by its monitor. */
    private static final class Block {
        private long[] content = new long[4];
        private long[] returned = new long[4];
        private int count;
        /** When the last of the returned writes began. */
        private long latestBegan;

        Block() {
            begin(ZEROS);
            returned[0] = 0;
        }

        synchronized int begin(long newContent) {
            if (count == content.length) {
                content = Arrays.copyOf(content, 2 * count);
                returned = Arrays.copyOf(returned, 2 * count);
            }
            content[count] = newContent;
            returned[count] = NOT_RETURNED;
            return count++;
        }

        synchronized void end(int write, long began, long now) {
            returned[write] = now;
            latestBegan = Math.max(latestBegan, began);
        }

        synchronized long latestBegan() {
            return latestBegan;
        }

        /** The contents of writes that returned at {@code time} or later, or have not returned. */
        synchronized long[] since(long time) {
            long[] found = new long[count];
            int length = 0;
            for (int i = 0; i < count; i++) {
                if (returned[i] >= time) {
                    found[length++] = content[i];
                }
            }
            return Arrays.copyOf(found, length);
        }
    }

    /** Writes to some blocks, which have begun. */
    final class Write {
        private final int first;
        private final int[] writes;
        private final long[] content;
        private final long began = clock.incrementAndGet();

        private Write(int first, long[] content) {
            this.first = first;
            this.content = content;
            writes = new int[content.length];
            for (int i = 0; i < writes.length; i++) {
                writes[i] = blocks[first + i].begin(content[i]);
            }
        }

        /** They have returned. */
        void end() {
            long now = clock.incrementAndGet();
            for (int i = 0; i < writes.length; i++) {
                blocks[first + i].end(writes[i], began, now);
            }
        }

        ByteBuffer bytes() {
            return bytesOf(content);
        }
    }

    /** Some blocks are going to be written with new contents. */
    Write write(int first, int count) {
        return write(first, newContents(count));
    }

    /** Some blocks are going to have these contents. */
    Write write(int first, long[] content) {
        return new Write(first, content.clone());
    }

    /** Some blocks are going to be zeros. */
    Write zero(int first, int count) {
        return new Write(first, new long[count]);
    }

    /** Contents that no block has. */
    long[] newContents(int count) {
        long end = contents.addAndGet(count);
        long[] content = new long[count];
        Arrays.setAll(content, i -> end - i);
        return content;
    }

    static ByteBuffer bytesOf(long[] content) {
        ByteBuffer bytes = ByteBuffer.allocate(content.length * BYTES);
        for (long one : content) {
            bytes.put(bytesOf(one));
        }
        return bytes.flip();
    }

    private static byte[] bytesOf(long content) {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        if (content != ZEROS) {
            SplittableRandom random = new SplittableRandom(content);
            while (bytes.hasRemaining()) {
                bytes.putLong(random.nextLong());
            }
        }
        return bytes.array();
    }

    /** The least that a read must return: all writes that have returned by now. By block, for {@link #problem}. */
    long[] returned() {
        return Arrays.stream(blocks).mapToLong(Block::latestBegan).toArray();
    }

    /**
     * Returns what is wrong with bytes that were read from the file, for all blocks that it may have.
     *
     * @param least from an earlier {@link #returned}
     */
    Optional<String> problem(byte[] found, long[] least) {
        for (int block = 0; block < blocks.length; block++) {
            long[] possible = blocks[block].since(least[block]);
            if (!isPossible(found, block * BYTES, possible)) {
                return Optional.of("block " + block + ", from byte " + (long) block * BYTES + " on, has "
                        + describe(found, block * BYTES) + "; possible are the last " + possible.length + " of "
                        + blocks[block].since(0).length + " contents");
            }
        }
        return Optional.empty();
    }

    /** Whether each byte is that of one of the contents. */
    private static boolean isPossible(byte[] found, int at, long[] possible) {
        boolean[] explained = new boolean[BYTES];
        int left = BYTES;
        for (int i = possible.length - 1; i >= 0 && left > 0; i--) {
            byte[] bytes = bytesOf(possible[i]);
            for (int b = 0; b < BYTES; b++) {
                if (!explained[b] && bytes[b] == found[at + b]) {
                    explained[b] = true;
                    left--;
                }
            }
        }
        return left == 0;
    }

    private static String describe(byte[] found, int at) {
        int zeros = 0;
        for (int b = 0; b < BYTES; b++) {
            zeros += found[at + b] == 0 ? 1 : 0;
        }
        return zeros + " zeros";
    }
}
