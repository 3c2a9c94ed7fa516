package org.opendedup.sar.restore;

import java.util.OptionalLong;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;

/**
 * How sequential reading back is cached.
 *
 * @param cache what stays in memory behind what a reader has fetched
 * @param cacheBytes memory of all readers in sequence; empty: what the memory budget gives
 * @param windowBytes how far ahead a recipe is looked at by the policies that have a window of their own ({@link CachePolicy#DEFAULT} and
 *     those of the lookahead paper); empty: the policy's multiple of what stays in memory
 * @param logShare with {@link CachePolicy#LOOKAHEAD_LOG}, share of the memory for the wanted chunks of evicted containers
 * @param disk what is known of the device that has the containers
 */
public record RestoreSettings(
        CachePolicy cache, OptionalLong cacheBytes, OptionalLong windowBytes, double logShare, DiskOption disk) {
    /** Containers of about this size: see {@code docs/FORMAT.md}. */
    private static final int CONTAINER_BYTES = 4 << 20;

    public static final RestoreSettings DEFAULT = new RestoreSettings(
            CachePolicy.DEFAULT,
            OptionalLong.empty(),
            OptionalLong.empty(),
            CacheParameters.DEFAULT_LOG_SHARE,
            DiskOption.AUTO);

    /** @throws IllegalArgumentException naming what is wrong and what is allowed */
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

    /** The memory of all readers in sequence, of which a plan has {@code planned} bytes at most. */
    public StreamBudget budget(long planned) {
        return new StreamBudget(Math.min(planned, cacheBytes.orElse(planned)), this::make);
    }

    private ContainerCache make(long memoryBytes, ChunkHolder holder) {
        CacheParameters parameters =
                CacheParameters.of(memoryBytes, CONTAINER_BYTES).withLogShare(logShare);
        if (windowBytes.isPresent()) {
            long containers = (windowBytes.getAsLong() + CONTAINER_BYTES - 1) / CONTAINER_BYTES;
            parameters = parameters.withWindowContainers((int) Math.min(Integer.MAX_VALUE, containers));
        }
        return cache.make(parameters, holder);
    }
}
