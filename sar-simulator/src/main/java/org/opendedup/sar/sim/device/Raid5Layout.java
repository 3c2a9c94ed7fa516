package org.opendedup.sar.sim.device;

/**
 * Placement of units in a left-symmetric RAID 5 (Lee and Katz, "The performance of parity placements in disk arrays",
 * 1991): parity moves one disk to the left with each stripe, and a stripe's data begin on the disk after its parity. No
 * state.
 *
 * @param disks at least 3
 */
record Raid5Layout(int disks, long unitBytes) {
    /** Returns the number of data units in a stripe. */
    int dataUnits() {
        return disks - 1;
    }

    long stripeBytes() {
        return dataUnits() * unitBytes;
    }

    /** Returns the stripe of a data unit. */
    long stripe(long unit) {
        return unit / dataUnits();
    }

    int parityDisk(long stripe) {
        return disks - 1 - (int) (stripe % disks);
    }

    int dataDisk(long unit) {
        return (parityDisk(stripe(unit)) + 1 + (int) (unit % dataUnits())) % disks;
    }

    /** Returns the offset at which a stripe's units begin on each disk. */
    long diskOffset(long stripe) {
        return stripe * unitBytes;
    }
}
