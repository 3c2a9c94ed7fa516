package org.opendedup.sar.sdfs.health;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.ScrubTotals;

/**
 * What is known about the scrubs of a volume.
 *
 * @param scheduled whether scrubs start by a schedule
 * @param running whether one is running
 * @param since when the last complete one ended; if there was none, when the volume was made
 * @param found what it verified and found
 * @param failure why the last one of this mount failed; null if it did not
 */
public record ScrubFacts(
        boolean scheduled,
        boolean running,
        Instant since,
        ScrubTotals found,
        @Nullable String failure) {}
