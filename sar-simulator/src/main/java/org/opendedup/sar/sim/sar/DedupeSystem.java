package org.opendedup.sar.sim.sar;

import org.opendedup.sar.sim.block.BlockRequest;

/** Deduplication alone: blocks that are stored already are not written; a read collects them from their places. */
final class DedupeSystem implements StorageSystem {
    private final DedupMap map = new DedupMap(DedupMap.Counting.NOW);
    private final PlaceRun reads;
    private final PlaceRun writes;

    DedupeSystem(DiskPlaces places) {
        reads = new PlaceRun(places, false);
        writes = new PlaceRun(places, true);
    }

    @Override
    public void serve(BlockRequest request, TransferSink sink) {
        PlaceRun run = request.isWrite() ? writes : reads;
        for (int i = 0; i < request.count(); i++) {
            long block = request.firstBlock() + i;
            long content = request.content(i);
            int chunk = request.isWrite() ? map.write(block, content) : map.read(block, content);
            if (chunk != DedupMap.ZERO_CHUNK && (!request.isWrite() || map.wasNew())) {
                run.add(map.place(chunk), sink);
            }
        }
        run.flush(sink);
    }
}
