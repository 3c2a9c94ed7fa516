package org.opendedup.sar.volume.send;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.ChunkId;

/**
 * The chunks that the stream has had: a bit each, by container. Remembers the containers that were used last; a chunk
 * of another one may be sent a second time, which costs its bytes and nothing else. For one thread.
 */
final class SentChunks {
    /** Containers that are remembered: 128 GiB of them, with 4 MiB each. They take some 250 bytes each, so 8 MiB. */
    static final int MOST_CONTAINERS = 1 << 15;

    private final Map<Long, BitSet> slots;

    SentChunks() {
        this(MOST_CONTAINERS);
    }

    SentChunks(int mostContainers) {
        slots = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, BitSet> eldest) {
                return size() > mostContainers;
            }
        };
    }

    /** Adds a chunk. Returns false if it is known already. */
    boolean add(long chunkId) {
        BitSet ofContainer = slots.computeIfAbsent(ChunkId.container(chunkId), container -> new BitSet());
        int slot = ChunkId.slot(chunkId);
        boolean isNew = !ofContainer.get(slot);
        ofContainer.set(slot);
        return isNew;
    }
}
