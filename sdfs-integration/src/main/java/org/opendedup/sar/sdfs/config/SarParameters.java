package org.opendedup.sar.sdfs.config;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.ssd.SsdSize;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.policy.TierSettings.Policy;

/**
 * The parameters of SAR by their names, which JSON, the control socket and JMX share. This class checks only the types
 * of values; {@link TierSettings} checks the allowed values.
 */
public final class SarParameters {
    public static final String ENABLED = "enabled";
    public static final String CAPACITY_BYTES = "capacityBytes";
    public static final String REFERENCE_COUNT_THRESHOLD = "referenceCountThreshold";
    public static final String MAX_RUN_BYTES = "maxRunBytes";
    public static final String PROMOTE_ON_READ = "promoteOnRead";
    public static final String LRU_ENTRIES = "lruEntries";
    public static final String POLICY = "policy";

    private SarParameters() {}

    /** Returns names and values in a fixed order. The policy is spelled as in the volume file. */
    public static Map<String, Object> of(TierSettings settings) {
        var values = new LinkedHashMap<String, Object>();
        values.put(ENABLED, settings.enabled());
        values.put(CAPACITY_BYTES, settings.capacityBytes());
        values.put(REFERENCE_COUNT_THRESHOLD, settings.referenceCountThreshold());
        values.put(MAX_RUN_BYTES, settings.maxRunBytes());
        values.put(PROMOTE_ON_READ, settings.promoteOnRead());
        values.put(LRU_ENTRIES, settings.lruEntries());
        values.put(POLICY, spelling(settings.policy()));
        return values;
    }

    /**
     * Returns the spelling of a policy in the volume file, commands and JMX: {@code reference-count}, {@code cost} or
     * {@code open}.
     */
    public static String spelling(Policy policy) {
        return XmlElement.spelling(policy);
    }

    /**
     * Returns the settings with some values changed.
     *
     * @param changes new values by name; numbers of any integer type
     * @throws IllegalArgumentException if a name or value is not allowed; the message names what is allowed
     */
    public static TierSettings change(TierSettings before, Map<String, ?> changes) {
        Map<String, Object> values = of(before);
        changes.forEach((name, value) -> {
            if (!values.containsKey(name)) {
                throw new IllegalArgumentException("'" + name + "' is no parameter; there are " + values.keySet());
            }
            values.put(name, value);
        });
        if (changes.containsKey(CAPACITY_BYTES)) {
            requireUseful(number(values, CAPACITY_BYTES));
        }
        return new TierSettings(
                bool(values, ENABLED),
                number(values, CAPACITY_BYTES),
                integer(values, REFERENCE_COUNT_THRESHOLD),
                integer(values, MAX_RUN_BYTES),
                bool(values, PROMOTE_ON_READ),
                integer(values, LRU_ENTRIES),
                policy(values));
    }

    /**
     * Refuses a capacity that is too small to hold a chunk.
     *
     * @param capacityBytes capacity in bytes
     * @throws IllegalArgumentException if it is too small; the message names it and the smallest capacity that works
     */
    public static void requireUseful(long capacityBytes) {
        long least = SsdSize.leastCapacity();
        if (capacityBytes < least) {
            throw new IllegalArgumentException("an SSD capacity of " + ByteSize.exact(capacityBytes)
                    + " holds no chunk, as the log and the Map table's database need room; it must be at least "
                    + ByteSize.exact(least));
        }
    }

    private static boolean bool(Map<String, Object> values, String name) {
        if (values.get(name) instanceof Boolean value) {
            return value;
        }
        throw wrong(name, values.get(name), "true or false");
    }

    private static long number(Map<String, Object> values, String name) {
        Object value = values.get(name);
        if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        }
        throw wrong(name, value, "a whole number");
    }

    private static int integer(Map<String, Object> values, String name) {
        long value = number(values, name);
        if (value != (int) value) {
            throw wrong(name, value, "a number below 2147483648");
        }
        return (int) value;
    }

    private static Policy policy(Map<String, Object> values) {
        Object value = values.get(POLICY);
        for (Policy policy : Policy.values()) {
            if (spelling(policy).equals(value)) {
                return policy;
            }
        }
        throw wrong(
                POLICY,
                value,
                "one of "
                        + Stream.of(Policy.values())
                                .map(SarParameters::spelling)
                                .toList());
    }

    private static IllegalArgumentException wrong(String name, @Nullable Object value, String allowed) {
        return new IllegalArgumentException("'" + name + "' is '" + value + "', not " + allowed);
    }
}
