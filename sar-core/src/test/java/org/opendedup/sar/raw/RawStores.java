package org.opendedup.sar.raw;

import java.nio.file.Path;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Settings of volumes whose fast tier is in memory, and has raw files only. */
public final class RawStores {
    private static final HotSettings NO_COPIES =
            new HotSettings(false, 0, 5, 128 << 10, false, 0, HotSettings.Policy.REFERENCE_COUNT);

    private RawStores() {}

    /** Returns settings by which every new file is raw, and none is migrated by itself. */
    public static VolumeConfig of(VolumeConfig config) {
        return of(config, 0);
    }

    /** @param copyAfterS seconds after which a raw file is also stored in chunks; 0: never */
    public static VolumeConfig of(VolumeConfig config, int copyAfterS) {
        return config.withSsd(Path.of("in memory"), NO_COPIES)
                .withRaw(new RawSettings(
                        Placement.TDDFS, 1L << 40, RawSettings.HIGH_PERCENT, RawSettings.LOW_PERCENT, copyAfterS));
    }

    /** Opens a tier without the SSD that the settings name. */
    public static HotChunks.Opener noCopies() {
        return (location, timeline, settings, memory, counts, name) ->
                HotChunks.open(null, timeline, null, memory, counts, name);
    }
}
