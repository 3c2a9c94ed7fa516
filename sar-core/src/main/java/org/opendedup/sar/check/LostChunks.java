package org.opendedup.sar.check;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;

/** The chunks that cannot be read: whole containers, and single slots; each with the number of its finding. */
public final class LostChunks {
    /** @param slots null for all */
    private record Lost(int finding, @Nullable BitSet slots) {}

    private final Map<Long, List<Lost>> containers = new HashMap<>();

    /** Adds a whole container. */
    public void addContainer(int finding, long container) {
        add(container, new Lost(finding, null));
    }

    /** Adds slots of a container. A slot that has a finding already keeps it. */
    public void addSlots(int finding, long container, BitSet slots) {
        add(container, new Lost(finding, slots));
    }

    private void add(long container, Lost lost) {
        containers.computeIfAbsent(container, none -> new ArrayList<>(1)).add(lost);
    }

    boolean isEmpty() {
        return containers.isEmpty();
    }

    boolean hasWhole(long container) {
        return containers.getOrDefault(container, List.of()).stream().anyMatch(lost -> lost.slots == null);
    }

    /** Returns the number of the finding about a chunk; -1 if it can be read. */
    int finding(long chunkId) {
        for (Lost lost : containers.getOrDefault(ChunkId.container(chunkId), List.of())) {
            if (lost.slots == null || lost.slots.get(ChunkId.slot(chunkId))) {
                return lost.finding;
            }
        }
        return -1;
    }
}
