package org.opendedup.sar.index.chunkstash;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.DiskIndex;
import org.opendedup.sar.index.IndexSpace;

/**
 * How large the files of an index may become, and where the oldest part goes then.
 *
 * @param space bound of the files
 * @param behind where the disk index is; null: there is none, and insertions are refused when there is no room
 */
public record StashLimits(IndexSpace space, DiskIndex.@Nullable Place behind) {
    /** As large as the device, and nothing behind it. */
    public static final StashLimits NONE = new StashLimits(IndexSpace.UNBOUNDED, null);
}
