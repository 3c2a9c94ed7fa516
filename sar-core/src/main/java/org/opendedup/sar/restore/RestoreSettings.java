package org.opendedup.sar.restore;

import java.util.OptionalLong;
import org.opendedup.sar.container.ContainerSize;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.restore.cache.CacheChoice;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.lookahead.StreamBudget;

/**
 * Settings of the cache for sequential reading.
 *
 * @param cache policy that decides which chunks stay in memory after a reader has fetched them
 * @param cacheBytes memory of all sequential readers, in bytes; empty: what the memory budget allows
 * @param windowBytes lookahead window of the recipe, in bytes, for policies with a window of their own
 *     ({@link CachePolicy#DEFAULT} and those of the lookahead paper); empty: the policy's multiple of the cache size
 * @param logShare with {@link CachePolicy#LOOKAHEAD_LOG}, share of the memory for the wanted chunks of evicted
 *     containers
 * @param disk what is known of the device that holds the containers
 */
public record RestoreSettings(
        CacheChoice cache, OptionalLong cacheBytes, OptionalLong windowBytes, double logShare, DiskOption disk) {
    public static final RestoreSettings DEFAULT = new RestoreSettings(
            CacheChoice.DEFAULT,
            OptionalLong.empty(),
            OptionalLong.empty(),
            CacheParameters.DEFAULT_LOG_SHARE,
            DiskOption.AUTO);

    /**
     * @throws IllegalArgumentException if a value is out of range; the message names the value and the allowed range
     */
    public RestoreSettings {
        check(
                cacheBytes.isEmpty() || cacheBytes.getAsLong() >= StreamBudget.MIN_SHARE_BYTES,
                "the restore cache size must be at least " + StreamBudget.MIN_SHARE_BYTES + " bytes");
        check(windowBytes.isEmpty() || windowBytes.getAsLong() > 0, "the restore window must be greater than 0");
        check(
                logShare >= 0 && logShare <= CacheParameters.MAX_LOG_SHARE,
                "the restore log share is " + logShare + "; it must be from 0 to " + CacheParameters.MAX_LOG_SHARE);
    }

    private static void check(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalArgumentException(problem);
        }
    }

    /** Returns the memory budget of all sequential readers: at most {@code planned} bytes. */
    public StreamBudget budget(long planned) {
        return new StreamBudget(Math.min(planned, cacheBytes.orElse(planned)), this::make);
    }

    private ContainerCache make(long memoryBytes, ChunkHolder holder) {
        CacheParameters parameters = CacheParameters.of(memoryBytes, ContainerSize.EXPECTED_CHUNK_BYTES)
                .withLogShare(logShare);
        if (windowBytes.isPresent()) {
            int containerBytes = ContainerSize.EXPECTED_CHUNK_BYTES;
            long containers = (windowBytes.getAsLong() + containerBytes - 1) / containerBytes;
            parameters = parameters.withWindowContainers((int) Math.min(Integer.MAX_VALUE, containers));
        }
        return cache.make(parameters, holder);
    }
}
