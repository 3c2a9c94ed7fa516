package org.opendedup.sar.sdfs.scrub;

import org.opendedup.sar.metadata.record.ScrubTotals;

/**
 * What a run of a scrub reports.
 *
 * @param continued whether this run continues a scrub that was stopped
 * @param bytesResumed bytes that earlier runs of the same scrub had verified
 * @param totals what was verified and found, by earlier runs too
 */
public record ScrubRun(boolean continued, long bytesResumed, ScrubTotals totals) {
    ScrubRun now(ScrubTotals more) {
        return new ScrubRun(continued, bytesResumed, more);
    }
}
