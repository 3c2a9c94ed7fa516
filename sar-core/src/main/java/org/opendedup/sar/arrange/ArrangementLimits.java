package org.opendedup.sar.arrange;

/**
 * What an arrangement does at most.
 *
 * @param movedShare share of the stored bytes that may be moved, from 0 to 1
 * @param gain least predicted time of reading a sequence of files before, divided by that after, for which its chunks
 *     are moved; 1 or more. A sequence that was arranged gains no more, so it is not moved again and again
 */
public record ArrangementLimits(double movedShare, double gain) {
    /** Limits that pay by measurement: docs/SPACE.md. */
    public static final ArrangementLimits DEFAULT = new ArrangementLimits(0.1, 1.1);

    public ArrangementLimits {
        if (!(movedShare >= 0 && movedShare <= 1)) {
            throw new IllegalArgumentException("a share is between 0 and 1, not " + movedShare);
        }
        if (!(gain >= 1)) {
            throw new IllegalArgumentException("a gain is 1 or more, not " + gain);
        }
    }
}
