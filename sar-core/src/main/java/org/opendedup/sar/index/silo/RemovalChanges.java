package org.opendedup.sar.index.silo;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.ChunkId;

/** The removed slots of some containers: read once, and written if they change. Not thread-safe. */
final class RemovalChanges {
    private final SiloRecords records;
    private final Map<Long, Removals> known = new HashMap<>();
    private final Set<Long> changed = new HashSet<>();

    RemovalChanges(SiloRecords records) {
        this.records = records;
    }

    /** Returns whether the copy of a fingerprint was removed. */
    boolean contains(byte[] fingerprints, int offset, long chunkId) throws IOException {
        return of(ChunkId.container(chunkId)).contains(ChunkId.slot(chunkId), fingerprints, offset);
    }

    /** Takes a removal back, because the copy is inserted again. */
    void takeBack(byte[] fingerprints, int offset, long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        if (of(container).takeBack(ChunkId.slot(chunkId), fingerprints, offset)) {
            changed.add(container);
        }
    }

    private Removals of(long container) throws IOException {
        Removals removals = known.get(container);
        if (removals == null) {
            removals = new Removals(records.removals(container));
            known.put(container, removals);
        }
        return removals;
    }

    /** Writes what changed. */
    void write() throws IOException {
        if (changed.isEmpty()) {
            return;
        }
        try (SiloRecords.Change change = records.change()) {
            for (Map.Entry<Long, Removals> removals : known.entrySet()) {
                if (changed.contains(removals.getKey())) {
                    change.removals(removals.getKey(), removals.getValue());
                }
            }
            change.write();
        }
        changed.clear();
    }
}
