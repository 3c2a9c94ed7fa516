package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.NameHash;

final class NamespaceTest extends MetadataTest {
    private static final int FILE = 0100000;

    private final Namespace namespace = store.namespace();

    NamespaceTest() throws IOException {}

    /** Names that would lead out of a directory, or nowhere. */
    private static List<byte[]> badNames() {
        return List.of(
                bytes(""),
                bytes("."),
                bytes(".."),
                bytes("../victim"),
                bytes("a/b"),
                bytes("/etc"),
                bytes("a\0b"),
                new byte[EntryNames.MAX_BYTES + 1]);
    }

    @Test
    void aNameThatWouldLeadElsewhereIsNotStored() {
        for (byte[] name : badNames()) {
            assertThrows(IllegalArgumentException.class, () -> namespace.putEntry(1, name, 7, FILE));
        }
    }

    @Test
    void aNameThatWouldLeadElsewhereIsDamageWhereItIsFoundStored() throws IOException {
        try (MetadataStore edited = MetadataStore.open(database, 1 << 16, (directory, name) -> 17)) {
            for (byte[] name : badNames()) {
                inject(Keys.of(2, 17, name));
                var e = assertThrows(CorruptionException.class, () -> list(edited, 2));
                assertTrue(e.getMessage().contains("entry of directory 2"), e.getMessage());
                MetadataDefects.remove(database, KeyValueStore.Family.ENTRY, Keys.of(2, 17, name));
            }
            // The control.
            inject(Keys.of(2, 17, bytes("a..b")));
            assertEquals(List.of("a..b"), list(edited, 2));
            // No lookup could find it.
            inject(Keys.of(2, 18, bytes("elsewhere")));
            assertThrows(CorruptionException.class, () -> list(edited, 2));
        }
    }

    /** Writes the entry of a file, bypassing the namespace. */
    private void inject(byte[] key) throws IOException {
        MetadataDefects.put(database, KeyValueStore.Family.ENTRY, key, new byte[] {1, FILE >>> 12, 7});
    }

    private static List<String> list(MetadataStore store, long directory) throws IOException {
        List<String> names = new ArrayList<>();
        store.namespace().list(directory, 0, (name, inode, type, cookie) -> names.add(new String(name, UTF_8)));
        return names;
    }

    @Test
    void aDirectoryIsEmptyWhenItsLastNameIsGoneThoughOthersAreNot() throws IOException {
        namespace.putEntry(1, bytes("a"), 7, FILE);
        namespace.putEntry(2, bytes("b"), 8, FILE);
        commit();
        assertFalse(namespace.isEmpty(1));
        namespace.removeEntry(1, bytes("a"));
        assertTrue(namespace.isEmpty(1));
        assertFalse(namespace.isEmpty(2));
    }

    @Test
    void cookiesAreNeverOnesThatMeanDots() throws IOException {
        for (int i = 0; i < 1000; i++) {
            namespace.putEntry(1, bytes("n" + i), 2 + i, FILE);
        }
        namespace.list(1, 0, (name, inode, type, cookie) -> {
            assertTrue(cookie >= NameHash.FIRST, () -> "cookie " + cookie);
            return true;
        });
    }

    @Test
    void aListingInSmallPartsShowsEveryEntryOnce() throws IOException {
        Set<String> names = fill(store, 500);
        assertEquals(names, new TreeSet<>(listInParts(namespace, new Random(1), 7)));
        assertEquals(names.size(), listInParts(namespace, new Random(2), 7).size());
    }

    @Test
    void aListingGoesOnBehindAnEntryThatWasRemovedMeanwhile() throws IOException {
        Set<String> names = fill(store, 50);
        List<String> seen = new ArrayList<>();
        long[] cookie = {0};
        boolean[] stopped = {true};
        while (stopped[0]) {
            stopped[0] = false;
            namespace.list(1, cookie[0], (name, inode, type, next) -> {
                if (stopped[0]) {
                    return false;
                }
                seen.add(new String(name, UTF_8));
                cookie[0] = next;
                stopped[0] = true;
                return true;
            });
            if (stopped[0]) {
                namespace.removeEntry(1, bytes(seen.get(seen.size() - 1)));
            }
        }
        assertEquals(names, new TreeSet<>(seen));
        assertEquals(names.size(), seen.size());
        assertTrue(namespace.isEmpty(1));
    }

    @Test
    void namesOfEqualHashAreNeverLostFromAListing() throws IOException {
        Random random = new Random(TestSeed.next());
        try (MetadataStore colliding = MetadataStore.open(
                database, 1 << 16, (directory, name) -> NameHash.FIRST + name[name.length - 1] % 4)) {
            Set<String> names = fill(colliding, 40);
            for (int i = 0; i < 50; i++) {
                // Groups have about ten names; a part holds a whole group, so that the listing advances.
                List<String> listed = listInParts(colliding.namespace(), random, 25);
                assertEquals(names, new TreeSet<>(listed));
            }
            colliding.namespace().removeEntry(1, bytes("name-3"));
            assertNull(colliding.namespace().entry(1, bytes("name-3")));
            assertTrue(colliding.namespace().entry(1, bytes("name-7")) != null);
        }
    }

    /**
     * Makes names in the database, the frozen generation and the pending one, and removes one of each of the older two.
     */
    private static Set<String> fill(MetadataStore store, int count) throws IOException {
        Namespace namespace = store.namespace();
        Set<String> names = new TreeSet<>();
        for (int i = 0; i < count; i++) {
            if (i == count / 3) {
                store.commit(store.freeze());
            } else if (i == 2 * count / 3) {
                store.freeze();
            }
            names.add("name-" + i);
            namespace.putEntry(1, bytes("name-" + i), 2 + i, FILE);
        }
        namespace.putEntry(2, bytes("elsewhere"), 1, FILE);
        for (String removed : List.of("name-0", "name-" + count / 2)) {
            names.remove(removed);
            namespace.removeEntry(1, bytes(removed));
        }
        return names;
    }

    /** Lists with a consumer that refuses at random, after at least {@code least} entries per part. */
    private static List<String> listInParts(Namespace namespace, Random random, int least) throws IOException {
        List<String> listed = new ArrayList<>();
        long[] cookie = {0};
        boolean[] refused = {true};
        while (refused[0]) {
            refused[0] = false;
            int[] room = {least + random.nextInt(10)};
            Set<String> part = new HashSet<>();
            namespace.list(1, cookie[0], (name, inode, type, next) -> {
                if (room[0]-- == 0) {
                    refused[0] = true;
                    return false;
                }
                assertTrue(part.add(new String(name, UTF_8)), "listed twice in one part");
                listed.add(new String(name, UTF_8));
                cookie[0] = next;
                return true;
            });
        }
        return listed;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }
}
