package org.opendedup.sar.sim.device;

/** Calls back when the last of several transfers is done. */
final class Joint implements Device.Completion {
    private final Device.Completion whenAllDone;
    private int missing;

    Joint(int transfers, Device.Completion whenAllDone) {
        missing = transfers;
        this.whenAllDone = whenAllDone;
    }

    @Override
    public void done() {
        if (--missing == 0) {
            whenAllDone.done();
        }
    }
}
