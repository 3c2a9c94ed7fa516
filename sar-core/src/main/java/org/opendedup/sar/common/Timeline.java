package org.opendedup.sar.common;

import java.util.UUID;

/**
 * The epochs that led to a volume's present state. Data stamped with an epoch of another history, or written after the
 * two histories branched, may use the same chunk ids for other chunks. A timeline reports which ids can be trusted.
 */
public interface Timeline {
    /** Returns the present epoch of the volume. */
    Epoch current();

    /**
     * Returns the limit below which container ids mean the same here and in data stamped with {@code stamp}; 0 if none
     * does.
     *
     * @param stamp an epoch of this volume or another
     */
    long sharedBelow(Epoch stamp);

    /** Returns the timeline of a volume that is still in its first epoch, for a volume that is being created. */
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
