package org.opendedup.sar.container;

import java.io.IOException;
import org.opendedup.sar.common.CorruptionException;

/** A frame turned out to be damaged that was not known to be. */
final class DamagedFrame extends IOException {
    private static final long serialVersionUID = 1;

    private final int firstSlot;
    private final int slots;

    DamagedFrame(int firstSlot, int slots, CorruptionException why) {
        super(why.getMessage(), why);
        this.firstSlot = firstSlot;
        this.slots = slots;
    }

    int firstSlot() {
        return firstSlot;
    }

    int slots() {
        return slots;
    }
}
