package org.opendedup.sar.sim.sar;

import org.opendedup.sar.sim.block.BlockRequest;

/** Storage without deduplication: every block is at the place that the trace gives. */
final class NativeSystem implements StorageSystem {
    private final DiskPlaces places;

    NativeSystem(DiskPlaces places) {
        this.places = places;
    }

    @Override
    public void serve(BlockRequest request, TransferSink sink) {
        places.emit(sink, request.isWrite(), request.firstBlock(), request.count());
    }
}
