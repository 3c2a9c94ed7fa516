package org.opendedup.sar.sdfs.health;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known about the scrubs of a volume.
 *
 * @param scheduled whether scrubs start by a schedule
 * @param running whether one is running
 * @param since when the last complete one ended; if there was none, when the volume was made
 * @param damagedContainers containers whose directories it found damaged or missing
 * @param contradictions containers about which the metadata said something else
 * @param failure why the last one of this mount failed; null if it did not
 */
public record ScrubFacts(
        boolean scheduled,
        boolean running,
        Instant since,
        long damagedContainers,
        long contradictions,
        @Nullable String failure) {}
