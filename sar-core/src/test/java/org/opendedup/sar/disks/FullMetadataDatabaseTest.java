package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;

/**
 * The metadata database on a device that becomes full at random moments, within a record of its log, while it writes a
 * table, or while it is reopened: each acknowledged batch exists after a kill, whatever was refused before it.
 */
class FullMetadataDatabaseTest {
    private static final long DISK_BYTES = 48L << 20;
    private static final long MEMORY_BYTES = 8 << 20;
    private static final int ROUNDS = TestSeed.rounds(5);
    private static final int MAX_KEYS = 3000;
    private static final int MAX_VALUE_BYTES = 4000;

    @TempDir
    Path folder;

    private final TreeMap<Integer, byte[]> acknowledged = new TreeMap<>();
    /** Keys whose last change was refused, and may exist or not. */
    private final TreeMap<Integer, byte[]> refused = new TreeMap<>();

    @Test
    void aBatchIsThereAfterAKillIfItWasAcknowledged() throws IOException {
        SplittableRandom random = new SplittableRandom(TestSeed.next());
        int refusals = 0;
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Path place = disk.folder().resolve("ddb");
            Path hog = disk.folder().resolve("hog");
            KeyValueStores.openRocksDb(place, MEMORY_BYTES, true).close();
            try (KeyValueStore store = KeyValueStores.openRocksDb(place, MEMORY_BYTES, false)) {
                for (int round = 0; round < ROUNDS; round++) {
                    // RocksDB has allocated space for its log in advance: small batches fit into it on a full disk.
                    fill(disk, hog, random.nextInt(3) == 0 ? random.nextInt(2 << 20) : 0);
                    TreeMap<Integer, byte[]> batch = batch(random);
                    boolean failed = !commitOrRefuse(store, batch);
                    refusals += failed ? 1 : 0;
                    // Reads work.
                    check(store);
                    if (random.nextInt(4) == 0) {
                        checkAfterKill(disk, place);
                    }
                    Files.delete(hog);
                    if (failed) {
                        // The same batch, as in a commit, now that there is space.
                        assertTrue(commitOrRefuse(store, batch), "refused although there is space");
                    }
                    check(store);
                    checkAfterKill(disk, place);
                }
            }
            try (KeyValueStore store = KeyValueStores.openRocksDb(place, MEMORY_BYTES, false)) {
                check(store);
            }
        }
        assertTrue(refusals > 0, "the disk was never full");
    }

    @Test
    void controlARefusedBatchThatCountsAsAcknowledgedIsMissed() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Path place = disk.folder().resolve("ddb");
            KeyValueStores.openRocksDb(place, MEMORY_BYTES, true).close();
            try (KeyValueStore store = KeyValueStores.openRocksDb(place, MEMORY_BYTES, false)) {
                fill(disk, disk.folder().resolve("hog"), 0);
                TreeMap<Integer, byte[]> batch = new TreeMap<>();
                do {
                    batch.putAll(batch(new SplittableRandom(batch.size())));
                } while (commitOrRefuse(store, batch));
                acknowledged.putAll(batch);
                refused.clear();
                assertTrue(assertThrows(AssertionError.class, () -> checkAfterKill(disk, place))
                        .getMessage()
                        .startsWith("acknowledged key "));
            }
        }
    }

    /** Leaves about this number of bytes free. */
    private static void fill(LoopDisk disk, Path hog, long leave) throws IOException {
        long usable = Files.getFileStore(disk.folder()).getUsableSpace();
        Commands.run("fallocate", "-l", Math.max(4096, usable - leave), hog);
        if (leave == 0) {
            Commands.run("dd", "if=/dev/zero", "of=" + hog, "bs=4096", "oflag=append", "conv=notrunc");
        }
    }

    private static TreeMap<Integer, byte[]> batch(SplittableRandom random) {
        TreeMap<Integer, byte[]> batch = new TreeMap<>();
        int count = 1 + random.nextInt(random.nextInt(2) == 0 ? 1000 : 50);
        for (int i = 0; i < count; i++) {
            byte[] value = new byte[1 + random.nextInt(MAX_VALUE_BYTES)];
            new Random(random.nextLong()).nextBytes(value);
            batch.put(random.nextInt(MAX_KEYS), value);
        }
        return batch;
    }

    private boolean commitOrRefuse(KeyValueStore store, TreeMap<Integer, byte[]> changes) throws IOException {
        try (KeyValueStore.Batch batch = store.batch()) {
            for (var change : changes.entrySet()) {
                batch.put(Family.INODE, key(change.getKey()), change.getValue());
            }
            batch.commit();
        } catch (NoSpaceException e) {
            refused.putAll(changes);
            return false;
        }
        acknowledged.putAll(changes);
        refused.keySet().removeAll(changes.keySet());
        return true;
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    /** The state after a kill: the files at one moment, opened elsewhere. */
    private void checkAfterKill(LoopDisk disk, Path place) throws IOException {
        Path copy = folder.resolve("copy");
        Commands.succeed("fsfreeze", "--freeze", disk.folder());
        try {
            Commands.succeed("cp", "-r", place, copy);
        } finally {
            Commands.succeed("fsfreeze", "--unfreeze", disk.folder());
        }
        try (KeyValueStore found = KeyValueStores.openRocksDb(copy, MEMORY_BYTES, false)) {
            checkAllowingRefused(found);
        }
        Commands.succeed("rm", "-r", copy);
    }

    private void check(KeyValueStore store) throws IOException {
        for (var entry : acknowledged.entrySet()) {
            byte[] found = store.get(Family.INODE, key(entry.getKey()));
            if (!refused.containsKey(entry.getKey())) {
                assertArrayEquals(entry.getValue(), found, () -> "key " + entry.getKey());
            }
        }
    }

    /** A refused batch may exist, but then all of it. */
    private void checkAllowingRefused(KeyValueStore found) throws IOException {
        int there = 0;
        int notThere = 0;
        for (var entry : refused.entrySet()) {
            byte[] value = found.get(Family.INODE, key(entry.getKey()));
            if (Arrays.equals(value, entry.getValue())) {
                there++;
            } else {
                assertArrayEquals(acknowledged.get(entry.getKey()), value, () -> "refused key " + entry.getKey());
                notThere++;
            }
        }
        assertEquals(0, Math.min(there, notThere), "half of a refused batch is there");
        for (var entry : acknowledged.entrySet()) {
            if (!refused.containsKey(entry.getKey())) {
                assertArrayEquals(
                        entry.getValue(),
                        found.get(Family.INODE, key(entry.getKey())),
                        () -> "acknowledged key " + entry.getKey());
            }
        }
    }
}
