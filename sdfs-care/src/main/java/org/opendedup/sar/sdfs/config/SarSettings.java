package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.hot.policy.HotSettings;

/**
 * The settings of a volume's selective promotion of chunks to an SSD (SAR paper §3), as stored in the volume file.
 *
 * @param ssdLocation folder on the SSD, or null
 * @param hot the parameters; the capacity is 0 bytes without a location
 */
public record SarSettings(@Nullable Path ssdLocation, HotSettings hot) {
    /**
     * What is said of a command for an SSD if the volume has none. The SSD's copies get their memory only at mount
     * time.
     */
    public static final String NO_SSD = "the volume has no SSD; to give it one, unmount it, and name the folder:"
            + " sdfscli VOLUME sar attach FOLDER --capacity=SIZE";

    /** The options that may be changed while the volume is mounted, but for the location. */
    public static final List<VolumeOption<?>> PARAMETERS = VolumeOptions.ALL.stream()
            .filter(option -> option.part().equals("sar") && option != VolumeOptions.SSD_LOCATION)
            .toList();

    /** @throws IllegalArgumentException if a value is not allowed; the message names what is allowed */
    public SarSettings {
        check(ssdLocation == null || ssdLocation.isAbsolute(), "the SSD location must be an absolute path");
        check(!hot.enabled() || ssdLocation != null, "promotion needs an SSD location");
        check(
                (ssdLocation == null) == (hot.capacityBytes() == 0),
                ssdLocation == null
                        ? "an SSD capacity needs the folder of the SSD"
                        : "the folder of the SSD needs a capacity, such as 20GB: how much of it the volume may use");
    }

    static SarSettings of(OptionValues values) {
        return new SarSettings(values.find(VolumeOptions.SSD_LOCATION).orElse(null), hot(values));
    }

    private static HotSettings hot(OptionValues values) {
        return new HotSettings(
                values.get(VolumeOptions.SAR_ENABLED),
                values.find(VolumeOptions.SSD_CAPACITY).orElse(0L),
                values.get(VolumeOptions.SAR_THRESHOLD),
                Math.toIntExact(values.get(VolumeOptions.SAR_MAX_RUN)),
                values.get(VolumeOptions.SAR_PROMOTE_ON_READ),
                values.get(VolumeOptions.SAR_LRU_ENTRIES),
                values.get(VolumeOptions.SAR_POLICY));
    }

    private static OptionValues into(OptionValues values, HotSettings hot) {
        return values.with(VolumeOptions.SAR_ENABLED, hot.enabled())
                .with(VolumeOptions.SSD_CAPACITY, hot.capacityBytes() == 0 ? null : hot.capacityBytes())
                .with(VolumeOptions.SAR_THRESHOLD, hot.referenceCountThreshold())
                .with(VolumeOptions.SAR_MAX_RUN, (long) hot.maxRunBytes())
                .with(VolumeOptions.SAR_PROMOTE_ON_READ, hot.promoteOnRead())
                .with(VolumeOptions.SAR_LRU_ENTRIES, hot.lruEntries())
                .with(VolumeOptions.SAR_POLICY, hot.policy());
    }

    /** Returns values of options with these. */
    public OptionValues into(OptionValues values) {
        return into(values, hot).with(VolumeOptions.SSD_LOCATION, ssdLocation);
    }

    /**
     * Returns a sentence for who sets the threshold of references, which a policy may not use; empty if it does.
     *
     * @param policy as options spell it
     */
    public static String unusedThreshold(String policy) {
        String using = OptionKind.spelling(HotSettings.Policy.REFERENCE_COUNT);
        return policy.equals(using)
                ? ""
                : String.format(
                        "The threshold of references has no effect with the policy %s, only with %s.%n", policy, using);
    }

    /** Returns the parameters by their names, which JSON, the control socket and JMX share, in a fixed order. */
    public static Map<String, Object> parameters(HotSettings hot) {
        OptionValues values = into(OptionValues.NONE, hot);
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
    public static HotSettings change(HotSettings before, Map<String, ?> changes) {
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
        return hot(values);
    }

    /**
     * Returns the settings with some parameters changed.
     *
     * @param changes as for {@link #change}
     * @throws IllegalArgumentException if a name or value is not allowed, or needs an SSD
     */
    public SarSettings with(Map<String, ?> changes) {
        HotSettings changed = change(hot, changes);
        check(ssdLocation != null || changed.capacityBytes() == 0 && !changed.enabled(), NO_SSD);
        return new SarSettings(ssdLocation, changed);
    }

    public SarSettings withLocation(Path changed) {
        return new SarSettings(changed, hot);
    }
}
