package org.opendedup.sar.sim.year;

import java.util.SplittableRandom;
import org.opendedup.sar.sim.block.Mixing;

/**
 * Makes the bytes of chunks from their fingerprints: equal fingerprints and lengths have equal bytes. A quarter of the
 * chunks is random and cannot be compressed. The others are words of 4 to 19 bytes from a fixed list of
 * {@value #WORDS}, common ones more often; a word that the same frame had before costs little. So zstd reduces all of
 * it to about a half, as it does with trees of real files, and reduces short frames less than long ones.
 */
final class ChunkContents {
    private static final double RANDOM_SHARE = 0.25;
    private static final int WORDS = 256;
    private static final int LEAST_WORD = 4;
    private static final int WORD_LENGTHS = 16;
    private static final long WORD_SEED = 1;

    private final byte[][] words = new byte[WORDS][];

    ChunkContents() {
        SplittableRandom random = new SplittableRandom(WORD_SEED);
        for (int word = 0; word < WORDS; word++) {
            words[word] = new byte[LEAST_WORD + random.nextInt(WORD_LENGTHS)];
            random.nextBytes(words[word]);
        }
    }

    /** Writes a chunk's bytes to {@code target}, from {@code at}. */
    void write(long fingerprint, int length, byte[] target, int at) {
        if (Mixing.fraction(fingerprint) < RANDOM_SHARE) {
            writeRandom(fingerprint, target, at, at + length);
        } else {
            writeWords(fingerprint, target, at, at + length);
        }
    }

    private static void writeRandom(long fingerprint, byte[] target, int from, int to) {
        long state = fingerprint;
        for (int at = from; at < to; ) {
            state += Mixing.STEP;
            long bits = Mixing.mix(state);
            for (int end = Math.min(to, at + Long.BYTES); at < end; at++) {
                target[at] = (byte) bits;
                bits >>>= Byte.SIZE;
            }
        }
    }

    private void writeWords(long fingerprint, byte[] target, int from, int to) {
        long state = fingerprint;
        for (int at = from; at < to; ) {
            state += Mixing.STEP;
            // The smaller of two draws: low numbers are the common words.
            long bits = Mixing.mix(state);
            byte[] word = words[(int) Math.min(bits & WORDS - 1, bits >>> 32 & WORDS - 1)];
            int length = Math.min(word.length, to - at);
            System.arraycopy(word, 0, target, at, length);
            at += length;
        }
    }
}
