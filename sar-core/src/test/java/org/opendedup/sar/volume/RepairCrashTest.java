package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.MetadataDefects;
import org.opendedup.sar.metadata.NoBackingFiles;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.repair.MetadataRepair;
import org.opendedup.sar.metadata.repair.Quarantine;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.posix.Owner;

/**
 * A power cut at each write of a repair, of quarantine files and of the database: what was replaced is in a quarantine
 * file, and a second repair leaves nothing to find.
 */
class RepairCrashTest {
    private static final int KIB = 1 << 10;
    private static final byte[] END = {(byte) 0xff};

    /** Records that only a repair by corrections changes; the container table is made anew from the packs. */
    private static final Set<Family> KEPT = Set.of(Family.COUNT, Family.INODE, Family.ENTRY, Family.ORPHAN);

    /** Which write of a repair fails. */
    private enum Cut {
        APPEND,
        FORCE,
        COMMIT
    }

    @MemoryFolder
    Path folder;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());
    private VolumeConfig config;
    private Directory data;
    /** The damaged database: family, key and value, each as in a quarantine file. */
    private final Map<String, byte[]> damaged = new TreeMap<>();

    private int scratches;

    @BeforeEach
    void make() throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        long directory;
        long file;
        try (Volume volume = Volume.open(config)) {
            directory = volume.makeDirectory(Inode.ROOT, "directory".getBytes(UTF_8), 0755, new Owner(1, 1))
                    .inode();
            byte[] contents = new byte[700 * KIB];
            random.nextBytes(contents);
            GarbageTrial.store(volume, "file", contents);
            file = volume.lookup(Inode.ROOT, "file".getBytes(UTF_8)).inode();
            volume.sync();
        }
        data = FileDirectory.open(config.locations().data());
        try (KeyValueStore database = KeyValueStores.sealed(
                KeyValueStores.openRocksDb(config.locations().metadata(), 32 << 20, false), config.keys())) {
            MetadataDefects.addReferences(database, 1, 5, 1);
            long below = MetadataDefects.makeDirectory(database, directory, "below", 1_000);
            MetadataDefects.putName(database, below, "above", directory, 0040000);
            MetadataDefects.putName(database, Inode.ROOT, "nobody", 2_000, 0100000);
            MetadataDefects.putDamagedOrphan(database, file);
            for (Family family : Family.values()) {
                try (Cursor cursor = database.scan(family, new byte[0], END)) {
                    while (cursor.next()) {
                        damaged.put(name(family, cursor.key()), cursor.value());
                    }
                }
            }
        }
    }

    private static String name(Family family, byte[] key) {
        return family.name().toLowerCase(Locale.ROOT) + " " + HexFormat.of().formatHex(key);
    }

    private CrashKeyValueStore damagedStore() throws IOException {
        CrashKeyValueStore store = new CrashKeyValueStore();
        try (Batch batch = store.batch()) {
            for (Map.Entry<String, byte[]> record : damaged.entrySet()) {
                String[] parts = record.getKey().split(" ");
                batch.put(
                        Family.valueOf(parts[0].toUpperCase(Locale.ROOT)),
                        HexFormat.of().parseHex(parts[1]),
                        record.getValue());
            }
            batch.commit();
        }
        return store;
    }

    private Scratch scratch() {
        return new Scratch(new CrashDirectory(scratches++), () -> {}, Scratch.MOST_MEMORY_BYTES, null);
    }

    /** A store that fails one commit, which the test names by its number from 0. */
    private static final class FailingStore extends HookedKeyValueStore<CrashKeyValueStore> {
        private int left;

        FailingStore(CrashKeyValueStore store, int number) {
            super(store);
            left = number;
        }

        @Override
        protected void commit(Batch batch) throws IOException {
            if (left-- == 0) {
                store.failNextCommits(1);
            }
            batch.commit();
        }
    }

    /** Repairs as {@link OfflineCheck#repair} does. */
    private void repair(KeyValueStore database, Directory quarantine) throws IOException {
        long changes = 1;
        for (int round = 0; round < 8 && changes > 0; round++) {
            ContainerRecords records = ContainerRecords.open(database);
            new TableRebuild(
                            new PackFolder(data, ContainerCipher.of(config.keys())),
                            records,
                            VolumeIdentity.read(data, records.header().volume()),
                            (step, done, of) -> {})
                    .run();
            MetadataRepair repair = new MetadataRepair(database, quarantine, new NoBackingFiles(), 1);
            StoredVolume.correct(
                    new PackFolder(data, ContainerCipher.of(config.keys())),
                    database,
                    scratch(),
                    repair,
                    (step, done, of) -> {});
            changes = repair.finish();
        }
    }

    private List<Finding> findings(KeyValueStore database) throws IOException {
        return StoredVolume.unmounted(
                        new PackFolder(data, ContainerCipher.of(config.keys())), database, "pool0", scratch())
                .check((step, done, of) -> {})
                .findings();
    }

    /** Returns the records that were replaced or removed, and that no quarantine file has. */
    private List<String> lost(KeyValueStore database, CrashDirectory folder) throws IOException {
        Set<String> kept = new HashSet<>();
        for (String file : folder.list()) {
            if (file.startsWith(Quarantine.PREFIX)) {
                kept.addAll(List.of(new String(folder.contents(file), US_ASCII).split("\n")));
            }
        }
        List<String> lost = new ArrayList<>();
        for (Map.Entry<String, byte[]> record : damaged.entrySet()) {
            String[] parts = record.getKey().split(" ");
            Family family = Family.valueOf(parts[0].toUpperCase(Locale.ROOT));
            byte[] now = database.get(family, HexFormat.of().parseHex(parts[1]));
            boolean isSame = now != null && ByteBuffer.wrap(now).equals(ByteBuffer.wrap(record.getValue()));
            if (KEPT.contains(family)
                    && !isSame
                    && !kept.contains(record.getKey() + " " + HexFormat.of().formatHex(record.getValue()))) {
                lost.add(record.getKey());
            }
        }
        return lost;
    }

    /**
     * Cuts the power at one write of a repair. Returns whether the repair came that far.
     *
     * @param lost receives the records that are lost then
     */
    private boolean cut(Cut cut, int number, boolean forceDoesNothing, List<String> lost) throws IOException {
        CrashKeyValueStore store = damagedStore();
        CrashDirectory quarantine = new CrashDirectory(random.nextLong(), forceDoesNothing);
        switch (cut) {
            case APPEND -> quarantine.failAppend(number + 1L);
            case FORCE -> quarantine.failForce(number + 1L);
            case COMMIT -> {}
        }
        boolean failed = false;
        try {
            repair(new FailingStore(store, cut == Cut.COMMIT ? number : -1), quarantine);
        } catch (IOException e) {
            failed = true;
        }
        long seed = random.nextLong();
        CrashKeyValueStore found = store.crash(seed);
        CrashDirectory left = quarantine.crash(seed);
        lost.addAll(lost(found, left));
        if (!forceDoesNothing) {
            repair(found, left);
            assertEquals(List.of(), lost(found, left), cut + " " + number);
            assertEquals(List.of(), findings(found), cut + " " + number);
        }
        return failed;
    }

    @Test
    void aPowerCutAtEachWriteOfARepairLosesNothing() throws IOException {
        assertTrue(findings(damagedStore()).size() >= 5, "control: there are defects");
        for (Cut cut : Cut.values()) {
            int number = 0;
            List<String> lost = new ArrayList<>();
            while (cut(cut, number, false, lost)) {
                assertEquals(List.of(), lost, cut + " " + number);
                number++;
            }
            assertTrue(number >= 2, cut + " came " + number + " times");
        }
    }

    /** The control: if forcing a quarantine file does nothing, old records are lost. */
    @Test
    void withoutForceOldRecordsAreLost() throws IOException {
        List<String> lost = new ArrayList<>();
        for (int round = 0; round < 20 && lost.isEmpty(); round++) {
            cut(Cut.COMMIT, Integer.MAX_VALUE, true, lost);
        }
        assertTrue(!lost.isEmpty());
    }
}
