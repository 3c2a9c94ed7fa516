package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** A repair of metadata keeps what a damaged recipe refers to, and knows all damage afterwards. */
class RepairOfDamageTest {
    private static final long DATABASE_BYTES = 32 << 20;
    private static final byte[] END = {(byte) 0xff};

    @MemoryFolder
    Path folder;

    private final byte[] contents = new byte[700 << 10];
    private VolumeConfig config;
    private long file;

    @BeforeEach
    void make() throws IOException {
        new Random(5).nextBytes(contents);
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "file", contents);
            file = volume.lookup(Inode.ROOT, "file".getBytes(UTF_8)).inode();
        }
    }

    private void repair() throws IOException {
        new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system()).repair();
    }

    private KeyValueStore database() throws IOException {
        return KeyValueStores.sealed(
                KeyValueStores.openRocksDb(config.locations().metadata(), DATABASE_BYTES, false), config.keys());
    }

    private static void put(KeyValueStore database, Family family, byte[] key, byte[] value) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(family, key, value);
            batch.commit();
        }
    }

    /** Returns the references of all slots, by container and slot. */
    private TreeMap<String, Integer> counts() throws IOException {
        TreeMap<String, Integer> all = new TreeMap<>();
        try (Volume volume = Volume.open(config)) {
            PresentRecords.forEachCounted(volume.context().metadata(), (container, counts) -> {
                for (int slot = 0; slot < counts.slots(); slot++) {
                    all.put(container + ":" + slot, counts.count(slot));
                }
            });
        }
        return all;
    }

    /** A backup may bring the page back, so nothing that it refers to may become garbage. */
    @Test
    void noCountFallsWhileAPageOfARecipeIsDamaged() throws IOException {
        TreeMap<String, Integer> before = counts();
        byte[] page = ByteBuffer.allocate(16).putLong(file).putLong(1).array();
        byte[] whole;
        try (KeyValueStore database = database()) {
            whole = Objects.requireNonNull(database.get(Family.RECIPE, page));
            byte[] damaged = whole.clone();
            damaged[damaged.length / 2]++;
            put(database, Family.RECIPE, page, damaged);
        }
        repair();
        assertEquals(before, counts());
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.collect(volume, 0);
        }
        try (KeyValueStore database = database()) {
            put(database, Family.RECIPE, page, whole);
        }
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(contents, GarbageTrial.read(volume, "file", contents.length));
        }
    }

    /** Control: a page that does not exist any more refers to nothing, and the counts follow. */
    @Test
    void controlCountsFallWithAPageThatIsGone() throws IOException {
        TreeMap<String, Integer> before = counts();
        try (KeyValueStore database = database();
                Batch batch = database.batch()) {
            batch.delete(
                    Family.RECIPE,
                    ByteBuffer.allocate(16).putLong(file).putLong(1).array());
            batch.commit();
        }
        repair();
        TreeMap<String, Integer> after = counts();
        assertTrue(sum(after) < sum(before), () -> before + " -> " + after);
    }

    /** Counts that are gone are not made anew while a page is damaged; their containers stay in the table meanwhile. */
    @Test
    void aContainerWithoutCountsStaysWhileAPageOfARecipeIsDamaged() throws IOException {
        try (KeyValueStore database = database()) {
            byte[] page = ByteBuffer.allocate(16).putLong(file).putLong(1).array();
            byte[] damaged = Objects.requireNonNull(database.get(Family.RECIPE, page));
            damaged[damaged.length / 2]++;
            put(database, Family.RECIPE, page, damaged);
            List<byte[]> counts = new ArrayList<>();
            try (Cursor cursor = database.scan(Family.COUNT, new byte[0], END)) {
                while (cursor.next()) {
                    counts.add(cursor.key());
                }
            }
            try (Batch batch = database.batch()) {
                for (byte[] key : counts) {
                    batch.delete(Family.COUNT, key);
                }
                batch.commit();
            }
        }
        int readable = 256 << 10;
        byte[] begin = Arrays.copyOf(contents, readable);
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(begin, GarbageTrial.read(volume, "file", readable), "control: it can be read");
        }
        repair();
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(begin, GarbageTrial.read(volume, "file", readable));
            GarbageTrial.collect(volume, 0);
            assertArrayEquals(begin, GarbageTrial.read(volume, "file", readable));
        }
    }

    private static int sum(TreeMap<String, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Marks of which the record says nothing are listed after a repair, and their end does not break the record. */
    @Test
    void marksWithoutARecordedPlaceAreKnownAfterARepair() throws IOException {
        try (Volume volume = Volume.open(config)) {
            PresentRecords.forEachCounted(volume.context().metadata(), (container, counts) -> {
                if (counts.slots() > 2) {
                    volume.context().damaged().found(container, 0, 0, 2, new IOException("a test says so"));
                }
            });
        }
        assertEquals(1, listed());
        forgetPlaces();
        assertEquals(0, listed(), "control: nothing names the file without the record");
        damageTotals();
        repair();
        assertEquals(1, listed());
        try (Volume volume = Volume.open(config)) {
            volume.unlink(Inode.ROOT, "file".getBytes(UTF_8));
            GarbageTrial.collect(volume, 0);
        }
        assertEquals(0, listed());
    }

    private int listed() throws IOException {
        try (Volume volume = Volume.open(config)) {
            return volume.maintenance()
                    .damage()
                    .list((step, done, of) -> {})
                    .files()
                    .size();
        }
    }

    /** Removes the record of damage. */
    private void forgetPlaces() throws IOException {
        try (KeyValueStore database = database()) {
            List<byte[]> places = new ArrayList<>();
            try (Cursor cursor = database.scan(Family.SYSTEM, "damage".getBytes(UTF_8), END)) {
                while (cursor.next()) {
                    if (new String(cursor.key(), UTF_8).startsWith("damage")) {
                        places.add(cursor.key());
                    }
                }
            }
            assertTrue(!places.isEmpty());
            try (Batch batch = database.batch()) {
                for (byte[] place : places) {
                    batch.delete(Family.SYSTEM, place);
                }
                batch.commit();
            }
        }
    }

    /** So that a repair has something to do. */
    private void damageTotals() throws IOException {
        try (KeyValueStore database = database()) {
            put(database, Family.SYSTEM, "totals".getBytes(UTF_8), new byte[] {99});
        }
    }
}
