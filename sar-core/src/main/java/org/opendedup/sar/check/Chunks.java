package org.opendedup.sar.check;

import java.util.BitSet;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.metadata.record.ContainerCounts;

/** Compares the chunks of a container with its counts. */
final class Chunks {
    private Chunks() {}

    /** Returns the slots that are alive according to the counts, and have no chunk in the container. */
    static BitSet missing(ContainerCounts counts, FoundContainer found) {
        BitSet present = found.present();
        BitSet missing = new BitSet();
        for (int slot = 0; slot < counts.slots(); slot++) {
            missing.set(slot, counts.isAlive(slot) && !present.get(slot));
        }
        return missing;
    }

    /**
     * Returns whether a chunk that is alive has another length than the counts say: then the container is that of
     * another history of the volume.
     */
    static boolean contradicts(ContainerCounts counts, FoundContainer found) {
        for (int slot = 0; slot < counts.slots(); slot++) {
            if (counts.isAlive(slot)
                    && counts.length(slot) > 0
                    && found.length(slot) > 0
                    && counts.length(slot) != found.length(slot)) {
                return true;
            }
        }
        return false;
    }
}
