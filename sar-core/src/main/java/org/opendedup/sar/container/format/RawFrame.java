package org.opendedup.sar.container.format;

import java.util.Arrays;
import java.util.BitSet;
import org.opendedup.sar.common.Fingerprints;

/** A frame being filled: chunk bytes and the chunk list. Reused for other frames. For one thread at a time. */
public final class RawFrame {
    private static final int CHUNKS = 64;

    private byte[] data;
    private int firstSlot;
    private int count;
    private int[] ends = new int[CHUNKS];
    /** The number of each chunk in the chunk list, see {@link ChunkEntry}. */
    private int[] entries = new int[CHUNKS];

    private byte[] fingerprints = new byte[CHUNKS * Fingerprints.BYTES];

    public RawFrame(int capacity) {
        data = new byte[capacity];
    }

    public void start(int firstSlot) {
        this.firstSlot = firstSlot;
        count = 0;
    }

    public int firstSlot() {
        return firstSlot;
    }

    public int count() {
        return count;
    }

    /** Returns the number of chunk bytes in the frame. */
    public int bytes() {
        return count == 0 ? 0 : ends[count - 1];
    }

    /** Returns the number of chunk bytes that the frame has memory for. */
    public int capacity() {
        return data.length;
    }

    byte[] data() {
        return data;
    }

    /** Returns the number of bytes of all chunks in the list, lost ones included. */
    public int listedBytes() {
        int bytes = 0;
        for (int chunk = 0; chunk < count; chunk++) {
            bytes += ChunkEntry.length(entries[chunk]);
        }
        return bytes;
    }

    /** Returns whether a chunk of the frame is lost. */
    public boolean hasLost() {
        return listedBytes() > bytes();
    }

    /** Appends the chunk list, as the frame and the container's directory have it. */
    public void putList(Bytes out) {
        for (int chunk = 0; chunk < count; chunk++) {
            out.putVarint(entries[chunk]);
            if (ChunkEntry.hasFingerprint(entries[chunk])) {
                out.putBytes(fingerprints, chunk * Fingerprints.BYTES, Fingerprints.BYTES);
            }
        }
    }

    /** Returns the length of the chunk list in bytes. */
    int listBytes() {
        int bytes = 0;
        for (int chunk = 0; chunk < count; chunk++) {
            bytes += ChunkEntry.listBytes(entries[chunk]);
        }
        return bytes;
    }

    public void add(byte[] source, int offset, int length, byte[] fingerprintSource, int fingerprintOffset) {
        int start = bytes();
        if (data.length - start < length) {
            data = Arrays.copyOf(data, start + length);
        }
        System.arraycopy(source, offset, data, start, length);
        int fingerprint = add(start + length, length);
        System.arraycopy(fingerprintSource, fingerprintOffset, fingerprints, fingerprint, Fingerprints.BYTES);
    }

    /** Adds a chunk of which only length and fingerprint are known. */
    public void addLost(int length, byte[] fingerprintSource, int fingerprintOffset) {
        int fingerprint = add(bytes(), ChunkEntry.lost(length));
        System.arraycopy(fingerprintSource, fingerprintOffset, fingerprints, fingerprint, Fingerprints.BYTES);
    }

    /** Adds a slot whose chunk is removed: one of length 0, without a fingerprint. */
    public void addRemoved() {
        int fingerprint = add(bytes(), 0);
        Arrays.fill(fingerprints, fingerprint, fingerprint + Fingerprints.BYTES, (byte) 0);
    }

    /** Adds a chunk that ends at {@code end}; returns the place of its fingerprint in {@link #fingerprints}. */
    private int add(int end, int entry) {
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, count * 2);
            entries = Arrays.copyOf(entries, count * 2);
            fingerprints = Arrays.copyOf(fingerprints, count * 2 * Fingerprints.BYTES);
        }
        ends[count] = end;
        entries[count] = entry;
        count++;
        return (count - 1) * Fingerprints.BYTES;
    }

    /** Returns a copy for readers of a frame without lost chunks. */
    public Frame toFrame(long container) {
        int[] fingerprintPrefixes = new int[count];
        for (int chunk = 0; chunk < count; chunk++) {
            fingerprintPrefixes[chunk] = Fingerprints.fingerprintPrefix(fingerprints, chunk * Fingerprints.BYTES);
        }
        return new Frame(
                container,
                firstSlot,
                Arrays.copyOf(data, bytes()),
                Arrays.copyOf(ends, count),
                fingerprintPrefixes,
                new BitSet());
    }
}
