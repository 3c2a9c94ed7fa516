package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.MetadataDefects;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.repair.Corrections;
import org.opendedup.sar.volume.backup.MetadataReport;
import org.opendedup.sar.volume.backup.MetadataSalvager;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** Each kind of defect of the metadata is made, found and repaired; then a second check finds nothing. */
class RepairTest {
    private static final int KIB = 1 << 10;
    private static final long DATABASE_BYTES = 32 << 20;
    private static final byte[] END = {(byte) 0xff};

    /** Of what there are files. */
    private static final QuotaId QUOTA = new QuotaId(QuotaId.Kind.GROUP, 0);

    @MemoryFolder
    Path folder;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());
    private VolumeConfig config;
    private byte[] contents;
    private long file;
    private long directory;

    /** A defect, and the kind of the finding about it. */
    private enum Defect {
        COUNT_RECORD_MISSING(Kind.REFERENCES),
        COUNT_RECORD_DAMAGED(Kind.DAMAGED_COUNTS),
        COUNT_RECORD_AND_ENTRY_MISSING(Kind.REFERENCES),
        TOTALS_DAMAGED(Kind.REFERENCES),
        QUOTA_WRONG(Kind.REFERENCES),
        QUOTA_MISSING(Kind.REFERENCES),
        QUOTA_OF_NOTHING(Kind.REFERENCES),
        QUOTA_DAMAGED(Kind.REFERENCES),
        NAME_LEADS_NOWHERE(Kind.NAMES),
        NAME_MISSING(Kind.NAMES),
        DIRECTORY_NAME_MISSING(Kind.NAMES),
        DIRECTORY_RECORD_MISSING(Kind.NAMES),
        INODE_RECORD_MISSING(Kind.REFERENCES),
        WRONG_LINKS(Kind.NAMES),
        WRONG_DIRECTORY_LINKS(Kind.NAMES),
        WRONG_PARENT(Kind.NAMES),
        NO_LINKS(Kind.NAMES),
        WRONG_DATA_BYTES(Kind.REFERENCES),
        COUNT_TOO_HIGH(Kind.REFERENCES),
        COUNT_TOO_LOW(Kind.REFERENCES),
        CONTINUATIONS_TOO_HIGH(Kind.REFERENCES),
        RECIPE_PAST_THE_END(Kind.REFERENCES),
        WRONG_NAME_TYPE(Kind.NAMES),
        DIRECTORY_WITH_TWO_NAMES(Kind.NAMES),
        DIRECTORY_WITH_TWO_NAMES_IN_ONE(Kind.NAMES),
        ROOT_WITH_A_NAME(Kind.NAMES),
        DIRECTORY_IN_ITSELF(Kind.NAMES),
        DIRECTORIES_IN_A_CIRCLE(Kind.NAMES),
        ORPHAN_RECORD_DAMAGED(Kind.NAMES),
        ORPHAN_RECORD_OF_NOTHING_DAMAGED(Kind.NAMES),
        INTENT_OF_NOTHING(Kind.REFERENCES),
        RAW_RECORD_OF_NOTHING(Kind.REFERENCES),
        RAW_RECORD_OF_A_DIRECTORY(Kind.REFERENCES),
        VERSION_WITHOUT_DEATH(Kind.REFERENCES),
        DEATH_WITHOUT_VERSION(Kind.REFERENCES),
        VERSIONS_OF_NO_SNAPSHOT(Kind.REFERENCES),
        DEATH_BEFORE_BIRTH(Kind.REFERENCES);

        final Kind kind;

        Defect(Kind kind) {
            this.kind = kind;
        }
    }

    /** Where a directory had more than one way from the root, or none. */
    private static final Set<Defect> ONE_NAME = EnumSet.of(
            Defect.DIRECTORY_WITH_TWO_NAMES,
            Defect.DIRECTORY_WITH_TWO_NAMES_IN_ONE,
            Defect.DIRECTORY_IN_ITSELF,
            Defect.DIRECTORIES_IN_A_CIRCLE);

    @BeforeEach
    void make() throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        contents = new byte[700 * KIB];
        random.nextBytes(contents);
        try (Volume volume = Volume.open(config)) {
            directory = volume.makeDirectory(Inode.ROOT, "directory".getBytes(UTF_8), 0755, new Owner(1, 1))
                    .inode();
            GarbageTrial.store(volume, "file", contents);
            GarbageTrial.store(volume, "again", contents);
            file = volume.lookup(Inode.ROOT, "file".getBytes(UTF_8)).inode();
            volume.makeNode(directory, "inside".getBytes(UTF_8), 0100644, 0, new Owner(1, 1));
            GarbageTrial.store(volume, "old", contents);
            volume.snapshots().create("before", 0, false);
            volume.unlink(Inode.ROOT, "old".getBytes(UTF_8));
            volume.sync();
        }
    }

    private OfflineCheck offline() {
        return new OfflineCheck(config, (step, done, of) -> {}, InstantSource.system());
    }

    private List<Finding> findings() throws IOException {
        return offline().check().findings();
    }

    private interface Use {
        void of(KeyValueStore database) throws IOException;
    }

    private void with(Use use) throws IOException {
        try (KeyValueStore database = KeyValueStores.sealed(
                KeyValueStores.openRocksDb(config.locations().metadata(), DATABASE_BYTES, false), config.keys())) {
            use.of(database);
        }
    }

    private static void change(KeyValueStore database, Family family, byte[] key, UnaryOperator<byte[]> change)
            throws IOException {
        byte[] now = change.apply(Objects.requireNonNull(database.get(family, key)));
        try (Batch batch = database.batch()) {
            if (now.length == 0) {
                batch.delete(family, key);
            } else {
                batch.put(family, key, now);
            }
            batch.commit();
        }
    }

    private static byte[] key(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    private static byte[] firstKey(KeyValueStore database, Family family) throws IOException {
        try (Cursor cursor = database.scan(family, new byte[0], END)) {
            assertTrue(cursor.next());
            return cursor.key();
        }
    }

    /** Returns the key of the name that leads to an inode. */
    private static byte[] nameOf(KeyValueStore database, long inode) throws IOException {
        try (Cursor cursor = database.scan(Family.ENTRY, new byte[0], END);
                RecordCursor<MetadataRecords.Name> names =
                        MetadataRecords.of(database).names()) {
            while (cursor.next() && names.next()) {
                if (Objects.requireNonNull(names.value()).inode() == inode) {
                    return cursor.key();
                }
            }
        }
        throw new AssertionError("no name leads to " + inode);
    }

    /** Changes an inode through the metadata's own interface. */
    private void changeInode(long inode, UnaryOperator<Inode> change) throws IOException {
        with(database -> {
            try (MetadataStore metadata = MetadataStore.open(database, 1 << 20)) {
                metadata.namespace()
                        .put(change.apply(
                                Objects.requireNonNull(metadata.namespace().inode(inode))));
                metadata.commit(metadata.freeze(), ContainerChanges.NONE);
            }
        });
    }

    private void make(Defect defect) throws IOException {
        switch (defect) {
            case COUNT_RECORD_MISSING ->
                with(database ->
                        change(database, Family.COUNT, firstKey(database, Family.COUNT), value -> new byte[0]));
            case COUNT_RECORD_DAMAGED ->
                with(database ->
                        change(database, Family.COUNT, firstKey(database, Family.COUNT), value -> new byte[] {99}));
            case COUNT_RECORD_AND_ENTRY_MISSING ->
                with(database -> {
                    byte[] key = firstKey(database, Family.COUNT);
                    change(database, Family.COUNT, key, value -> new byte[0]);
                    change(database, Family.CONTAINER, key, value -> new byte[0]);
                });
            case TOTALS_DAMAGED ->
                with(database -> change(database, Family.SYSTEM, "totals".getBytes(UTF_8), value -> new byte[] {99}));
            case QUOTA_WRONG ->
                with(database -> change(
                        database, Family.SYSTEM, QUOTA.key(), value -> MetadataDefects.quotaWithMore(QUOTA, value, 5)));
            case QUOTA_MISSING -> with(database -> change(database, Family.SYSTEM, QUOTA.key(), value -> new byte[0]));
            case QUOTA_OF_NOTHING ->
                with(database -> MetadataDefects.putQuota(database, new QuotaId(QuotaId.Kind.PROJECT, 7), 100, 1));
            case QUOTA_DAMAGED ->
                with(database -> change(database, Family.SYSTEM, QUOTA.key(), value -> new byte[] {99}));
            case NAME_LEADS_NOWHERE ->
                with(database -> {
                    long inside = inside();
                    change(database, Family.INODE, key(inside), value -> new byte[0]);
                });
            case NAME_MISSING ->
                with(database -> change(database, Family.ENTRY, nameOf(database, file), value -> new byte[0]));
            case DIRECTORY_NAME_MISSING ->
                with(database -> change(database, Family.ENTRY, nameOf(database, directory), value -> new byte[0]));
            case DIRECTORY_RECORD_MISSING ->
                with(database -> change(database, Family.INODE, key(directory), value -> new byte[0]));
            case INODE_RECORD_MISSING ->
                with(database -> change(database, Family.INODE, key(file), value -> new byte[0]));
            case WRONG_LINKS -> changeInode(file, inode -> inode.withLinks(3));
            case WRONG_DIRECTORY_LINKS -> changeInode(directory, inode -> inode.withLinks(7));
            case WRONG_PARENT -> changeInode(directory, inode -> inode.withParent(directory));
            case NO_LINKS -> {
                with(database -> change(database, Family.ENTRY, nameOf(database, file), value -> new byte[0]));
                changeInode(file, inode -> inode.withLinks(0));
            }
            case WRONG_DATA_BYTES -> changeInode(file, inode -> inode.withBytes(inode.size(), inode.dataBytes() - 5));
            case COUNT_TOO_HIGH -> with(database -> MetadataDefects.addReferences(database, 1, 3, 0));
            case COUNT_TOO_LOW -> with(database -> MetadataDefects.addReferences(database, 1, -1, 0));
            case CONTINUATIONS_TOO_HIGH -> with(database -> MetadataDefects.addReferences(database, 1, 0, 2));
            case RECIPE_PAST_THE_END -> changeInode(file, inode -> inode.withBytes(300 * KIB, inode.dataBytes()));
            case WRONG_NAME_TYPE ->
                with(database -> MetadataDefects.putName(database, directory, "inside", inside(), 0120000));
            case DIRECTORY_WITH_TWO_NAMES ->
                with(database -> {
                    long holder = MetadataDefects.makeDirectory(database, Inode.ROOT, "holder", 1_000);
                    MetadataDefects.putName(database, holder, "second", directory, 0040000);
                });
            case DIRECTORY_WITH_TWO_NAMES_IN_ONE ->
                with(database -> MetadataDefects.putName(database, Inode.ROOT, "second", directory, 0040000));
            case ROOT_WITH_A_NAME ->
                with(database -> MetadataDefects.putName(database, directory, "root", Inode.ROOT, 0040000));
            case DIRECTORY_IN_ITSELF ->
                with(database -> {
                    change(database, Family.ENTRY, nameOf(database, directory), value -> new byte[0]);
                    MetadataDefects.putName(database, directory, "itself", directory, 0040000);
                });
            case DIRECTORIES_IN_A_CIRCLE ->
                with(database -> {
                    change(database, Family.ENTRY, nameOf(database, directory), value -> new byte[0]);
                    long below = MetadataDefects.makeDirectory(database, directory, "below", 1_000);
                    MetadataDefects.putName(database, below, "above", directory, 0040000);
                });
            case ORPHAN_RECORD_DAMAGED -> with(database -> MetadataDefects.putDamagedOrphan(database, file));
            case ORPHAN_RECORD_OF_NOTHING_DAMAGED ->
                with(database -> MetadataDefects.putDamagedOrphan(database, 100_000));
            case INTENT_OF_NOTHING -> with(database -> MetadataDefects.putIntent(database, 100_000));
            case RAW_RECORD_OF_NOTHING -> with(database -> MetadataDefects.putRaw(database, 100_000));
            case RAW_RECORD_OF_A_DIRECTORY -> with(database -> MetadataDefects.putRaw(database, directory));
            case VERSION_WITHOUT_DEATH ->
                with(database ->
                        change(database, Family.DEATH, firstKey(database, Family.DEATH), value -> new byte[0]));
            case DEATH_WITHOUT_VERSION ->
                with(database -> {
                    byte[] death = VersionKeys.death(2, 1, VersionKeys.Kind.INODE, key(100_000));
                    try (Batch batch = database.batch()) {
                        batch.put(Family.DEATH, death, new byte[] {1});
                        batch.commit();
                    }
                });
            case VERSIONS_OF_NO_SNAPSHOT -> {
                try (Volume volume = Volume.open(config)) {
                    byte[] ofMiddle = new byte[200 * KIB];
                    random.nextBytes(ofMiddle);
                    GarbageTrial.store(volume, "of middle", ofMiddle);
                    volume.snapshots().create("middle", 0, false);
                    volume.unlink(Inode.ROOT, "of middle".getBytes(UTF_8));
                    volume.sync();
                }
                with(database -> change(database, Family.SYSTEM, SnapshotRecord.KEYS.of(2), value -> new byte[0]));
            }
            case DEATH_BEFORE_BIRTH ->
                with(database -> {
                    byte[] inode = Births.stamped(Births.body(database.get(Family.INODE, key(file))), 2);
                    try (Batch batch = database.batch()) {
                        batch.put(Family.VERSION, VersionKeys.version(VersionKeys.Kind.INODE, key(file), 1), inode);
                        batch.put(
                                Family.DEATH, VersionKeys.death(1, 2, VersionKeys.Kind.INODE, key(file)), new byte[] {1
                                });
                        batch.commit();
                    }
                });
        }
    }

    private byte[] read(Volume volume, long directory, String name) throws IOException {
        OpenFile open =
                volume.open(volume.lookup(directory, name.getBytes(UTF_8)).inode(), false);
        try {
            ByteBuffer found = ByteBuffer.allocate(contents.length);
            while (found.hasRemaining() && volume.read(open, found.position(), found) > 0) {}
            return found.array();
        } finally {
            volume.close(open);
        }
    }

    /** The number of the file in the directory: numbers are given in ascending order. */
    private long inside() {
        return file + 2;
    }

    @Test
    void aSoundVolumeHasNoFindingAndIsNotChanged() throws IOException {
        assertEquals(List.of(), findings());
        OfflineCheck.RepairReport report = offline().repair();
        assertEquals(List.of(), report.done());
        assertEquals(0, report.rebuilt().changes());
        assertEquals(List.of(), report.quarantines());
    }

    @ParameterizedTest
    @EnumSource(Defect.class)
    void aDefectIsFoundAndRepairedAndASecondCheckFindsNothing(Defect defect) throws Exception {
        make(defect);
        List<Finding> found = findings();
        assertTrue(
                found.stream()
                        .anyMatch(finding -> finding.kind() == defect.kind
                                && finding.mend().equals("sdfs-check " + config.name() + " --repair")),
                found::toString);
        OfflineCheck.RepairReport report = offline().repair();
        assertFalse(report.done().isEmpty());
        // Here a record is added, and none is replaced.
        assertEquals(
                defect == Defect.VERSION_WITHOUT_DEATH, report.quarantines().isEmpty());
        for (String quarantine : report.quarantines()) {
            assertTrue(Files.exists(config.locations().metadata().resolve(quarantine)));
        }
        assertEquals(List.of(), findings());
        try (Volume volume = Volume.open(config)) {
            assertArrayEquals(contents, GarbageTrial.read(volume, "again", contents.length));
            assertArrayEquals(contents, read(volume, TreeDigest.snapshotRoot(volume, "before"), "old"));
            assertEquals(List.of(), VolumeChecker.check(volume));
            volume.snapshots().delete("before");
            volume.snapshots().freed().get();
            assertEquals(List.of(), VolumeChecker.check(volume));
            long holder = Inode.ROOT;
            String name = "file";
            if (List.of(Defect.NAME_MISSING, Defect.NO_LINKS).contains(defect)) {
                holder = volume.lookup(Inode.ROOT, "lost+found".getBytes(UTF_8)).inode();
                name = "#" + file;
            }
            assertEquals(file, volume.lookup(holder, name.getBytes(UTF_8)).inode());
            assertArrayEquals(contents, read(volume, holder, name));
            if (ONE_NAME.contains(defect)) {
                assertDirectoryHasOneName(volume, defect);
            }
        }
    }

    /** Every directory is reached from the root again, and what lay in it is there. */
    private void assertDirectoryHasOneName(Volume volume, Defect defect) throws IOException {
        long holder = Inode.ROOT;
        String name = "directory";
        if (defect == Defect.DIRECTORY_IN_ITSELF || defect == Defect.DIRECTORIES_IN_A_CIRCLE) {
            holder = volume.lookup(Inode.ROOT, "lost+found".getBytes(UTF_8)).inode();
            name = "#" + directory;
        }
        long found;
        try {
            found = volume.lookup(holder, name.getBytes(UTF_8)).inode();
        } catch (PosixException e) {
            assertEquals(Defect.DIRECTORY_WITH_TWO_NAMES_IN_ONE, defect);
            found = volume.lookup(holder, "second".getBytes(UTF_8)).inode();
        }
        assertEquals(directory, found);
        assertEquals(inside(), volume.lookup(found, "inside".getBytes(UTF_8)).inode());
    }

    private static IntStream someDefects() {
        return TestSeed.steps(Defect.values().length);
    }

    /** A repair that is stopped at any step is repeated; {@link RepairCrashTest} cuts the power at each write. */
    @ParameterizedTest
    @MethodSource("someDefects")
    void aStoppedRepairIsRepeated(int defect) throws IOException {
        make(Defect.values()[defect]);
        long[] steps = {random.nextInt(40)};
        OfflineCheck interrupted = new OfflineCheck(
                config,
                (step, done, of) -> {
                    if (steps[0]-- == 0) {
                        throw new InterruptedIOException("interrupted");
                    }
                },
                InstantSource.system());
        try {
            interrupted.repair();
        } catch (InterruptedIOException e) {
            assertEquals("interrupted", e.getMessage());
        }
        offline().repair();
        assertEquals(List.of(), findings());
    }

    /** Frames with chunks to which nothing refers: their total lengths tell nothing about the others. */
    @Test
    void lengthsOfChunksAreKnownAgainWhenTheirContainerIsFound() throws IOException {
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "part", Arrays.copyOf(contents, 30 * KIB));
            volume.unlink(Inode.ROOT, "file".getBytes(UTF_8));
            volume.unlink(Inode.ROOT, "again".getBytes(UTF_8));
            volume.sync();
        }
        make(Defect.COUNT_RECORD_AND_ENTRY_MISSING);
        offline().repair();
        assertEquals(List.of(), findings());
        with(database -> {
            ContainerRecords records = ContainerRecords.open(database);
            long container = ByteBuffer.wrap(firstKey(database, Family.COUNT)).getLong();
            ContainerCounts counts = Objects.requireNonNull(records.counts(container));
            int referred = 0;
            for (int slot = 0; slot < counts.slots(); slot++) {
                referred += counts.count(slot) > 0 ? 1 : 0;
                assertTrue(counts.count(slot) == 0 || counts.length(slot) > 0, "slot " + slot);
            }
            assertTrue(referred > 0);
        });
    }

    /** The table counts chunks that nothing has to the totals, which may be damaged. */
    @Test
    void damagedTotalsAndALostContainerAreRepairedTogether() throws IOException {
        make(Defect.TOTALS_DAMAGED);
        with(database -> MetadataDefects.putCounts(database, 5_000));
        assertFalse(offline().repair().done().isEmpty());
        List<Finding> rest = findings();
        assertTrue(rest.stream().allMatch(finding -> finding.kind() == Kind.NO_ENTRY), rest::toString);
    }

    /** A list of what has to be freed may name an inode that is gone already: nothing is wrong, and a mount ends it. */
    @Test
    void aRecordOfAnInodeThatIsGoneIsNoFinding() throws IOException {
        with(database -> MetadataDefects.putOrphan(database, 100_000, 0));
        assertEquals(List.of(), findings());
        Volume.open(config).close();
        with(database -> {
            try (Cursor cursor = database.scan(Family.ORPHAN, new byte[0], END)) {
                assertFalse(cursor.next());
            }
        });
        assertEquals(List.of(), findings());
    }

    /** References to a slot that the container does not have, and past the end of a chunk. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aReferenceToBytesThatNoChunkHasIsFoundByItsFileAndStays(boolean isPastTheEnd) throws IOException {
        with(database -> MetadataDefects.changeLastReference(database, file, isPastTheEnd));
        List<Finding> found = findings();
        Finding wrong = found.stream()
                .filter(finding -> finding.kind() == Kind.WRONG_REFERENCE)
                .findFirst()
                .orElseThrow();
        assertEquals(Severity.LOSS, wrong.severity());
        assertEquals(List.of("/file"), wrong.files().get(0).paths());
        offline().repair();
        List<Finding> rest = findings();
        assertTrue(
                rest.stream()
                        .allMatch(finding -> finding.severity() == Severity.LOSS
                                && finding.files().get(0).paths().equals(List.of("/file"))),
                rest::toString);
        assertFalse(rest.isEmpty(), "the reference stays, because the bytes may come back");
        try (Volume volume = Volume.open(config)) {
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "file", contents.length));
            assertArrayEquals(contents, GarbageTrial.read(volume, "again", contents.length));
        }
    }

    /** A recipe that leads to other content: no count is wrong, and only the fingerprint prefix shows it. */
    @Test
    void aRecipeThatLeadsToOtherContentIsFoundByItsFiles() throws IOException {
        with(database -> {
            byte[] key = ByteBuffer.allocate(16).putLong(file).putLong(1).array();
            change(database, Family.RECIPE, key, value -> {
                byte[] changed = value.clone();
                // The last entry ends with its fingerprint prefix, before the checksum of key and record.
                changed[changed.length - 5]++;
                CRC32C crc = new CRC32C();
                crc.update(key);
                crc.update(changed, 0, changed.length - 4);
                ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(changed.length - 4, (int)
                        crc.getValue());
                return changed;
            });
        });
        List<Finding> found = findings();
        assertEquals(1, found.size(), found::toString);
        assertEquals(Kind.WRONG_REFERENCE, found.get(0).kind());
        assertEquals(Severity.LOSS, found.get(0).severity());
        DamagedFile damaged = found.get(0).files().get(0);
        assertEquals(List.of("/file"), damaged.paths());
        assertEquals(512 * KIB, damaged.ranges().get(0).to());
        try (Volume volume = Volume.open(config)) {
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "file", contents.length));
            assertArrayEquals(contents, GarbageTrial.read(volume, "again", contents.length));
        }
    }

    /** So no correction is without a defect for which the tests above repair a volume. */
    @Test
    void eachCorrectionIsOfSomeDefect() throws IOException {
        Path metadata = config.locations().metadata();
        Path saved = folder.resolve("saved");
        TestFolders.copy(metadata, saved);
        Set<String> corrected = new TreeSet<>();
        Corrections recording = (Corrections) Proxy.newProxyInstance(
                Corrections.class.getClassLoader(), new Class<?>[] {Corrections.class}, (proxy, method, arguments) -> {
                    corrected.add(method.getName());
                    return null;
                });
        Directory data = FileDirectory.open(config.locations().data());
        for (int i = 0; i <= Defect.values().length + 1; i++) {
            PrivateFiles.deleteFolder(metadata);
            TestFolders.copy(saved, metadata);
            if (i < Defect.values().length) {
                make(Defect.values()[i]);
            } else if (i > Defect.values().length) {
                // It is mended with the fast tier only, which this volume does not have: see RawFaultsTest.
                with(database -> {
                    MetadataDefects.putRaw(database, file);
                    MetadataDefects.damageRaw(database, file);
                });
            } else {
                damageRecipePage();
            }
            with(database -> StoredVolume.correct(
                    new PackFolder(data, ContainerCipher.of(config.keys())),
                    database,
                    new Scratch(new CrashDirectory(0), () -> {}, Scratch.MOST_MEMORY_BYTES, null),
                    recording,
                    (step, done, of) -> {}));
        }
        Set<String> all = new TreeSet<>();
        for (Method method : Corrections.class.getDeclaredMethods()) {
            if (method.isDefault()) {
                all.add(method.getName());
            }
        }
        assertEquals(all, corrected);
    }

    private void damageRecipePage() throws IOException {
        with(database -> {
            byte[] key = ByteBuffer.allocate(16).putLong(file).putLong(1).array();
            change(database, Family.RECIPE, key, value -> {
                byte[] changed = value.clone();
                changed[changed.length / 2]++;
                return changed;
            });
        });
    }

    @Test
    void aDamagedRecipePageIsFoundWithItsRange() throws IOException {
        damageRecipePage();
        List<Finding> found = findings();
        Finding damaged = found.stream()
                .filter(finding -> finding.kind() == Kind.DAMAGED_RECORD)
                .findFirst()
                .orElseThrow();
        assertEquals(
                List.of(new DamagedFile(
                        file, List.of("/file"), List.of(new DamagedFile.Range(256 * KIB, 512 * KIB)), 256 * KIB, 0)),
                damaged.files());
        assertTrue(
                damaged.mend().contains("sdfs-check " + config.name() + " --salvage-metadata=records"), damaged::mend);
        MetadataReport report =
                MetadataSalvager.salvage(config.locations(), config.keys(), List.of(), (step, done, of) -> {});
        assertFalse(report.lost().isEmpty());
        assertTrue(findings().stream().noneMatch(finding -> finding.kind() == Kind.DAMAGED_RECORD));
    }

    @Test
    void whatACheckSortsIsRemoved() throws IOException {
        assertEquals(List.of(), findings());
        try (Stream<Path> files = Files.list(config.locations().metadata())) {
            assertTrue(files.noneMatch(path -> path.endsWith("check")));
        }
    }
}
