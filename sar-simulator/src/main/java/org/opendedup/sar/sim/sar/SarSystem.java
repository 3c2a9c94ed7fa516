package org.opendedup.sar.sim.sar;

import java.io.IOException;
import org.opendedup.sar.sim.block.BlockRequest;

/** Deduplication with SAR: some chunks have copies on the SSD, and are read from there (SAR paper §3). */
final class SarSystem implements StorageSystem {
    private static final int BLOCK = BlockRequest.BLOCK_BYTES;

    private final DedupMap map;
    private final SarTier tier;
    private final PlaceRun reads;
    private final PlaceRun writes;

    SarSystem(DiskPlaces places, DedupMap map, SarTier tier) {
        this.map = map;
        this.tier = tier;
        reads = new PlaceRun(places, false);
        writes = new PlaceRun(places, true);
    }

    @Override
    public void serve(BlockRequest request, TransferSink sink) throws IOException {
        tier.begin();
        if (request.isWrite()) {
            write(request, sink);
        } else {
            read(request, sink);
        }
        long promoted = tier.takePromotedBytes();
        if (promoted > 0) {
            sink.writeSsdLater(promoted);
        }
    }

    private void write(BlockRequest request, TransferSink sink) {
        for (int i = 0; i < request.count(); i++) {
            int chunk = map.write(request.firstBlock() + i, request.content(i));
            dropOverwritten();
            if (map.wasNew()) {
                writes.add(map.place(chunk), sink);
            } else if (chunk != DedupMap.ZERO_CHUNK) {
                tier.add(map.place(chunk), map.references(chunk));
            }
        }
        writes.flush(sink);
        tier.onChunksWritten();
    }

    private void dropOverwritten() {
        long place = map.takeOverwritten();
        if (place >= 0) {
            tier.onChunkOverwritten(place);
        }
    }

    private void read(BlockRequest request, TransferSink sink) throws IOException {
        for (int i = 0; i < request.count(); i++) {
            int chunk = map.read(request.firstBlock() + i, request.content(i));
            dropOverwritten();
            if (chunk != DedupMap.ZERO_CHUNK) {
                tier.add(map.place(chunk), map.references(chunk));
            }
        }
        tier.distribute();
        tellReads(sink);
        tier.onChunksRead();
    }

    /** Makes one transfer for each run of neighbours, on the array or on the SSD. */
    private void tellReads(TransferSink sink) {
        long onSsd = 0;
        for (int i = 0; i < tier.count(); i++) {
            if (!tier.isOnSsd(i)) {
                reads.add(tier.place(i), sink);
                continue;
            }
            if (onSsd > 0 && !tier.followsOnSsd(i)) {
                sink.readSsd(onSsd);
                onSsd = 0;
            }
            onSsd += BLOCK;
        }
        if (onSsd > 0) {
            sink.readSsd(onSsd);
        }
        reads.flush(sink);
    }

    @Override
    public long memoryBytes() {
        return tier.heapBytes();
    }

    @Override
    public boolean hasSsd() {
        return true;
    }

    @Override
    public void close() {
        tier.close();
    }
}
