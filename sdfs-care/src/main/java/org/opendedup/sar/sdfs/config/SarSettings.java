package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
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

    /** The options that may be changed while the volume is mounted, but for the location. */
    public static final List<VolumeOption<?>> PARAMETERS = VolumeOptions.ALL.stream()
            .filter(option -> option.part().equals("sar") && option != VolumeOptions.SSD_LOCATION)
            .toList();

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

    static SarSettings of(OptionValues values) {
        return new SarSettings(values.find(VolumeOptions.SSD_LOCATION).orElse(null), tier(values));
    }

    private static TierSettings tier(OptionValues values) {
        return new TierSettings(
                values.get(VolumeOptions.SAR_ENABLED),
                values.find(VolumeOptions.SSD_CAPACITY).orElse(0L),
                values.get(VolumeOptions.SAR_THRESHOLD),
                Math.toIntExact(values.get(VolumeOptions.SAR_MAX_RUN)),
                values.get(VolumeOptions.SAR_PROMOTE_ON_READ),
                values.get(VolumeOptions.SAR_LRU_ENTRIES),
                values.get(VolumeOptions.SAR_POLICY));
    }

    private static OptionValues into(OptionValues values, TierSettings tier) {
        return values.with(VolumeOptions.SAR_ENABLED, tier.enabled())
                .with(VolumeOptions.SSD_CAPACITY, tier.capacityBytes() == 0 ? null : tier.capacityBytes())
                .with(VolumeOptions.SAR_THRESHOLD, tier.referenceCountThreshold())
                .with(VolumeOptions.SAR_MAX_RUN, (long) tier.maxRunBytes())
                .with(VolumeOptions.SAR_PROMOTE_ON_READ, tier.promoteOnRead())
                .with(VolumeOptions.SAR_LRU_ENTRIES, tier.lruEntries())
                .with(VolumeOptions.SAR_POLICY, tier.policy());
    }

    /** Returns values of options with these. */
    public OptionValues into(OptionValues values) {
        return into(values, tier).with(VolumeOptions.SSD_LOCATION, ssdLocation);
    }

    /** Returns the parameters by their names, which JSON, the control socket and JMX share, in a fixed order. */
    public static Map<String, Object> parameters(TierSettings tier) {
        OptionValues values = into(OptionValues.NONE, tier);
        var parameters = new LinkedHashMap<String, Object>();
        PARAMETERS.forEach(option -> parameters.put(option.key(), values.json(option)));
        return parameters;
    }

    /**
     * Returns parameters with some values changed.
     *
     * @param changes new values by name; numbers of any integer type
     * @throws IllegalArgumentException if a name or value is not allowed; the message names what is allowed
     */
    public static TierSettings change(TierSettings before, Map<String, ?> changes) {
        OptionValues values = into(OptionValues.NONE, before);
        for (Map.Entry<String, ?> change : changes.entrySet()) {
            VolumeOption<?> option = PARAMETERS.stream()
                    .filter(each -> each.key().equals(change.getKey()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("'" + change.getKey()
                            + "' is no parameter; there are "
                            + PARAMETERS.stream().map(VolumeOption::key).toList()));
            values = values.withJson(option, change.getValue());
        }
        return tier(values);
    }

    /**
     * Returns the settings with some parameters changed.
     *
     * @param changes as for {@link #change}
     * @throws IllegalArgumentException if a name or value is not allowed, or needs an SSD
     */
    public SarSettings with(Map<String, ?> changes) {
        TierSettings changed = change(tier, changes);
        check(ssdLocation != null || changed.capacityBytes() == 0 && !changed.enabled(), NO_SSD);
        return new SarSettings(ssdLocation, changed);
    }

    public SarSettings withLocation(Path changed) {
        return new SarSettings(changed, tier);
    }
}
