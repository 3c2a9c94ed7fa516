package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.chunkstash.CuckooTable;

/**
 * Fills ChunkStash's table with random fingerprints, and counts what that moves (ChunkStash, section 4.4, figure 4).
 */
final class TableStudy {
    static final int SLOTS = 200_000;
    private static final int POINTER_BYTES = 4;
    private static final int MOST_FOUND = 64;

    private final CuckooTable table;
    private final long[] found = new long[MOST_FOUND];
    private final byte[] fingerprint = new byte[Fingerprints.BYTES];
    private long inserted;

    /** @param candidates positions in which a fingerprint can be */
    TableStudy(int candidates) {
        table = new CuckooTable(SLOTS, POINTER_BYTES, candidates);
    }

    private static void make(long number, byte[] target) {
        ByteBuffer bytes = ByteBuffer.wrap(target);
        for (int i = 0; bytes.hasRemaining(); i++) {
            bytes.putLong(TraceSegment.mixed(number * 4 + i));
        }
    }

    /** Inserts until this share of the slots is in use; returns the relocations of an insertion, on average. */
    double fillTo(double load) throws IOException {
        long before = table.relocations();
        long first = inserted;
        while (inserted < load * SLOTS) {
            make(++inserted, fingerprint);
            table.insert(fingerprint, 0, inserted, TableStudy::make);
        }
        return (double) (table.relocations() - before) / (inserted - first);
    }

    /** Returns the share of the entries that found no slot. */
    double auxiliaryShare() {
        return (double) table.auxiliarySize() / table.size();
    }

    /** Returns how many other entries match the signature of a fingerprint that the table does not have, on average. */
    double falseMatches() {
        long matches = 0;
        for (long number = 1; number <= SLOTS; number++) {
            make(-number, fingerprint);
            matches += table.candidates(fingerprint, 0, found);
        }
        return (double) matches / SLOTS;
    }
}
