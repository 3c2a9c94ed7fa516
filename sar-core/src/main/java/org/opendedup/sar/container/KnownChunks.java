package org.opendedup.sar.container;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.opendedup.sar.common.Fingerprints;

/** Lengths and fingerprints of chunks of one container whose own directory is gone. For one thread. */
public final class KnownChunks {
    private record Known(int length, byte[] fingerprint) {}

    private final Map<Integer, Known> bySlot = new HashMap<>();

    /** Adds the chunk of a slot, with its length in bytes, greater than 0. */
    public void put(int slot, int length, byte[] fingerprint) {
        bySlot.put(slot, new Known(length, fingerprint.clone()));
    }

    /** Adds all chunks of a directory, except those that are known. */
    void putAll(SealedContainer directory) {
        for (int slot = 0; slot < directory.slots(); slot++) {
            if (directory.listedLength(slot) > 0) {
                int at = slot * Fingerprints.BYTES;
                byte[] fingerprint = Arrays.copyOfRange(directory.fingerprints(), at, at + Fingerprints.BYTES);
                bySlot.putIfAbsent(slot, new Known(directory.listedLength(slot), fingerprint));
            }
        }
    }

    /** Lists those chunks in a directory that it has not listed. */
    void addTo(SealedContainer directory) {
        bySlot.keySet().forEach(slot -> addTo(directory, slot));
    }

    /** As above, only chunks in some slots. */
    void addTo(SealedContainer directory, BitSet slots) {
        slots.stream().filter(bySlot::containsKey).forEach(slot -> addTo(directory, slot));
    }

    private void addTo(SealedContainer directory, int slot) {
        Known known = Objects.requireNonNull(bySlot.get(slot));
        if (slot < directory.slots() && directory.listedLength(slot) == 0) {
            directory.putLost(slot, known.length, known.fingerprint, 0);
        }
    }
}
