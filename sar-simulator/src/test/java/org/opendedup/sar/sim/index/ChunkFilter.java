package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** A Bloom filter in memory with 10 bits and 5 hash functions a chunk: one new chunk in a hundred passes it. */
final class ChunkFilter {
    private static final int BITS = 10;
    private static final int HASHES = 5;

    private final long[] words;

    /** @param chunks chunks that it is made for */
    ChunkFilter(long chunks) {
        words = new long[words(chunks)];
    }

    private ChunkFilter(long[] words) {
        this.words = words;
    }

    private static int words(long chunks) {
        return Math.toIntExact(Math.max(1, chunks * BITS / Long.SIZE));
    }

    /** Reads a filter that was written; makes an empty one if there is none. */
    static ChunkFilter read(Path file, long chunks) throws IOException {
        if (!Files.exists(file)) {
            return new ChunkFilter(chunks);
        }
        long[] words = new long[(int) (Files.size(file) / Long.BYTES)];
        ByteBuffer.wrap(Files.readAllBytes(file)).asLongBuffer().get(words);
        if (words.length != words(chunks)) {
            throw new IOException(file + " is for another number of chunks");
        }
        return new ChunkFilter(words);
    }

    void write(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(words.length * Long.BYTES);
        bytes.asLongBuffer().put(words);
        Files.write(file, bytes.array());
    }

    void add(long key) {
        for (int hash = 0; hash < HASHES; hash++) {
            long bit = bit(key, hash);
            words[(int) (bit / Long.SIZE)] |= 1L << bit;
        }
    }

    boolean mayHave(long key) {
        for (int hash = 0; hash < HASHES; hash++) {
            long bit = bit(key, hash);
            if ((words[(int) (bit / Long.SIZE)] & 1L << bit) == 0) {
                return false;
            }
        }
        return true;
    }

    private long bit(long key, int hash) {
        // Two hash functions make the others (Kirsch and Mitzenmacher, ESA 2006).
        return Long.remainderUnsigned(key + hash * (Long.rotateLeft(key, 32) | 1), (long) words.length * Long.SIZE);
    }

    /** Returns its memory, in bytes. */
    long bytes() {
        return (long) words.length * Long.BYTES;
    }
}
