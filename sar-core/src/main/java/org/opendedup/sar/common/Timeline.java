package org.opendedup.sar.common;

import java.util.UUID;

/**
 * The epochs that led to a volume's present state. Whatever was stamped with an epoch of another history, or has gone on after the two
 * parted, knows chunk ids that mean something else here; this tells which ids can be believed.
 */
public interface Timeline {
    /** The epoch that the volume is in now. */
    Epoch current();

    /**
     * Container ids below this mean the same here and in what was stamped with {@code stamp}; 0 if none does.
     *
     * @param stamp of this volume or another
     */
    long sharedBelow(Epoch stamp);

    /** A volume that never left its first epoch, for a volume that is being made. */
    static Timeline beginning(UUID volume, long token) {
        Epoch first = new Epoch(volume, 1, token);
        return new Timeline() {
            @Override
            public Epoch current() {
                return first;
            }

            @Override
            public long sharedBelow(Epoch stamp) {
                return stamp.equals(first) ? Long.MAX_VALUE : 0;
            }
        };
    }
}
