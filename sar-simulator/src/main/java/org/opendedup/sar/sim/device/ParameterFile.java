package org.opendedup.sar.sim.device;

import java.io.IOException;
import java.io.Reader;
import java.util.OptionalDouble;
import java.util.Properties;
import java.util.TreeSet;

/**
 * Reads parameters as lines {@code key=value}, strictly: each key must be known, each value in its range. For one
 * thread.
 */
final class ParameterFile {
    private final String name;
    private final Properties values = new Properties();
    private final TreeSet<String> unread;

    /**
     * Reads all lines.
     *
     * @param name name of the file, for messages
     */
    ParameterFile(String name, Reader lines) throws IOException {
        this.name = name;
        try {
            values.load(lines);
        } catch (IllegalArgumentException e) {
            throw new IOException(name + ": " + e.getMessage(), e);
        }
        unread = new TreeSet<>(values.stringPropertyNames());
    }

    String text(String key) throws IOException {
        unread.remove(key);
        String value = values.getProperty(key);
        if (value == null) {
            throw new IOException(name + ": " + key + " is missing");
        }
        return value.strip();
    }

    /** Returns a number, if there is one. */
    OptionalDouble optional(String key, double least, double most) throws IOException {
        return values.containsKey(key) ? OptionalDouble.of(number(key, least, most)) : OptionalDouble.empty();
    }

    double number(String key, double least, double most) throws IOException {
        String text = text(key);
        try {
            double value = Double.parseDouble(text);
            // The comparison is false for NaN.
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new IOException(name + ": " + key + " is '" + text + "', no number", e);
        }
        throw new IOException(name + ": " + key + " is " + text + "; it must be from " + least + " to " + most);
    }

    long integer(String key, long least, long most) throws IOException {
        double value = number(key, (double) least, (double) most);
        if (value != Math.rint(value)) {
            throw new IOException(name + ": " + key + " is " + value + "; it must be a whole number");
        }
        return (long) value;
    }

    IOException wrong(String key, String allowed) {
        return new IOException(name + ": " + key + " is '" + values.getProperty(key) + "'; it must be " + allowed);
    }

    /** @throws IOException if a key was not read: it is misspelt */
    void checkAllRead() throws IOException {
        if (!unread.isEmpty()) {
            throw new IOException(name + ": " + unread.first() + " is no parameter");
        }
    }
}
