package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a control command. Each getter removes one argument and checks its type; {@link #end} refuses the
 * arguments that are left.
 */
public final class ControlArguments {
    private final Map<String, Object> left;

    public ControlArguments(Map<String, Object> arguments) {
        left = new LinkedHashMap<>(arguments);
    }

    /** @throws IOException if the argument is missing or not a text */
    public String text(String name) throws IOException {
        String text = textIfAny(name);
        if (text == null) {
            throw new IOException("the argument '" + name + "' is missing");
        }
        return text;
    }

    @Nullable
    public String textIfAny(String name) throws IOException {
        Object value = left.remove(name);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw wrong(name, value, "a text");
    }

    /** @throws IOException if the argument is missing or not a list of texts */
    public List<String> texts(String name) throws IOException {
        if (!(left.get(name) instanceof List<?> values) || !values.stream().allMatch(String.class::isInstance)) {
            throw wrong(name, left.get(name), "a list of texts");
        }
        left.remove(name);
        return values.stream().map(String.class::cast).toList();
    }

    /** Returns a whole number, or {@code otherwise} if the argument is missing. */
    public long number(String name, long otherwise) throws IOException {
        Object value = left.remove(name);
        if (value == null) {
            return otherwise;
        } else if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        }
        throw wrong(name, value, "a whole number");
    }

    /** Returns an argument that is an object; empty if it is missing. */
    @SuppressWarnings("unchecked")
    public Map<String, Object> object(String name) throws IOException {
        Object value = left.remove(name);
        if (value == null) {
            return Map.of();
        } else if (value instanceof Map<?, ?>) {
            return (Map<String, Object>) value;
        }
        throw wrong(name, value, "an object");
    }

    /** @throws IOException if an argument is left, which no getter asked for */
    public void end() throws IOException {
        if (!left.isEmpty()) {
            throw new IOException("the argument '" + left.keySet().iterator().next() + "' is not known to the daemon");
        }
    }

    private static IOException wrong(String name, @Nullable Object value, String allowed) {
        return new IOException("the argument '" + name + "' is '" + value + "', not " + allowed);
    }
}
