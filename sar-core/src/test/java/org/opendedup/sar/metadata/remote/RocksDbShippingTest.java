package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;

/** Metadata in RocksDB that follow into a folder of objects, also those of an encrypted volume. */
final class RocksDbShippingTest {
    private static final UUID VOLUME = new UUID(11, 12);
    private static final long MEMORY_BYTES = 8 << 20;
    private static final String SECRET = "name-that-nobody-may-read";

    @MemoryFolder
    private Path root;

    private RemoteMetadata remote(VolumeKeys keys) throws IOException {
        Files.createDirectories(root.resolve("objects"));
        KeyedHash authenticates = keys == null ? null : keys.keyedHash(Purpose.LISTS);
        return new RemoteMetadata(
                FolderObjectStore.open(root.resolve("objects")),
                VOLUME,
                authenticates,
                MEMORY_BYTES,
                InstantSource.system());
    }

    private static RemoteMetadata.Shipping how(Promise promise) {
        return new RemoteMetadata.Shipping(promise, DataBarrier.NONE, ShippingLimits.DEFAULT);
    }

    private static byte[] key(int number) {
        return Keys.join(Keys.of(number % 5), (SECRET + number).getBytes(US_ASCII));
    }

    private static void change(KeyValueStore store, SplittableRandom random, Map<String, String> model)
            throws IOException {
        try (Batch batch = store.batch()) {
            for (int i = random.nextInt(1, 30); i > 0; i--) {
                int number = random.nextInt(2000);
                String value = SECRET + random.nextInt();
                if (random.nextInt(4) == 0) {
                    batch.delete(Family.ENTRY, key(number));
                    model.remove("ENTRY " + new String(key(number), US_ASCII));
                } else {
                    batch.put(Family.ENTRY, key(number), value.getBytes(US_ASCII));
                    model.put("ENTRY " + new String(key(number), US_ASCII), value);
                }
            }
            if (random.nextBoolean()) {
                batch.commit();
            } else {
                batch.commitLater();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDatabaseIsFoundElsewhereAndAfterACrash(boolean isEncrypted) throws IOException {
        long seed = TestSeed.next();
        SplittableRandom random = new SplittableRandom(seed);
        VolumeKeys keys = isEncrypted ? TestKeys.of(1) : null;
        Map<String, String> model = new TreeMap<>();
        Path here = root.resolve("here");
        ShippedKeyValueStore shipped = remote(keys).create(here, how(Promise.LOCAL));
        KeyValueStore store = KeyValueStores.sealed(shipped, keys);
        for (int i = 0; i < 60; i++) {
            change(store, random, model);
            if (i % 7 == 0) {
                shipped.ship();
            }
            if (i % 25 == 24) {
                shipped.checkpointToStore();
            }
        }
        // What a crash leaves, with changes that are not in the store.
        shipped.ship();
        Map<String, String> inStore = new TreeMap<>(model);
        change(store, random, model);
        Path crashed = root.resolve("crashed");
        TestFolders.copy(here, crashed);

        Path reader = root.resolve("reader");
        remote(keys).copyTo(reader);
        assertEquals(inStore, records(reader, keys));

        ShippedKeyValueStore again = remote(keys).open(crashed, how(Promise.REMOTE));
        assertEquals(model, FolderKeyValueStore.records(KeyValueStores.sealed(again, keys)));
        try (Batch batch = again.batch()) {
            batch.commit();
        }
        again.close();
        // The reader's copy is brought up to date.
        remote(keys).copyTo(reader);
        assertEquals(model, records(reader, keys));
        assertEquals(isEncrypted, !hasClearBytes());
        assertEquals(VOLUME, RemoteMetadata.volumeIn(FolderObjectStore.open(root.resolve("objects"))));
        // The folder of which the crash is a copy has another owner.
        assertThrows(OwnerChangedException.class, shipped::close);
    }

    private static Map<String, String> records(Path folder, VolumeKeys keys) throws IOException {
        try (KeyValueStore store = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, false, keys)) {
            return FolderKeyValueStore.records(store);
        }
    }

    private boolean hasClearBytes() throws IOException {
        try (ObjectStore objects = FolderObjectStore.open(root.resolve("objects"))) {
            ObjectPage page = objects.list("", "", ObjectStore.MOST_NAMES);
            assertTrue(page.isLast());
            assertFalse(page.names().isEmpty());
            for (String name : page.names()) {
                String bytes = new String(objects.readWhole(name, 100 << 20), ISO_8859_1);
                if (bytes.contains(SECRET)) {
                    return true;
                }
            }
            return false;
        }
    }

    @Test
    void aVolumeWithoutACheckpointIsReadFromItsBeginning() throws IOException {
        Map<String, String> model = new TreeMap<>();
        ShippedKeyValueStore shipped = remote(null).create(root.resolve("here"), how(Promise.REMOTE));
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 5; i++) {
            change(shipped, random, model);
        }
        shipped.close();
        assertEquals(0, shipped.statistics().checkpoints());
        remote(null).copyTo(root.resolve("there"));
        assertEquals(model, records(root.resolve("there"), null));
    }
}
