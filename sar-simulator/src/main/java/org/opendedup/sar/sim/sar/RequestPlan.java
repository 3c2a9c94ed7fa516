package org.opendedup.sar.sim.sar;

import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.sim.device.Transfer;

/** Collects the transfers that one request costs. */
final class RequestPlan implements TransferSink {
    private final List<Transfer> array = new ArrayList<>(2);
    private final List<Transfer> ssd = new ArrayList<>(2);
    private long laterBytes;
    private long arrayReadBytes;
    private long ssdReadBytes;

    @Override
    public void array(boolean isWrite, long offset, long bytes) {
        array.add(new Transfer(isWrite, offset, bytes));
        arrayReadBytes += isWrite ? 0 : bytes;
    }

    @Override
    public void readSsd(long bytes) {
        ssd.add(Transfer.read(0, bytes));
        ssdReadBytes += bytes;
    }

    @Override
    public void writeSsdLater(long bytes) {
        laterBytes += bytes;
    }

    List<Transfer> ofArray() {
        return array;
    }

    List<Transfer> ofSsd() {
        return ssd;
    }

    /** Returns the number of transfers that the request waits for. */
    int transfers() {
        return array.size() + ssd.size();
    }

    int arrayTransfers() {
        return array.size();
    }

    int ssdReads() {
        return ssd.size();
    }

    /** Returns the bytes to be written to the SSD after the request is done. */
    long laterBytes() {
        return laterBytes;
    }

    long arrayReadBytes() {
        return arrayReadBytes;
    }

    long ssdReadBytes() {
        return ssdReadBytes;
    }
}
