package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongHashSet;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.sim.block.Mixing;

/** A segment of a trace: about 2 MiB of contiguous chunks. Reused for the next one. */
final class TraceSegment {
    private final Segment segment = new Segment(0);
    private long[] keys = new long[256];
    private boolean[] repeats = new boolean[256];
    private final LongHashSet seen = new LongHashSet();
    private long bytes;

    void clear() {
        segment.clear();
        seen.clear();
        bytes = 0;
    }

    /** @param fingerprint a number that the trace has for the chunk's content */
    void add(long fingerprint, int length) {
        int chunk = segment.count();
        if (chunk == keys.length) {
            keys = Arrays.copyOf(keys, chunk * 2);
            repeats = Arrays.copyOf(repeats, chunk * 2);
        }
        segment.add(0, length, false);
        keys[chunk] = mixed(fingerprint);
        repeats[chunk] = !seen.add(keys[chunk]);
        bytes += length;
        ByteBuffer bytesOfIt = ByteBuffer.wrap(segment.fingerprints(), Segment.fingerprintOffset(chunk), 32);
        for (int i = 0; i < 4; i++) {
            bytesOfIt.putLong(mixed(keys[chunk] + i));
        }
    }

    /** Evenly distributed, and different for different numbers. */
    static long mixed(long number) {
        return Mixing.mix(number * Mixing.STEP);
    }

    int count() {
        return segment.count();
    }

    /** Returns 64 evenly distributed bits of a chunk's fingerprint. */
    long key(int chunk) {
        return keys[chunk];
    }

    /** Returns the length of a chunk, in bytes. */
    int length(int chunk) {
        return segment.length(chunk);
    }

    /** Returns whether the segment has the content before: every index finds that. */
    boolean isRepeat(int chunk) {
        return repeats[chunk];
    }

    long bytes() {
        return bytes;
    }

    /** Returns it as the write path passes it to an index, with fingerprints of 32 bytes. */
    Segment segment() {
        return segment;
    }
}
