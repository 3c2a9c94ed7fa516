package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The arguments of a control command. Taken out one by one, as what they should be; {@link #end} refuses what nobody took. */
final class ControlArguments {
    private final Map<String, Object> left;

    ControlArguments(Map<String, Object> arguments) {
        left = new LinkedHashMap<>(arguments);
    }

    /** @throws IOException if it is missing or no text */
    String text(String name) throws IOException {
        String text = textIfAny(name);
        if (text == null) {
            throw new IOException("the argument '" + name + "' is missing");
        }
        return text;
    }

    @Nullable
    String textIfAny(String name) throws IOException {
        Object value = left.remove(name);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw wrong(name, value, "a text");
    }

    /** A whole number, or what it is otherwise. */
    long number(String name, long otherwise) throws IOException {
        Object value = left.remove(name);
        if (value == null) {
            return otherwise;
        } else if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        }
        throw wrong(name, value, "a whole number");
    }

    /** An object of its own; empty if it is missing. */
    @SuppressWarnings("unchecked")
    Map<String, Object> object(String name) throws IOException {
        Object value = left.remove(name);
        if (value == null) {
            return Map.of();
        } else if (value instanceof Map<?, ?>) {
            return (Map<String, Object>) value;
        }
        throw wrong(name, value, "an object");
    }

    /** @throws IOException if an argument is left, which nobody knows */
    void end() throws IOException {
        if (!left.isEmpty()) {
            throw new IOException("the argument '" + left.keySet().iterator().next() + "' is not known to the daemon");
        }
    }

    private static IOException wrong(String name, Object value, String allowed) {
        return new IOException("the argument '" + name + "' is '" + value + "', not " + allowed);
    }
}
