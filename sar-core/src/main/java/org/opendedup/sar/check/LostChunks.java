package org.opendedup.sar.check;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;

/** The chunks that cannot be read: whole containers, and single slots; each with the number of its finding. */
final class LostChunks {
    /** @param slots null for all */
    private record Lost(int finding, @Nullable BitSet slots) {}

    private final Map<Long, Lost> containers = new HashMap<>();

    void addContainer(int finding, long container) {
        containers.put(container, new Lost(finding, null));
    }

    void addSlots(int finding, long container, BitSet slots) {
        containers.put(container, new Lost(finding, slots));
    }

    boolean isEmpty() {
        return containers.isEmpty();
    }

    boolean hasWhole(long container) {
        Lost lost = containers.get(container);
        return lost != null && lost.slots == null;
    }

    /** Returns the number of the finding about a chunk; -1 if it can be read. */
    int finding(long chunkId) {
        Lost lost = containers.get(ChunkId.container(chunkId));
        if (lost == null || lost.slots != null && !lost.slots.get(ChunkId.slot(chunkId))) {
            return -1;
        }
        return lost.finding;
    }
}
