package org.opendedup.sar.sim.sar;

import org.opendedup.sar.sim.block.BlockRequest;

/**
 * Places of a trace's blocks on the array. The first traced disk begins at the array's start, further ones at multiples
 * of a sixteenth of it; chunks without a place of their own are in the second half. A place beyond the end continues at
 * the start. No state.
 */
final class DiskPlaces {
    /** Number of the disk for chunks without a place of their own. */
    private static final long SPARE_DISK = 255;

    /** First of the places that no traced disk has. */
    static final long FIRST_SPARE = SPARE_DISK << BlockRequest.DEVICE_BITS;

    private static final int DISKS = 16;

    private final long capacityBlocks;

    DiskPlaces(long capacityBytes) {
        capacityBlocks = capacityBytes / BlockRequest.BLOCK_BYTES;
    }

    /** Reports a transfer of consecutive places to a sink. */
    void emit(TransferSink sink, boolean isWrite, long place, long blocks) {
        long disk = place >>> BlockRequest.DEVICE_BITS;
        long within = place & (1L << BlockRequest.DEVICE_BITS) - 1;
        long base = disk == SPARE_DISK ? capacityBlocks / 2 : capacityBlocks / DISKS * disk;
        long first = (base + within) % capacityBlocks;
        long untilEnd = Math.min(blocks, capacityBlocks - first);
        sink.array(isWrite, first * BlockRequest.BLOCK_BYTES, untilEnd * BlockRequest.BLOCK_BYTES);
        if (untilEnd < blocks) {
            sink.array(isWrite, 0, (blocks - untilEnd) * BlockRequest.BLOCK_BYTES);
        }
    }
}
