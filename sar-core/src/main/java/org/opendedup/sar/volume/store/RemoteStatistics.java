package org.opendedup.sar.volume.store;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.remote.ShippingStatistics;
import org.opendedup.sar.objects.reliable.ObjectStoreStatistics;
import org.opendedup.sar.remote.PackStatistics;
import org.opendedup.sar.volume.config.RemoteSettings;

/**
 * The object store of a volume at one moment: what is not there yet, and what was asked of it since the mount.
 *
 * @param settings as the volume was mounted
 * @param failure why the last packs or metadata that were put are not there; null if they are
 * @param reading how the volume is read while another machine may own it; null: this one owns it
 */
public record RemoteStatistics(
        RemoteSettings settings,
        PackStatistics packs,
        ShippingStatistics metadata,
        ObjectStoreStatistics requests,
        @Nullable String failure,
        @Nullable Reading reading) {
    /**
     * A mount that reads the volume as it was at a moment.
     *
     * @param ageMs how long ago that was, in milliseconds
     * @param isLost whether the owner does not keep any more what is read here
     */
    public record Reading(long ageMs, boolean isLost) {}

    /** Returns the bytes that are lost if this machine is lost now. */
    public long missingBytes() {
        return packs.waitingPackBytes() + metadata.waitingBytes();
    }

    /** Returns whether the last requests to put something were answered, and none failed. */
    public boolean takesMore() {
        return failure == null && requests.breaker().equals("closed");
    }

    /** Returns the age of the oldest of them, in milliseconds. */
    public long missingMs() {
        return Math.max(packs.waitingPackMs(), metadata.waitingMs());
    }
}
