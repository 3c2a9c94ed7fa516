package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.VolumeDefinition.check;

import java.util.OptionalLong;

/**
 * How sequential reading back is cached. Stored with the volume; this release reads through an LRU cache out of the memory
 * budget.
 *
 * @param cache the replacement policy
 * @param cacheBytes memory of the cache; empty: what the memory budget gives
 * @param windowBytes how far ahead the recipe is looked at; empty: eight times the cache
 * @param logShare share of the cache, 0 to 1, that keeps the wanted chunks of evicted containers
 */
public record RestoreSettings(Cache cache, OptionalLong cacheBytes, OptionalLong windowBytes, double logShare) {

    /** Which container leaves the cache first. */
    public enum Cache {
        /** The one read longest ago. */
        LRU,
        /** The one with the fewest references in the window ahead. */
        LOOKAHEAD
    }

    /** @throws IllegalArgumentException naming what is wrong and what is allowed */
    public RestoreSettings {
        check(cacheBytes.isEmpty() || cacheBytes.getAsLong() > 0, "the restore cache size must be greater than 0");
        check(windowBytes.isEmpty() || windowBytes.getAsLong() > 0, "the restore window must be greater than 0");
        check(logShare >= 0 && logShare <= 1, "the restore log share is " + logShare + "; it must be from 0 to 1");
    }
}
