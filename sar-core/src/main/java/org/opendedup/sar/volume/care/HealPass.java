package org.opendedup.sar.volume.care;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.heal.HealReport;

/**
 * A pass of healing that was asked for.
 *
 * @param number numbers the passes of a mount, from 1
 * @param running whether it goes on, or waits for the end of a collection
 * @param report what it did so far
 * @param failure why it ended early; null if it did not
 */
public record HealPass(
        long number,
        boolean running,
        HealReport report,
        @Nullable String failure) {}
