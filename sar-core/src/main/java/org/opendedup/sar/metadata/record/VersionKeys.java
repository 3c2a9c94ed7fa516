package org.opendedup.sar.metadata.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The keys of earlier versions of records, which snapshots have, and of their deaths.
 *
 * <pre>
 * version := kind (1 byte) numbers death [name]
 * death   := death birth kind numbers
 * </pre>
 *
 * The numbers are those at the beginning of the record's key; births and deaths have 8 bytes, big-endian. A version is
 * in the snapshots with the numbers from its birth on that are less than its death. The versions of a record lie
 * together in the order of their deaths, so the one that a snapshot has is found by one search. The deaths tell what
 * can be freed with a snapshot, and nothing else is read for it.
 */
public final class VersionKeys {
    /** The kinds of records that have versions. */
    public enum Kind {
        INODE('i', Keys.LONG_BYTES),
        ENTRY('e', Entry.NAME_OFFSET),
        XATTR('x', Keys.LONG_BYTES),
        RECIPE('r', 2 * Keys.LONG_BYTES);

        private final byte code;
        private final int numberBytes;

        Kind(char code, int numberBytes) {
            this.code = (byte) code;
            this.numberBytes = numberBytes;
        }

        /** Returns the bytes of the numbers at the beginning of such a record's key; a name may follow. */
        public int numberBytes() {
            return numberBytes;
        }

        /** Returns whether names follow the numbers, so that several records may have the same numbers. */
        public boolean hasName() {
            return this == ENTRY || this == XATTR;
        }

        /** Returns the kind of a version; null if the key is none of a version. */
        static @Nullable Kind of(byte code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }

    private VersionKeys() {}

    /** Returns the key of a version of the record with this key. */
    public static byte[] version(Kind kind, byte[] key, long death) {
        int numbers = kind.numberBytes;
        byte[] version = new byte[1 + key.length + Keys.LONG_BYTES];
        version[0] = kind.code;
        System.arraycopy(key, 0, version, 1, numbers);
        System.arraycopy(Keys.of(death), 0, version, 1 + numbers, Keys.LONG_BYTES);
        System.arraycopy(key, numbers, version, 1 + numbers + Keys.LONG_BYTES, key.length - numbers);
        return version;
    }

    /** Returns the lowest key of the versions of the records from {@code key} on, which may have fewer numbers. */
    public static byte[] from(Kind kind, byte[] key) {
        byte[] first = Arrays.copyOf(key, Math.min(key.length, kind.numberBytes));
        return Keys.join(new byte[] {kind.code}, first);
    }

    /** Returns a key above those of all versions of a kind. */
    public static byte[] end(Kind kind) {
        return new byte[] {(byte) (kind.code + 1)};
    }

    /** Returns the numbers at the beginning of the key of the record that this is a version of. */
    public static byte[] numbers(Kind kind, byte[] version) {
        return Arrays.copyOfRange(version, 1, 1 + kind.numberBytes);
    }

    /** Returns the key of the record that this is a version of. */
    public static byte[] keyOf(Kind kind, byte[] version) {
        byte[] name = Arrays.copyOfRange(version, bytesBeforeName(version), version.length);
        return Keys.join(numbers(kind, version), name);
    }

    /** Returns the death of a version, by its key. */
    public static long deathOf(Kind kind, byte[] version) {
        return Keys.longAt(version, 1 + kind.numberBytes);
    }

    /** Returns the kind of a version; null if the key is none of a version. */
    public static @Nullable Kind kindOf(byte[] version) {
        Kind kind = version.length == 0 ? null : Kind.of(version[0]);
        return kind == null || version.length < 1 + kind.numberBytes + Keys.LONG_BYTES ? null : kind;
    }

    /** Returns the key of a version's death. */
    public static byte[] death(long death, long birth, Kind kind, byte[] key) {
        return Keys.join(Keys.of(death, birth), from(kind, key));
    }

    /** Returns the kind of the record whose death this is; null if the key is none of a death. */
    public static @Nullable Kind kindOfDeath(byte[] death) {
        Kind kind = death.length <= 2 * Keys.LONG_BYTES ? null : Kind.of(death[2 * Keys.LONG_BYTES]);
        return kind == null || death.length != 2 * Keys.LONG_BYTES + 1 + kind.numberBytes ? null : kind;
    }

    /** Returns the numbers at the beginning of the key of the record whose death this is. */
    public static byte[] numbersOfDeath(byte[] death) {
        return Arrays.copyOfRange(death, 2 * Keys.LONG_BYTES + 1, death.length);
    }

    /** Returns the bytes in front of the name in the key of a version; all bytes of another key. */
    public static int bytesBeforeName(byte[] version) {
        Kind kind = kindOf(version);
        return kind == null ? version.length : 1 + kind.numberBytes + Keys.LONG_BYTES;
    }
}
