package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;

/**
 * Names what is charged for files: a user, a group, or a project.
 *
 * @param id number of the user, group or project, an unsigned int
 */
public record QuotaId(Kind kind, int id) {
    /** Key of a record: this, the letter of the kind, and the number in 8 bytes. */
    private static final byte[] PREFIX = Keys.of("quota ");

    /** Less or equal to the key of each record. */
    public static final byte[] FIRST_KEY = PREFIX;

    /** Greater than the key of each record: {@code !} follows the space. */
    public static final byte[] END_KEY = Keys.of("quota!");

    /** What is charged. A file has a user and a group, and a project if a folder above it has one. */
    public enum Kind {
        USER('u'),
        GROUP('g'),
        PROJECT('p');

        private final char letter;

        Kind(char letter) {
            this.letter = letter;
        }

        /** Returns its name in messages and commands. */
        public String text() {
            return switch (this) {
                case USER -> "user";
                case GROUP -> "group";
                case PROJECT -> "project";
            };
        }
    }

    /** Returns the number as a user writes it. */
    public long number() {
        return Integer.toUnsignedLong(id);
    }

    /** Returns the key of its record among those of the system. */
    public byte[] key() {
        byte[] kindKey = Keys.of(String.valueOf(kind.letter));
        return Keys.join(Keys.join(PREFIX, kindKey), Keys.of(number()));
    }

    /** Returns whose record has this key. */
    public static QuotaId ofKey(byte[] key) throws CorruptionException {
        if (key.length == PREFIX.length + 1 + Keys.LONG_BYTES) {
            long number = Keys.longAt(key, PREFIX.length + 1);
            for (Kind kind : Kind.values()) {
                if (key[PREFIX.length] == kind.letter && number >>> Integer.SIZE == 0) {
                    return new QuotaId(kind, (int) number);
                }
            }
        }
        throw new CorruptionException("metadata database, key of a quota", -1, "a kind and a number", "other bytes");
    }

    @Override
    public String toString() {
        return kind.text() + " " + number();
    }
}
