package org.opendedup.sar.volume.store;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.metadata.remote.ShippingLimits;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * What opens the stores of a volume.
 *
 * @param name name of the volume
 * @param keys of an encrypted volume; null: it is not encrypted
 * @param readBytes memory for ranges that are read from the store
 * @param shipping bounds of the metadata that follow into the store
 */
record StoreAccess(
        String name,
        VolumeConfig.Locations locations,
        @Nullable VolumeKeys keys,
        long readBytes,
        ShippingLimits shipping) {
    /** Enough for eight ranges at the same time: of an unmounted volume, which has no memory plan. */
    private static final long UNMOUNTED_READ_BYTES = 16L << 20;

    StoreAccess(String name, VolumeConfig.Locations locations, @Nullable VolumeKeys keys) {
        this(name, locations, keys, UNMOUNTED_READ_BYTES, ShippingLimits.DEFAULT);
    }

    static StoreAccess of(VolumeConfig config) {
        MemoryPlan plan = MemoryPlan.of(config);
        return new StoreAccess(
                config.name(),
                config.locations(),
                config.keys(),
                plan.storeReads(),
                ShippingLimits.DEFAULT.within(plan.waitingChanges()));
    }

    RemoteSettings settings() {
        return Objects.requireNonNull(locations.remote());
    }
}
