package org.opendedup.sar.sim.sar;

import org.opendedup.sar.sim.block.BlockRequest;

/** Without deduplication: every block lies where the trace says. */
final class NativeSystem implements StorageSystem {
    private final DiskPlaces places;

    NativeSystem(DiskPlaces places) {
        this.places = places;
    }

    @Override
    public void serve(BlockRequest request, TransferSink sink) {
        places.tell(sink, request.isWrite(), request.firstBlock(), request.count());
    }
}
