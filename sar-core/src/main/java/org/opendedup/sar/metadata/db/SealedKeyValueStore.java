package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.DeterministicSealer;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.VersionKeys;

/**
 * The database of an encrypted volume: seals records before they go to another store, and opens what comes from there
 * (docs/FORMAT.md, "Sealed records"). Values are sealed together with the family and the key under which they are
 * stored, so one that was moved is refused. Names in keys are sealed, too; the numbers before them are not. Numbers of
 * a key keep their order; the names behind equal numbers get another one, so a cursor reads these together and sorts
 * them.
 *
 * <p>AES-SIV, because records are overwritten: a nonce would have to be stored, and never be repeated, over crashes and
 * copies of the disk (docs/adr/0102).
 */
final class SealedKeyValueStore implements KeyValueStore {
    /** Most bytes of values that a cursor holds at once; those of further attributes are read when asked for. */
    private static final int HELD_BYTES = 1 << 20;

    private static final byte[][] FAMILIES = Arrays.stream(Family.values())
            .map(family -> (family.name().toLowerCase(Locale.ROOT) + '\0').getBytes(StandardCharsets.US_ASCII))
            .toArray(byte[][]::new);

    private final KeyValueStore store;
    private final DeterministicSealer values;
    private final DeterministicSealer names;

    SealedKeyValueStore(KeyValueStore store, VolumeKeys keys) {
        this.store = store;
        values = keys.deterministicSealer(Purpose.RECORDS);
        names = keys.deterministicSealer(Purpose.NAMES);
    }

    /** Returns the bytes of a key that are in front of a name; of a key without one all. */
    private static int numberBytes(Family family, byte[] key) {
        int bytes = switch (family) {
            case ENTRY -> Entry.NAME_OFFSET;
            case XATTR -> Keys.LONG_BYTES;
            case VERSION -> VersionKeys.bytesBeforeName(key);
            default -> key.length;
        };
        return Math.min(bytes, key.length);
    }

    private static boolean hasNames(Family family) {
        return family == Family.ENTRY || family == Family.XATTR || family == Family.VERSION;
    }

    /** Returns what bytes are sealed together with: the family and a key, or the numbers of one. */
    private static byte[] place(Family family, byte[] key) {
        return Keys.join(FAMILIES[family.ordinal()], key);
    }

    private byte[] sealedKey(Family family, byte[] key) {
        int count = numberBytes(family, key);
        if (count == key.length) {
            return key;
        }
        byte[] numbers = Arrays.copyOf(key, count);
        return Keys.join(numbers, names.seal(place(family, numbers), Arrays.copyOfRange(key, count, key.length)));
    }

    /** Returns a key; null if its name was changed, or is another place's. */
    private byte @Nullable [] openedKey(Family family, byte[] sealed) {
        int count = numberBytes(family, sealed);
        if (count == sealed.length) {
            return sealed;
        }
        byte[] numbers = Arrays.copyOf(sealed, count);
        byte[] name = names.open(place(family, numbers), sealed, count);
        return name == null ? null : Keys.join(numbers, name);
    }

    private byte[] sealedValue(Family family, byte[] sealedKey, byte[] value) {
        return values.seal(place(family, sealedKey), value);
    }

    /** Returns a value, or what stands for one that was changed. */
    private byte[] openedValue(Family family, byte[] sealedKey, byte[] sealed) {
        byte[] value = values.open(place(family, sealedKey), sealed, 0);
        return value == null ? ValueReader.CHANGED : value;
    }

    @Override
    public byte @Nullable [] get(Family family, byte[] key) throws IOException {
        byte[] sealedKey = sealedKey(family, key);
        byte[] sealed = store.get(family, sealedKey);
        return sealed == null ? null : openedValue(family, sealedKey, sealed);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        if (!hasNames(family)) {
            return new NumberCursor(family, store.scan(family, from, to));
        }
        byte[] first = Arrays.copyOf(from, numberBytes(family, from));
        byte[] end =
                numberBytes(family, to) == to.length ? to : behindAllWith(Arrays.copyOf(to, numberBytes(family, to)));
        return new NameCursor(family, store.scan(family, first, end), from, to);
    }

    /** Returns the lowest key above all that begin with some numbers. */
    private static byte[] behindAllWith(byte[] numbers) {
        for (int at = numbers.length - 1; at >= 0; at--) {
            if (++numbers[at] != 0) {
                return numbers;
            }
        }
        return Keys.END;
    }

    @Override
    public Batch batch() throws IOException {
        Batch batch = store.batch();
        return new Batch() {
            @Override
            public void put(Family family, byte[] key, byte[] value) throws IOException {
                byte[] sealedKey = sealedKey(family, key);
                batch.put(family, sealedKey, sealedValue(family, sealedKey, value));
            }

            @Override
            public void delete(Family family, byte[] key) throws IOException {
                batch.delete(family, sealedKey(family, key));
            }

            @Override
            public void commit() throws IOException {
                batch.commit();
            }

            @Override
            public void commitLater() throws IOException {
                batch.commitLater();
            }

            @Override
            public void close() {
                batch.close();
            }
        };
    }

    @Override
    public boolean isSealed() {
        return true;
    }

    @Override
    public Stored stored(Family family, byte[] key) throws IOException {
        return store.stored(family, sealedKey(family, key));
    }

    @Override
    public @Nullable Stored opened(Family family, Stored record) throws IOException {
        byte[] key = openedKey(family, record.key());
        byte[] sealed = record.value();
        if (key == null || sealed == null) {
            return null;
        }
        byte[] value = values.open(place(family, record.key()), sealed, 0);
        return value == null ? null : new Stored(key, value);
    }

    @Override
    public long logBytes() throws IOException {
        return store.logBytes();
    }

    @Override
    public long changes() throws IOException {
        return store.changes();
    }

    @Override
    public List<String> mendCopy(Reading reading) throws IOException {
        return store.mendCopy(reading);
    }

    @Override
    public boolean isShipped() {
        return store.isShipped();
    }

    @Override
    public void ship() throws IOException {
        store.ship();
    }

    @Override
    public boolean checkpoint(Path target) throws IOException {
        return store.checkpoint(target);
    }

    @Override
    public void close() throws IOException {
        store.close();
    }

    /** A cursor over keys that are stored as they are. */
    private final class NumberCursor implements Cursor {
        private final Family family;
        private final Cursor cursor;

        NumberCursor(Family family, Cursor cursor) {
            this.family = family;
            this.cursor = cursor;
        }

        @Override
        public boolean next() throws IOException {
            return cursor.next();
        }

        @Override
        public byte[] key() {
            return cursor.key();
        }

        @Override
        public byte[] value() {
            return openedValue(family, cursor.key(), cursor.value());
        }

        @Override
        public void close() {
            cursor.close();
        }
    }

    /**
     * A record of a cursor over names.
     *
     * @param key as it is, or as it is stored if it cannot be opened; then its value cannot be opened either
     * @param sealedValue null: too many bytes to hold
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Named(byte[] key, byte[] sealedKey, byte @Nullable [] sealedValue) {}

    /** A cursor over keys with names. Reads those with the same numbers together: the attributes of an inode. */
    private final class NameCursor implements Cursor {
        private final Family family;
        private final Cursor cursor;
        private final byte[] from;
        private final byte[] to;
        /** What comes next, in reverse order. */
        private final List<Named> next = new ArrayList<>();

        private boolean hasBegun;
        /** Whether the other cursor is at a record, the first of the next ones. */
        private boolean isAhead;

        private @Nullable Named present;
        private byte @Nullable [] presentSealed;

        NameCursor(Family family, Cursor cursor, byte[] from, byte[] to) {
            this.family = family;
            this.cursor = cursor;
            this.from = from;
            this.to = to;
        }

        @Override
        public boolean next() throws IOException {
            present = null;
            presentSealed = null;
            do {
                while (next.isEmpty()) {
                    if (!load()) {
                        return false;
                    }
                }
                Named record = next.remove(next.size() - 1);
                presentSealed = record.sealedValue == null ? store.get(family, record.sealedKey) : record.sealedValue;
                present = record;
                // One that is not held may be removed meanwhile.
            } while (presentSealed == null);
            return true;
        }

        /** Reads records with the same numbers; returns false at the end. */
        private boolean load() throws IOException {
            if (!hasBegun) {
                hasBegun = true;
                isAhead = cursor.next();
            }
            if (!isAhead) {
                return false;
            }
            byte[] numbers = Arrays.copyOf(cursor.key(), numberBytes(family, cursor.key()));
            long held = 0;
            do {
                byte[] sealedKey = cursor.key();
                byte[] opened = openedKey(family, sealedKey);
                byte[] key = opened == null ? sealedKey : opened;
                if (Arrays.compareUnsigned(from, key) <= 0 && Arrays.compareUnsigned(key, to) < 0) {
                    byte[] value = cursor.value();
                    held += value.length;
                    next.add(new Named(key, sealedKey, held > HELD_BYTES && next.size() > 0 ? null : value));
                }
                isAhead = cursor.next();
            } while (isAhead && Arrays.equals(numbers, Arrays.copyOf(cursor.key(), numberBytes(family, cursor.key()))));
            next.sort((one, other) -> Arrays.compareUnsigned(other.key, one.key));
            return true;
        }

        @Override
        public byte[] key() {
            return at().key;
        }

        @Override
        public byte[] value() {
            return openedValue(family, at().sealedKey, Objects.requireNonNull(presentSealed));
        }

        private Named at() {
            if (present == null) {
                throw new NoSuchElementException("the cursor is not at an entry");
            }
            return present;
        }

        @Override
        public void close() {
            cursor.close();
        }
    }
}
