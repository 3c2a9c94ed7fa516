package org.opendedup.sar.metadata.db;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStore.Stored;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.ValueReader;

/** The contract over sealed records, and what is refused of them. */
final class SealedKeyValueStoreTest extends KeyValueStoreContract {
    private static final String NAME = "a name that nobody may read";
    private static final String VALUE = "a value that nobody may read";

    private static final String GOLDEN_NAME = "de1bc2669123a508a4c6aff2351388655ee5a7e2";
    private static final String GOLDEN_ENTRY = "5672ea492963b8244b8b4417bd14fb4c41c31e994a78";
    private static final String GOLDEN_ATTRIBUTE = "c153b80ad15e9726dee5467bce7b02617162c16d";
    private static final String GOLDEN_VALUE = "28ff0672feb459250a6bc7528b7d1dcca525d6511d";
    private static final String GOLDEN_INODE = "d8b90a592ba371c1bcae4bf8cb45c39c871de0f4fd";

    private final HeapKeyValueStore files = new HeapKeyValueStore();
    private final Random random = new Random(TestSeed.next());

    @TempDir
    Path temporary;

    @Override
    KeyValueStore make() {
        return KeyValueStores.sealed(files, TestKeys.of(1));
    }

    @Test
    void theBytesAreThoseOfTheFormat() throws IOException {
        byte[] entry = Keys.of(2, 300, bytes("name"));
        put(store, Family.ENTRY, entry, bytes("target"));
        put(store, Family.XATTR, Keys.of(2, bytes("name")), bytes("value"));
        put(store, Family.INODE, Keys.of(2), bytes("inode"));
        assertEquals(
                "0000000000000002000000000000012c" + GOLDEN_NAME + " " + GOLDEN_ENTRY,
                hex(store.stored(Family.ENTRY, entry)));
        assertEquals(
                "0000000000000002" + GOLDEN_ATTRIBUTE + " " + GOLDEN_VALUE,
                hex(store.stored(Family.XATTR, Keys.of(2, bytes("name")))));
        assertEquals("0000000000000002 " + GOLDEN_INODE, hex(store.stored(Family.INODE, Keys.of(2))));
    }

    private static String hex(Stored record) {
        HexFormat hex = HexFormat.of();
        return hex.formatHex(record.key()) + " " + hex.formatHex(record.value());
    }

    /** Of many names behind equal numbers, in ranges that begin and end anywhere. */
    @Test
    void keysWithNamesComeInTheOrderOfTheNames() throws IOException {
        HeapKeyValueStore model = new HeapKeyValueStore();
        for (Family family : List.of(Family.ENTRY, Family.XATTR)) {
            for (int i = 0; i < 300; i++) {
                byte[] key = key(family);
                byte[] value = bytes("v" + i);
                for (KeyValueStore each : List.of(store, model)) {
                    try (Batch batch = each.batch()) {
                        if (i % 5 == 4) {
                            batch.delete(family, key);
                        } else {
                            batch.put(family, key, value);
                        }
                        batch.commit();
                    }
                }
            }
            for (int i = 0; i < 300; i++) {
                byte[] one = random.nextInt(4) == 0 ? Keys.FIRST : key(family);
                byte[] other = random.nextInt(4) == 0 ? Keys.END : key(family);
                byte[] from = Arrays.compareUnsigned(one, other) < 0 ? one : other;
                byte[] to = from == one ? other : one;
                assertEquals(records(model, family, from, to), records(store, family, from, to));
                byte[] key = key(family);
                assertArrayEquals(model.get(family, key), store.get(family, key));
            }
        }
    }

    /** A key with a name, or a part of one. */
    private byte[] key(Family family) {
        byte[] name = bytes("abcdefghijklmnop".substring(0, random.nextInt(16)));
        byte[] key = family == Family.ENTRY
                ? Keys.of(random.nextInt(3), random.nextInt(3), name)
                : Keys.of(random.nextInt(3), name);
        return random.nextInt(10) == 0 ? Arrays.copyOf(key, 1 + random.nextInt(key.length)) : key;
    }

    private static List<String> records(KeyValueStore store, Family family, byte[] from, byte[] to) throws IOException {
        List<String> records = new ArrayList<>();
        try (Cursor cursor = store.scan(family, from, to)) {
            while (cursor.next()) {
                records.add(HexFormat.of().formatHex(cursor.key()) + " " + new String(cursor.value(), US_ASCII));
            }
        }
        return records;
    }

    /** An inode's attributes may take hundreds of megabytes, of which a cursor holds one. */
    @Test
    void valuesThatAreNotHeldAreReadLater() throws IOException {
        for (int i = 0; i < 40; i++) {
            put(store, Family.XATTR, Keys.of(1, bytes("name " + i)), new byte[64 << 10]);
        }
        Set<String> names = new HashSet<>();
        try (Cursor cursor = store.scan(Family.XATTR, Keys.FIRST, Keys.END)) {
            assertTrue(cursor.next());
            names.add(new String(cursor.key(), US_ASCII));
            delete(store, Family.XATTR, Keys.of(1, bytes("name 9")));
            while (cursor.next()) {
                assertEquals(64 << 10, cursor.value().length);
                assertTrue(names.add(new String(cursor.key(), US_ASCII)));
            }
        }
        assertEquals(39, names.size(), "the last of them was removed meanwhile");
    }

    @Test
    void aRecordThatWasChangedOrMovedIsRefused() throws IOException {
        for (Family family : Family.values()) {
            byte[] key = Keys.of(1, 2, bytes("name"));
            byte[] other = Keys.of(1, 3, bytes("name"));
            put(store, family, key, bytes(VALUE));
            put(store, family, other, bytes("another"));
            Stored record = store.stored(family, key);
            byte[] sealed = record.value();
            for (int bit = 0; bit < Byte.SIZE * sealed.length; bit++) {
                byte[] changed = sealed.clone();
                changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                assertRefused(family, key, changed);
            }
            for (int length = 0; length < sealed.length; length++) {
                assertRefused(family, key, Arrays.copyOf(sealed, length));
            }
            assertRefused(family, key, store.stored(family, other).value());
            Family next = Family.values()[(family.ordinal() + 1) % Family.values().length];
            put(store, next, key, bytes(VALUE));
            assertRefused(family, key, store.stored(next, key).value());
            KeyValueStore others = KeyValueStores.sealed(new HeapKeyValueStore(), TestKeys.of(2));
            put(others, family, key, bytes(VALUE));
            assertRefused(family, key, others.stored(family, key).value());
            put(files, family, record.key(), sealed);
            assertArrayEquals(bytes(VALUE), store.get(family, key), "the control");
        }
    }

    private void assertRefused(Family family, byte[] key, byte[] sealed) throws IOException {
        byte[] sealedKey = store.stored(family, key).key();
        put(files, family, sealedKey, sealed);
        assertChanged(store.get(family, key));
        assertNull(store.opened(family, new Stored(sealedKey, sealed)));
        try (Cursor cursor = store.scan(family, key, Keys.END)) {
            assertTrue(cursor.next());
            assertArrayEquals(key, cursor.key());
            assertChanged(cursor.value());
            assertTrue(cursor.next(), "the next record");
            assertArrayEquals(bytes("another"), cursor.value());
        }
    }

    /** Says which record it is, and that it is not damage. */
    private static void assertChanged(byte[] value) {
        assertSame(ValueReader.CHANGED, value);
        CorruptionException inode = assertThrows(CorruptionException.class, () -> Inode.decode(7, value));
        CorruptionException page =
                assertThrows(CorruptionException.class, () -> RecipeFormat.decode(Keys.of(7, 0), value, 1 << 18));
        for (CorruptionException e : List.of(inode, page)) {
            assertTrue(e.getMessage().contains("inode 7: "), e.getMessage());
            assertTrue(e.getMessage().contains("changed or exchanged"), e.getMessage());
        }
    }

    @Test
    void aNameThatWasChangedOrMovedIsRefused() throws IOException {
        for (Family family : List.of(Family.ENTRY, Family.XATTR)) {
            byte[] key = family == Family.ENTRY ? Keys.of(1, 2, bytes(NAME)) : Keys.of(1, bytes(NAME));
            put(store, family, key, bytes(VALUE));
            Stored record = store.stored(family, key);
            delete(files, family, record.key());
            for (int at = 0; at < record.key().length; at++) {
                byte[] changed = record.key().clone();
                changed[at] ^= (byte) (1 + random.nextInt(127));
                put(files, family, changed, record.value());
                assertNull(store.get(family, key));
                assertNull(store.opened(family, new Stored(changed, record.value())));
                try (Cursor cursor = store.scan(family, Keys.FIRST, Keys.END)) {
                    assertTrue(cursor.next());
                    assertArrayEquals(changed, cursor.key());
                    assertChanged(cursor.value());
                    assertFalse(cursor.next());
                }
                delete(files, family, changed);
            }
        }
    }

    @Test
    void noNameAndNoValueIsInAnyFileOfTheDatabase() throws IOException {
        assertEquals(Set.of(), found(TestKeys.of(1)));
        assertEquals(Set.of(NAME, VALUE), found(null), "the control");
    }

    /** Nor that two names in different folders are equal. */
    @Test
    void equalNamesHaveNothingInCommonInTheFiles() throws IOException {
        assertEquals(2, namesInFiles(TestKeys.of(1)));
        assertEquals(1, namesInFiles(null), "the control");
    }

    /** Returns how many hashes one name has in two folders. */
    private static long namesInFiles(@Nullable VolumeKeys keys) throws IOException {
        HeapKeyValueStore files = new HeapKeyValueStore();
        MetadataHeader header = new MetadataHeader(new UUID(1, 2), 1 << 18, 0, MetadataHeader.FORMAT_VERSION);
        try (MetadataStore store = MetadataStore.format(KeyValueStores.sealed(files, keys), header)) {
            store.namespace().putEntry(2, bytes(NAME), 4, 0100000);
            store.namespace().putEntry(3, bytes(NAME), 5, 0100000);
            store.commit(store.freeze());
            assertNotNull(store.namespace().entry(2, bytes(NAME)));
        }
        Set<Long> hashes = new HashSet<>();
        try (Cursor cursor = files.scan(Family.ENTRY, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                hashes.add(Keys.longAt(cursor.key(), Keys.LONG_BYTES));
            }
        }
        return hashes.size();
    }

    /** Returns what is found in the files of a database: in its log, and in its tables after it was opened again. */
    private Set<String> found(@Nullable VolumeKeys keys) throws IOException {
        Path folder = temporary.resolve(keys == null ? "plain" : "sealed");
        Set<String> found = new HashSet<>();
        for (boolean isNew : new boolean[] {true, false}) {
            try (KeyValueStore database =
                    KeyValueStores.sealed(KeyValueStores.openRocksDb(folder, 8 << 20, isNew), keys)) {
                for (Family family : Family.values()) {
                    boolean hasName = family == Family.ENTRY || family == Family.XATTR;
                    put(database, family, hasName ? Keys.of(1, 2, bytes(NAME)) : Keys.of(1), bytes(VALUE));
                }
                found.addAll(foundIn(folder));
            }
            found.addAll(foundIn(folder));
        }
        return found;
    }

    private static Set<String> foundIn(Path folder) throws IOException {
        Set<String> found = new HashSet<>();
        try (Stream<Path> all = Files.list(folder)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String bytes = new String(Files.readAllBytes(file), ISO_8859_1);
                Stream.of(NAME, VALUE).filter(bytes::contains).forEach(found::add);
            }
        }
        return found;
    }

    private static void put(KeyValueStore store, Family family, byte[] key, byte[] value) throws IOException {
        try (Batch batch = store.batch()) {
            batch.put(family, key, value);
            batch.commit();
        }
    }

    private static void delete(KeyValueStore store, Family family, byte[] key) throws IOException {
        try (Batch batch = store.batch()) {
            batch.delete(family, key);
            batch.commit();
        }
    }
}
