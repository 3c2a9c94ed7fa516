package org.opendedup.sar.index.silo;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;

/**
 * The entries of one container that were removed, although the blocks still have them: as pairs of a slot and the first
 * four bytes of its fingerprint, 6 bytes each, in ascending order. The value of a 'T' record.
 */
final class Removals {
    private static final int PAIR_BYTES = 6;

    private final TreeSet<Long> pairs = new TreeSet<>();

    /** @param record value of a 'T' record; null if there is none */
    Removals(byte @Nullable [] record) {
        ByteBuffer in = ByteBuffer.wrap(record == null ? new byte[0] : record);
        while (in.remaining() >= PAIR_BYTES) {
            int slot = Short.toUnsignedInt(in.getShort());
            pairs.add(pair(slot, in.getInt()));
        }
    }

    private static long pair(int slot, int prefix) {
        return (long) slot << Integer.SIZE | Integer.toUnsignedLong(prefix);
    }

    private static long pair(int slot, byte[] fingerprints, int offset) {
        return pair(slot, Fingerprints.fingerprintPrefix(fingerprints, offset));
    }

    boolean contains(int slot, byte[] fingerprints, int offset) {
        return pairs.contains(pair(slot, fingerprints, offset));
    }

    /**
     * Adds slots.
     *
     * @param fingerprints slot {@code i}'s begins at {@code i * Fingerprints.BYTES}
     * @return number of those that were not removed before
     */
    int add(byte[] fingerprints, BitSet slots) {
        int added = 0;
        for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
            added += pairs.add(pair(slot, fingerprints, slot * Fingerprints.BYTES)) ? 1 : 0;
        }
        return added;
    }

    /** Takes a slot back, because its fingerprint was inserted again. Returns whether it was removed. */
    boolean takeBack(int slot, byte[] fingerprints, int offset) {
        return pairs.remove(pair(slot, fingerprints, offset));
    }

    boolean isEmpty() {
        return pairs.isEmpty();
    }

    byte[] toRecord() {
        byte[] record = new byte[pairs.size() * PAIR_BYTES];
        ByteBuffer out = ByteBuffer.wrap(record);
        for (long pair : pairs) {
            out.putShort((short) (pair >>> Integer.SIZE)).putInt((int) pair);
        }
        return record;
    }
}
