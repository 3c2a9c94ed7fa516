package org.opendedup.sar.differential;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The result of an op: values of fields of subjects, such as the mode of {@code ./a}. The subject {@code result} stands
 * for the value that the call returned.
 */
record Answer(SortedMap<Key, String> values) {
    /** The value of a field that an op did not change. */
    static final String AS_BEFORE = "as before";

    private static final String END = ".";

    /** A field of a path or of an open file. */
    record Key(String subject, String field) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int order = subject.compareTo(other.subject);
            return order != 0 ? order : field.compareTo(other.field);
        }

        boolean isTime() {
            return field.endsWith("time");
        }

        @Override
        public String toString() {
            return (subject + " " + field).strip();
        }
    }

    static Answer read(BufferedReader from) throws IOException {
        SortedMap<Key, String> values = new TreeMap<>();
        while (true) {
            String line = from.readLine();
            if (line == null) {
                throw new EOFException("the answer ends early");
            }
            if (line.equals(END)) {
                return new Answer(values);
            }
            String[] parts = line.split("\t", -1);
            values.put(new Key(parts[0], parts[1]), parts[2]);
        }
    }

    String result() {
        return values.getOrDefault(new Key("result", ""), "");
    }

    String value(Key key) {
        return values.getOrDefault(key, AS_BEFORE);
    }

    Answer only(Predicate<Key> wanted) {
        SortedMap<Key, String> kept = new TreeMap<>(values);
        kept.keySet().removeIf(wanted.negate());
        return new Answer(kept);
    }

    /** The fields that have another value in {@code other}. */
    TreeSet<Key> differingFrom(Answer other) {
        TreeSet<Key> keys = new TreeSet<>(values.keySet());
        keys.addAll(other.values.keySet());
        keys.removeIf(key -> value(key).equals(other.value(key)));
        return keys;
    }
}
