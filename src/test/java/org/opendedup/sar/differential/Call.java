package org.opendedup.sar.differential;

import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.opendedup.sar.differential.Answer.Key;

/** An op and its results on both file systems. */
record Call(String op, Answer ext4, Answer volume) {
    /** Whether the op has this name. */
    boolean is(String name) {
        String[] words = op.split(" ");
        return words.length > 2 && words[2].equals(name);
    }

    String expected(Key key) {
        return ext4.value(key);
    }

    String found(Key key) {
        return volume.value(key);
    }

    boolean succeeds() {
        return ext4.result().equals("ok") && volume.result().equals("ok");
    }

    /** The subjects whose {@code field} changed on ext4. */
    Set<Key> changes(String field) {
        return ext4.values().keySet().stream()
                .filter(key -> key.field().equals(field))
                .collect(Collectors.toSet());
    }

    /** This call without its times. */
    Call withoutTimes() {
        return new Call(op, ext4.only(key -> !key.isTime()), volume.only(key -> !key.isTime()));
    }

    /** The unknown differences, if any. */
    Optional<String> difference() {
        TreeSet<Key> keys = ext4.differingFrom(volume);
        keys.removeIf(key -> KnownDifference.explains(this, key));
        if (keys.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(keys.stream()
                .map(key -> "\n  " + key + ": expected " + expected(key) + ", found " + found(key))
                .collect(Collectors.joining("", op, "\n  (it returned " + volume.result() + ")")));
    }
}
