package org.opendedup.sar.container;

import java.util.Arrays;
import org.opendedup.sar.common.Fingerprints;

/** A frame being filled: chunk bytes and the chunk list. Used again for other frames. For one thread at a time. */
final class RawFrame {
    private static final int CHUNKS = 64;

    private byte[] data;
    private int firstSlot;
    private int count;
    private int[] ends = new int[CHUNKS];
    private byte[] fingerprints = new byte[CHUNKS * Fingerprints.BYTES];

    RawFrame(int capacity) {
        data = new byte[capacity];
    }

    void start(int firstSlot) {
        this.firstSlot = firstSlot;
        count = 0;
    }

    int firstSlot() {
        return firstSlot;
    }

    int count() {
        return count;
    }

    /** Chunk bytes so far. */
    int bytes() {
        return count == 0 ? 0 : ends[count - 1];
    }

    /** Chunk bytes there is memory for. */
    int capacity() {
        return data.length;
    }

    byte[] data() {
        return data;
    }

    int length(int chunk) {
        return chunk == 0 ? ends[0] : ends[chunk] - ends[chunk - 1];
    }

    byte[] fingerprints() {
        return fingerprints;
    }

    void add(byte[] source, int offset, int length, byte[] fingerprintSource, int fingerprintOffset) {
        int start = bytes();
        if (data.length - start < length) {
            data = Arrays.copyOf(data, start + length);
        }
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, count * 2);
            fingerprints = Arrays.copyOf(fingerprints, count * 2 * Fingerprints.BYTES);
        }
        System.arraycopy(source, offset, data, start, length);
        System.arraycopy(
                fingerprintSource, fingerprintOffset, fingerprints, count * Fingerprints.BYTES, Fingerprints.BYTES);
        ends[count] = start + length;
        count++;
    }

    /** A copy for readers. */
    Frame toFrame(long container) {
        int[] checks = new int[count];
        for (int chunk = 0; chunk < count; chunk++) {
            checks[chunk] = Fingerprints.check(fingerprints, chunk * Fingerprints.BYTES);
        }
        return new Frame(container, firstSlot, Arrays.copyOf(data, bytes()), Arrays.copyOf(ends, count), checks);
    }
}
