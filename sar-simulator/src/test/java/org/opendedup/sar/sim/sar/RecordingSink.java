package org.opendedup.sar.sim.sar;

import java.util.ArrayList;
import java.util.List;

/** Records the transfers that it gets, in blocks. */
final class RecordingSink implements TransferSink {
    private static final int BLOCK = 4096;

    private final List<String> told = new ArrayList<>();

    @Override
    public void array(boolean isWrite, long offset, long bytes) {
        told.add((isWrite ? "write " : "read ") + offset / BLOCK + "+" + bytes / BLOCK);
    }

    @Override
    public void readSsd(long bytes) {
        told.add("ssd " + bytes / BLOCK);
    }

    @Override
    public void writeSsdLater(long bytes) {
        told.add("later " + bytes / BLOCK);
    }

    /** Returns the transfers since the last call. */
    String take() {
        String all = String.join(", ", told);
        told.clear();
        return all;
    }
}
