package org.opendedup.sar.metadata.db;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/** The contract of every {@link KeyValueStore}. */
public abstract class KeyValueStoreContract {
    public KeyValueStore store;

    abstract KeyValueStore make() throws IOException;

    @BeforeEach
    void open() throws IOException {
        store = make();
    }

    @AfterEach
    void close() throws IOException {
        store.close();
        store.close();
    }

    @Test
    void familiesDoNotShareKeys() throws IOException {
        for (Family family : Family.values()) {
            assertNull(store.get(family, bytes("a")), family.name());
            put(store, family, "a", family.name());
        }
        for (Family family : Family.values()) {
            assertArrayEquals(bytes(family.name()), store.get(family, bytes("a")));
        }
    }

    @Test
    void aBatchIsNotSeenBeforeItsCommit() throws IOException {
        try (Batch batch = store.batch()) {
            batch.put(Family.INODE, bytes("a"), bytes("1"));
            assertNull(store.get(Family.INODE, bytes("a")));
            batch.commit();
        }
        assertArrayEquals(bytes("1"), store.get(Family.INODE, bytes("a")));
    }

    @Test
    void theLastChangeOfAKeyInABatchCounts() throws IOException {
        try (Batch batch = store.batch()) {
            batch.put(Family.INODE, bytes("a"), bytes("1"));
            batch.delete(Family.INODE, bytes("a"));
            batch.delete(Family.INODE, bytes("b"));
            batch.put(Family.INODE, bytes("b"), bytes("2"));
            batch.commit();
        }
        assertNull(store.get(Family.INODE, bytes("a")));
        assertArrayEquals(bytes("2"), store.get(Family.INODE, bytes("b")));
    }

    @Test
    void aScanGoesInUnsignedOrderFromInclusiveToExclusive() throws IOException {
        for (int first : new int[] {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            try (Batch batch = store.batch()) {
                batch.put(Family.COUNT, new byte[] {(byte) first}, bytes("x"));
                batch.commit();
            }
        }
        assertEquals(List.of("01", "7f", "80"), keys(new byte[] {1}, new byte[] {(byte) 0xff}));
        assertEquals(List.of("00", "01", "7f", "80"), keys(new byte[0], new byte[] {(byte) 0xff}));
        assertEquals(List.of(), keys(new byte[] {2}, new byte[] {3}));
    }

    @Test
    void aCursorShowsTheStoreAsItWas() throws IOException {
        put(store, Family.INODE, "a", "1");
        try (Cursor cursor = store.scan(Family.INODE, bytes("a"), bytes("z"))) {
            put(store, Family.INODE, "b", "2");
            assertTrue(cursor.next());
            assertArrayEquals(bytes("a"), cursor.key());
            assertArrayEquals(bytes("1"), cursor.value());
            assertFalse(cursor.next());
            assertFalse(cursor.next());
            assertThrows(NoSuchElementException.class, cursor::key);
        }
    }

    @Test
    void aCursorBeforeItsFirstEntryHasNoKey() throws IOException {
        put(store, Family.INODE, "a", "1");
        try (Cursor cursor = store.scan(Family.INODE, bytes("a"), bytes("z"))) {
            assertThrows(NoSuchElementException.class, cursor::key);
            assertThrows(NoSuchElementException.class, cursor::value);
        }
    }

    @Test
    void randomBatchesDoWhatASortedMapDoes() throws IOException {
        Random random = new Random(TestSeed.next());
        NavigableMap<String, String> model = new TreeMap<>();
        for (int round = 0; round < 50; round++) {
            try (Batch batch = store.batch()) {
                for (int change = random.nextInt(20); change > 0; change--) {
                    String key = "k" + random.nextInt(100);
                    if (random.nextInt(3) == 0) {
                        batch.delete(Family.RECIPE, bytes(key));
                        model.remove(key);
                    } else {
                        batch.put(Family.RECIPE, bytes(key), bytes("v" + round));
                        model.put(key, "v" + round);
                    }
                }
                batch.commit();
            }
            String from = "k" + random.nextInt(100);
            List<String> expected = new ArrayList<>(model.tailMap(from).keySet());
            List<String> found = new ArrayList<>();
            try (Cursor cursor = store.scan(Family.RECIPE, bytes(from), bytes("l"))) {
                while (cursor.next()) {
                    found.add(new String(cursor.key(), US_ASCII));
                    assertArrayEquals(bytes(model.get(found.get(found.size() - 1))), cursor.value());
                }
            }
            assertEquals(expected, found);
        }
    }

    private List<String> keys(byte[] from, byte[] to) throws IOException {
        List<String> keys = new ArrayList<>();
        try (Cursor cursor = store.scan(Family.COUNT, from, to)) {
            while (cursor.next()) {
                keys.add(HexFormat.of().formatHex(cursor.key()));
            }
        }
        return keys;
    }

    static void put(KeyValueStore store, Family family, String key, String value) throws IOException {
        try (Batch batch = store.batch()) {
            batch.put(family, bytes(key), bytes(value));
            batch.commit();
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(US_ASCII);
    }
}
