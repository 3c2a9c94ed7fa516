package org.opendedup.sar.sdfs.health;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known about the snapshots of a volume.
 *
 * @param count those that exist
 * @param oldestMs when the oldest of them was made, in milliseconds since 1970; 0 if there is none
 * @param newestMs when the newest of them was made, likewise
 * @param beingFreed deleted ones of which something is not freed yet
 * @param isReplica whether the volume receives those of another one, and programs do not change its files
 * @param due the first time of the schedule since its newest snapshot, if that is long past; null if none is, and for a
 *     replica, in which the schedule makes none
 */
public record SnapshotFacts(
        int count,
        long oldestMs,
        long newestMs,
        int beingFreed,
        boolean isReplica,
        @Nullable Instant due) {}
