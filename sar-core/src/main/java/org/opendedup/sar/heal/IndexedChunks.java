package org.opendedup.sar.heal;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.KnownChunks;
import org.opendedup.sar.metadata.record.ContainerCounts;

/**
 * Which chunks a container has whose directory is gone: the fingerprints that the index keeps, with the lengths in the
 * counts. Recipes must not contradict them. For use by one thread.
 */
final class IndexedChunks {
    private final HealParts parts;
    private final RecipePrefixes prefixes;

    IndexedChunks(HealParts parts) {
        this.parts = parts;
        prefixes = new RecipePrefixes(parts.metadata());
    }

    /** Sets the containers that may be asked about from now on, in ascending order. */
    void expect(Set<Long> later) {
        prefixes.expect(later);
    }

    /** Returns what is known of some slots of a container. */
    KnownChunks of(long container, BitSet slots) throws IOException {
        Map<Integer, byte[]> indexed = new HashMap<>();
        parts.index().forEachOf(container, (slot, fingerprint) -> {
            if (slots.get(slot)) {
                indexed.put(slot, fingerprint);
            }
        });
        ContainerCounts counts = parts.metadata().counts().ofContainer(container);
        KnownChunks known = new KnownChunks();
        for (Map.Entry<Integer, byte[]> each : indexed.entrySet()) {
            int slot = each.getKey();
            int prefix = Fingerprints.fingerprintPrefix(each.getValue(), 0);
            if (counts.length(slot) > 0 && !prefixes.contradict(container, slot, prefix)) {
                known.put(slot, counts.length(slot), each.getValue());
            }
        }
        return known;
    }
}
