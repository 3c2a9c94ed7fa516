package org.opendedup.sar.scrub;

import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubTotals;

/** Receives the progress of a scrub, and may stop it. */
@FunctionalInterface
public interface ScrubProgress {
    /**
     * Receives how far the scrub is. Called after each container, and each some MiB of the SSD.
     *
     * @param totals what was verified since the scrub began, also before it was continued
     * @param restBytes bytes of the containers and copies that are still to be verified
     * @param next a later scrub may continue from here
     * @return whether to continue
     */
    boolean verified(ScrubTotals totals, long restBytes, ScrubCursor next);
}
