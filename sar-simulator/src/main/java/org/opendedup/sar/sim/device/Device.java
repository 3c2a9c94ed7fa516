package org.opendedup.sar.sim.device;

/**
 * A device, or several that act as one. It accepts any number of requests at any time and serves them in its own order.
 */
public interface Device {
    /** Called when a transfer is done, at that moment of the simulation. */
    @FunctionalInterface
    interface Completion {
        void done();
    }

    /**
     * Requests a transfer; returns at once.
     *
     * @throws IllegalArgumentException if it reaches beyond the device's end
     */
    void submit(Transfer transfer, Completion completion);

    long capacityBytes();

    /** Returns the work of the device since the start of the simulation, and its energy up to now. */
    DeviceStatistics statistics();

    /** Throws if a transfer does not fit on a device. */
    static void checkFits(Transfer transfer, long capacityBytes) {
        if (transfer.end() > capacityBytes) {
            throw new IllegalArgumentException("a transfer of " + transfer.bytes() + " bytes at " + transfer.offset()
                    + " reaches beyond the end of the device at " + capacityBytes);
        }
    }
}
