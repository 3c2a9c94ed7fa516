package org.opendedup.sar.check;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.metadata.ContainerRecords;

/**
 * The fingerprint prefixes that recipes have for the chunks of some containers, by which containers of another history
 * of the volume are recognized. Memory: about 4 bytes for each slot of these containers.
 */
final class ExpectedPrefixes {
    private static final class Slots {
        private final int[] prefixes;
        private final BitSet known = new BitSet();

        Slots(int slots) {
            prefixes = new int[slots];
        }
    }

    private final Map<Long, Slots> containers = new HashMap<>();

    /**
     * Reads all recipes once.
     *
     * @param slots the number of slots of each container
     */
    static ExpectedPrefixes read(ContainerRecords records, Map<Long, Integer> slots) throws IOException {
        ExpectedPrefixes read = new ExpectedPrefixes();
        slots.forEach((container, count) -> read.containers.put(container, new Slots(count)));
        if (!slots.isEmpty()) {
            records.forEachReference(read::add);
        }
        return read;
    }

    private void add(long chunk, int prefix) {
        Slots slots = containers.get(ChunkId.container(chunk));
        int slot = ChunkId.slot(chunk);
        if (slots != null && slot < slots.prefixes.length) {
            slots.prefixes[slot] = prefix;
            slots.known.set(slot);
        }
    }

    /** Returns whether the prefixes of a container were read. */
    boolean has(long container) {
        return containers.containsKey(container);
    }

    /** Returns whether a container has another chunk than a recipe refers to; false if its prefixes were not read. */
    boolean contradict(FoundContainer found) {
        @Nullable Slots slots = containers.get(found.container());
        return slots != null
                && slots.known.stream()
                        .anyMatch(slot ->
                                found.length(slot) > 0 && found.fingerprintPrefix(slot) != slots.prefixes[slot]);
    }
}
