package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.index.heap.HeapChunkIndex;

/** Copies what an index keeps, so that each of many trials can begin with it. */
final class CopiedIndex {
    private CopiedIndex() {}

    /** Returns a copy on the heap that belongs to no epoch. */
    static ChunkIndex of(ChunkIndex from) throws IOException {
        ChunkIndex copy = new HeapChunkIndex();
        List<byte[]> fingerprints = new ArrayList<>();
        List<Long> chunks = new ArrayList<>();
        from.forEachAfter(null, Integer.MAX_VALUE, (fingerprint, chunk) -> {
            fingerprints.add(fingerprint);
            chunks.add(chunk);
        });
        long highest = chunks.stream().mapToLong(ChunkId::container).max().orElse(0);
        List<Long> covered = CoveredContainers.upTo(highest, from);
        for (long container : covered) {
            List<byte[]> kept = new ArrayList<>();
            List<Integer> slots = new ArrayList<>();
            from.forEachOf(container, (slot, fingerprint) -> {
                slots.add(slot);
                kept.add(fingerprint);
            });
            for (int i = 0; i < slots.size(); i++) {
                copy.insert(kept.get(i), 0, ChunkId.of(container, slots.get(i)));
            }
        }
        // Where content is stored several times, this tells to which copy it leads.
        for (int i = 0; i < chunks.size(); i++) {
            copy.insert(fingerprints.get(i), 0, chunks.get(i));
        }
        for (long container : covered) {
            byte[] table = from.frameTable(container);
            if (table != null) {
                copy.cover(container, table);
            }
        }
        return new SilentIndex(copy);
    }
}
