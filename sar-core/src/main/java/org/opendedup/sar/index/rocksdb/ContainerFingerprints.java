package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;

/**
 * The fingerprints of one container with their slots, in the order of insertion. They are collected while the container
 * is filled, and stored as its 'D' record when the container is covered. The record is {@code (slot (2, little-endian),
 * fingerprint (32))*}. It speeds lookups up and may lack any of the container's fingerprints, but it never names a copy
 * that is not the current one of its fingerprint: entries that are loaded from it into the cache are used without
 * checking the 'F' records, and the 'F' records of removed slots that it names are deleted without reading them.
 */
final class ContainerFingerprints {
    private static final int ENTRY_BYTES = Short.BYTES + Fingerprints.BYTES;
    /** Maximum number of entries: a container of 4 MiB in chunks of 1 KiB. */
    private static final int MAX_ENTRIES = 4096;
    /** Initial capacity, in entries: a container of 4 MiB in chunks of the usual 8 KiB. */
    private static final int USUAL_ENTRIES = 512;

    private byte[] record;
    private int length;

    ContainerFingerprints() {
        record = new byte[USUAL_ENTRIES * ENTRY_BYTES];
    }

    /** Reads the entries of a 'D' record, to change them. */
    ContainerFingerprints(long container, byte[] record) throws CorruptionException {
        requireEntries(container, record);
        this.record = record;
        length = record.length;
    }

    void add(int slot, byte[] fingerprints, int offset) {
        if (length == MAX_ENTRIES * ENTRY_BYTES) {
            return;
        }
        if (length == record.length) {
            record = Arrays.copyOf(record, Math.min(2 * length, MAX_ENTRIES * ENTRY_BYTES));
        }
        record[length] = (byte) slot;
        record[length + 1] = (byte) (slot >>> Byte.SIZE);
        System.arraycopy(fingerprints, offset, record, length + Short.BYTES, Fingerprints.BYTES);
        length += ENTRY_BYTES;
    }

    /** Removes every entry of this slot and fingerprint: the fingerprint now leads to another copy. */
    void strike(int slot, byte[] fingerprints, int offset) {
        int kept = 0;
        for (int at = 0; at < length; at += ENTRY_BYTES) {
            if (!isAt(at, slot, fingerprints, offset)) {
                move(at, kept);
                kept += ENTRY_BYTES;
            }
        }
        length = kept;
    }

    /**
     * Removes every entry of these slots with their fingerprints, and returns the slots that had one. Slot {@code i}'s
     * fingerprint begins at {@code i * Fingerprints.BYTES}.
     */
    BitSet strike(byte[] fingerprints, BitSet slots) {
        BitSet found = new BitSet();
        int kept = 0;
        for (int at = 0; at < length; at += ENTRY_BYTES) {
            int slot = Byte.toUnsignedInt(record[at]) | Byte.toUnsignedInt(record[at + 1]) << Byte.SIZE;
            if (slots.get(slot) && isAt(at, slot, fingerprints, slot * Fingerprints.BYTES)) {
                found.set(slot);
            } else {
                move(at, kept);
                kept += ENTRY_BYTES;
            }
        }
        length = kept;
        return found;
    }

    private void move(int from, int to) {
        if (to < from) {
            System.arraycopy(record, from, record, to, ENTRY_BYTES);
        }
    }

    private boolean isAt(int at, int slot, byte[] fingerprints, int offset) {
        int fingerprintAt = at + Short.BYTES;
        return record[at] == (byte) slot
                && record[at + 1] == (byte) (slot >>> Byte.SIZE)
                && Arrays.equals(
                        record,
                        fingerprintAt,
                        fingerprintAt + Fingerprints.BYTES,
                        fingerprints,
                        offset,
                        offset + Fingerprints.BYTES);
    }

    /** Visits the fingerprints that a database lists for a container, in both of its records. */
    static void forEachOf(IndexDatabase database, long container, ChunkIndex.SlotVisitor visitor) throws IOException {
        for (byte[] key : List.of(IndexKeys.containerFingerprints(container), IndexKeys.leftFingerprints(container))) {
            byte[] record = database.get(key);
            if (record != null) {
                new ContainerFingerprints(container, record).forEach(visitor);
            }
        }
    }

    /** Visits all entries. */
    void forEach(ChunkIndex.SlotVisitor visitor) {
        for (int at = 0; at < length; at += ENTRY_BYTES) {
            int slot = Byte.toUnsignedInt(record[at]) | Byte.toUnsignedInt(record[at + 1]) << Byte.SIZE;
            visitor.visit(slot, Arrays.copyOfRange(record, at + Short.BYTES, at + ENTRY_BYTES));
        }
    }

    /** Returns the slots that have an entry. */
    BitSet slots() {
        BitSet slots = new BitSet();
        for (int at = 0; at < length; at += ENTRY_BYTES) {
            slots.set(Byte.toUnsignedInt(record[at]) | Byte.toUnsignedInt(record[at + 1]) << Byte.SIZE);
        }
        return slots;
    }

    boolean isEmpty() {
        return length == 0;
    }

    byte[] toRecord() {
        return Arrays.copyOf(record, length);
    }

    /** Adds every entry of a 'D' record to {@code cache}, except fingerprints that the cache already has. */
    static void load(long container, byte[] record, FingerprintCache cache) throws CorruptionException {
        requireEntries(container, record);
        ByteBuffer slots = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < record.length; at += ENTRY_BYTES) {
            long chunkId = ChunkId.of(container, Short.toUnsignedInt(slots.getShort(at)));
            cache.putIfAbsent(record, at + Short.BYTES, chunkId);
        }
    }

    private static void requireEntries(long container, byte[] record) throws CorruptionException {
        if (record.length % ENTRY_BYTES != 0) {
            throw new CorruptionException(
                    "fingerprint record of container " + container,
                    -1,
                    "a length that is a multiple of " + ENTRY_BYTES,
                    record.length + " bytes");
        }
    }
}
