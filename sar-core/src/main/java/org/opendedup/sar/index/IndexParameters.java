package org.opendedup.sar.index;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The sizes of an index that a volume chose; the others follow from the index's memory. Those of other classes of index
 * stay with the volume and have no effect.
 *
 * @param values the chosen ones
 */
public record IndexParameters(Map<IndexParameter, Long> values) {
    /** All as usual. */
    public static final IndexParameters NONE = new IndexParameters(Map.of());

    public IndexParameters {
        values = Map.copyOf(values);
    }

    /**
     * Reads what {@link #toString} returns: {@code name=value,name=value}, in any order.
     *
     * @throws IllegalArgumentException if a name or a value is not allowed; the message says what is
     */
    public static IndexParameters parse(String text) {
        Map<IndexParameter, Long> values = new EnumMap<>(IndexParameter.class);
        for (String each : text.split(",")) {
            String[] parts = each.strip().split("=", 2);
            IndexParameter parameter = named(parts[0].strip().toLowerCase(Locale.ROOT));
            if (parts.length < 2) {
                throw new IllegalArgumentException(
                        "'" + each.strip() + "' has no value; " + parameter.label() + " is " + parameter.allowed());
            }
            if (values.put(parameter, parameter.parse(parts[1].strip())) != null) {
                throw new IllegalArgumentException(parameter.label() + " is given twice");
            }
        }
        return new IndexParameters(values);
    }

    private static IndexParameter named(String label) {
        return Arrays.stream(IndexParameter.values())
                .filter(each -> each.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + label + "' is no parameter of an index; use "
                        + Arrays.stream(IndexParameter.values())
                                .map(IndexParameter::label)
                                .collect(Collectors.joining(", "))));
    }

    /** Returns whether a value was chosen. */
    public boolean has(IndexParameter parameter) {
        return values.containsKey(parameter);
    }

    /** Returns the chosen value, or the usual one. */
    public long get(IndexParameter parameter, long usual) {
        return values.getOrDefault(parameter, usual);
    }

    /** @throws IllegalArgumentException if one is of another class of index; the message names it */
    public void checkAgainst(IndexClass index) {
        for (IndexParameter parameter : IndexParameter.values()) {
            if (values.containsKey(parameter) && parameter.index() != index) {
                throw new IllegalArgumentException(parameter.label() + " is for an index of class "
                        + parameter.index().label() + ", and that of this volume is of class " + index.label());
            }
        }
    }

    @Override
    public String toString() {
        return Arrays.stream(IndexParameter.values())
                .filter(values::containsKey)
                .map(each -> each.label() + "=" + each.text(get(each, 0)))
                .collect(Collectors.joining(","));
    }
}
