package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.tier.policy.TierSettings;

/**
 * The settings of a volume's selective promotion of chunks to an SSD (SAR paper §3), as stored in the volume file.
 *
 * @param ssdLocation folder on the SSD, or null
 * @param tier the parameters; the capacity is 0 bytes without a location
 */
public record SarSettings(@Nullable Path ssdLocation, TierSettings tier) {
    /** What is said of a command for an SSD if the volume has none. The tier gets its memory only at mount time. */
    public static final String NO_SSD = "the volume has no SSD; to give it one, unmount it, and name the folder:"
            + " sdfscli VOLUME sar attach FOLDER --capacity=SIZE";

    /** @throws IllegalArgumentException if a value is not allowed; the message names what is allowed */
    public SarSettings {
        check(ssdLocation == null || ssdLocation.isAbsolute(), "the SSD location must be an absolute path");
        check(!tier.enabled() || ssdLocation != null, "promotion needs an SSD location");
        check(
                (ssdLocation == null) == (tier.capacityBytes() == 0),
                ssdLocation == null
                        ? "an SSD capacity needs the folder of the SSD"
                        : "the folder of the SSD needs a capacity, such as 20GB: how much of it the volume may use");
    }

    public SarSettings withTier(TierSettings changed) {
        return new SarSettings(ssdLocation, changed);
    }

    /**
     * Returns the settings with some parameters changed.
     *
     * @param changes as for {@link SarParameters#change}
     * @throws IllegalArgumentException if a name or value is not allowed, or needs an SSD
     */
    public SarSettings with(Map<String, ?> changes) {
        TierSettings changed = SarParameters.change(tier, changes);
        check(ssdLocation != null || changed.capacityBytes() == 0 && !changed.enabled(), NO_SSD);
        return withTier(changed);
    }

    public SarSettings withLocation(Path changed) {
        return new SarSettings(changed, tier);
    }
}
