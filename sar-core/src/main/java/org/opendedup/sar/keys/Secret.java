package org.opendedup.sar.keys;

import java.util.Arrays;

/**
 * What opens a slot: the bytes of a passphrase in UTF-8, of a key file, or of a command's output.
 *
 * @param kind where it came from
 * @param bytes at least one byte; {@link #close} overwrites them
 */
public record Secret(Kind kind, byte[] bytes) implements AutoCloseable {
    /** Where a secret comes from. The order of the constants is that of the format. */
    public enum Kind {
        PASSPHRASE("passphrase"),
        KEY_FILE("key file"),
        COMMAND("command");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        /** Returns the kind in words. */
        @Override
        public String toString() {
            return words;
        }
    }

    /** @throws IllegalArgumentException if it is empty */
    public Secret {
        if (bytes.length == 0) {
            throw new IllegalArgumentException("the " + kind + " is empty");
        }
    }

    /** Overwrites the bytes. The JVM may have moved them before, and left a copy that will be overwritten by chance. */
    @Override
    public void close() {
        Arrays.fill(bytes, (byte) 0);
    }

    /** Returns the kind alone: a secret is in no message. */
    @Override
    public String toString() {
        return "a " + kind;
    }
}
