package org.opendedup.sar.chunk;

import java.nio.ByteBuffer;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * The 256 values of the Gear hash: the output of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
 * Number Generators", OOPSLA 2014) from a fixed seed. Frozen, because the chunk boundaries depend on them.
 */
final class Gear {
    /** "SARforFS" in ASCII. */
    private static final long SEED = 0x534152666f724653L;

    private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

    private Gear() {}

    static long[] table() {
        long[] table = new long[256];
        long state = SEED;
        for (int i = 0; i < table.length; i++) {
            state += GOLDEN_GAMMA;
            table[i] = mix(state);
        }
        return table;
    }

    /**
     * Returns the values of an encrypted volume. Who has no key cannot compute where known content is cut, and so
     * cannot look for the lengths of its chunks.
     */
    static long[] table(VolumeKeys keys) {
        long[] table = new long[256];
        ByteBuffer.wrap(keys.derive(Purpose.CUTTING, new byte[0], table.length * Long.BYTES))
                .asLongBuffer()
                .get(table);
        return table;
    }

    /** Returns a copy of {@code table} with each value shifted left by {@code bits}. */
    static long[] shifted(long[] table, int bits) {
        long[] shifted = new long[table.length];
        for (int i = 0; i < table.length; i++) {
            shifted[i] = table[i] << bits;
        }
        return shifted;
    }

    private static long mix(long state) {
        long z = state;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
