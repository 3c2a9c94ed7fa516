package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.FoundContainer;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.PackReader;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.UnreadableByte;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.GarbageTrial;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.OtherHistory;
import org.opendedup.sar.volume.config.RestoredMetadataException;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/** The metadata of a volume are backed up, lost and restored. */
class MetadataRestoreTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final Progress UNSEEN = (step, done, of) -> {};

    private final long seed = TestSeed.next();

    @MemoryFolder
    private Path folder;

    private BackupTrial trial;
    /** The files at the time of the backup. */
    private Map<String, byte[]> backedUp;

    @BeforeEach
    void makeVolumeWithBackup() throws IOException {
        trial = new BackupTrial(folder, seed);
        try (Volume volume = trial.open()) {
            for (int i = 0; i < 6; i++) {
                trial.write(volume, "old" + i, trial.random(200_000 + i * 70_000));
            }
        }
        try (Volume volume = trial.open()) {
            trial.write(volume, "young", trial.random(300_000));
            volume.maintenance().backups().backUp(4);
            backedUp = new TreeMap<>(trial.files);
            trial.write(volume, "newer", trial.random(900_000));
        }
    }

    private Path automatic() {
        return MetadataBackups.folderIn(trial.config.locations().data());
    }

    private Backup newest() throws IOException {
        List<Backup> all =
                MetadataBackups.automatic(trial.config.locations().data()).backups();
        return all.get(all.size() - 1);
    }

    private MetadataReport restore() throws IOException {
        return MetadataRestore.restore(trial.config.locations(), trial.config.keys(), automatic(), newest());
    }

    private long packBytes() throws IOException {
        FileDirectory data = FileDirectory.open(trial.config.locations().data());
        long bytes = 0;
        for (String name : data.list()) {
            bytes += name.endsWith(".pack") ? data.allocatedBytes(name) : 0;
        }
        return bytes;
    }

    @Test
    void aRestoreBringsBackTheStateOfTheBackupAndSaysWhatIsNewer() throws IOException {
        trial.flip(trial.databaseFiles("MANIFEST").get(0));
        MetadataReport report = restore();
        assertTrue(report.newer().containers() > 0, report::toString);
        assertTrue(report.newer().bytes() >= 900_000, report::toString);
        assertTrue(report.newer().newestNs() > 0, report::toString);
        assertEquals(List.of(), report.damagedFiles(), report::toString);
        assertEquals(0, report.movedContainers() + report.missingContainers(), report::toString);
        assertTrue(Files.exists(report.oldDatabase().resolve("CURRENT")));
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
            assertThrows(IOException.class, () -> GarbageTrial.read(volume, "newer"));
            trial.write(volume, "after", trial.random(400_000));
            backedUp.put("after", trial.files.get("after"));
        }
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
        }
    }

    /** An NFS client may have handles of files, and of files in snapshots, that only the lost metadata had. */
    @Test
    void numbersThatAreUsedAgainHaveAnotherGeneration() throws IOException {
        Attributes old;
        Attributes lost;
        Attributes lostInSnapshot;
        try (Volume volume = trial.open()) {
            old = volume.lookup(Inode.ROOT, "old3".getBytes(UTF_8));
            lost = volume.makeNode(Inode.ROOT, "lost".getBytes(UTF_8), 0100644, 0, OWNER);
            lostInSnapshot = inSnapshot(volume, "lost");
        }
        restore();
        try (Volume volume = trial.open()) {
            Attributes again = volume.lookup(Inode.ROOT, "old3".getBytes(UTF_8));
            assertEquals(old.inode(), again.inode());
            assertEquals(old.generation(), again.generation(), "the same file");
            // "newer" had the first number.
            Attributes other = volume.makeNode(Inode.ROOT, "other".getBytes(UTF_8), 0100644, 0, OWNER);
            for (int i = 0; other.inode() < lost.inode(); i++) {
                other = volume.makeNode(Inode.ROOT, ("other" + i).getBytes(UTF_8), 0100644, 0, OWNER);
            }
            assertEquals(lost.inode(), other.inode(), "a number is used again");
            assertNotEquals(lost.generation(), other.generation());
            Attributes otherInSnapshot = inSnapshot(volume, "again");
            assertEquals(lostInSnapshot.inode(), otherInSnapshot.inode(), "of a snapshot, too");
            assertNotEquals(lostInSnapshot.generation(), otherInSnapshot.generation());
            long generation = other.generation();
            volume.sync();
            volume.close();
            try (Volume remounted = trial.open()) {
                long root = SnapshotIds.of(1, Inode.ROOT);
                assertEquals(otherInSnapshot, remounted.lookup(root, "old3".getBytes(UTF_8)), "after a new mount");
                assertEquals(generation, remounted.attributes(lost.inode()).generation());
            }
        }
    }

    private static Attributes inSnapshot(Volume volume, String name) throws IOException {
        volume.snapshots().create(name, 0, false);
        long folder = volume.lookup(Inode.ROOT, ".snapshots".getBytes(UTF_8)).inode();
        long root = volume.lookup(folder, name.getBytes(UTF_8)).inode();
        return volume.lookup(root, "old3".getBytes(UTF_8));
    }

    @Test
    void whatAnEarlierRestoreLeftIsNotToldAsNewer() throws IOException {
        assertTrue(restore().newer().containers() > 0, "the control");
        try (Volume volume = trial.open()) {
            trial.write(volume, "after", trial.random(400_000));
            backedUp.put("after", trial.files.get("after"));
            volume.maintenance().backups().backUp(4);
        }
        MetadataReport again = restore();
        assertEquals(NewerContainers.NONE, again.newer(), again::toString);
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
            trial.write(volume, "newest", trial.random(400_000));
        }
        assertTrue(restore().newer().bytes() >= 400_000, "what is newer than this backup is told");
    }

    @Test
    void whatOnlyTheLostMetadataKnewStaysUntilItIsGivenUp() throws IOException {
        restore();
        long before = packBytes();
        for (int mount = 0; mount < 3; mount++) {
            try (Volume volume = trial.open()) {
                assertTrue(volume.condition().restored());
                IOException refused = assertThrows(RestoredMetadataException.class, () -> BackupTrial.collect(volume));
                assertTrue(refused.getMessage().contains("--accept-restored"), refused.getMessage());
                // A dry run takes nothing away.
                volume.collector().collect(new CollectionLimits(0, true), (done, of, returned) -> true);
                assertThrows(
                        IOException.class,
                        () -> volume.maintenance().arrange(ArrangementLimits.DEFAULT, null, Progress.NONE));
            }
        }
        assertTrue(packBytes() >= before);
        // The old database still has everything: going back is possible.
        assertTrue(
                OtherHistory.giveUp(FileDirectory.open(trial.config.locations().data())));
        // Control: without the mark it is swept.
        try (Volume volume = trial.open()) {
            assertTrue(BackupTrial.collect(volume).strayBytes() >= 900_000);
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
        }
    }

    /** A receiver collects when it finds a disk full. */
    @Test
    void aReceiverCollectsOnlyWhatAMountWouldAndNotesIt() throws IOException {
        restore();
        CollectionLimits all = new CollectionLimits(0, false);
        try (VolumeContext receiving = VolumeContext.openToReceive(trial.config)) {
            assertThrows(
                    RestoredMetadataException.class,
                    () -> receiving.collector().collect(all, (done, of, returned) -> true));
        }
        Path data = trial.config.locations().data();
        assertTrue(OtherHistory.giveUp(FileDirectory.open(data)));
        long before = MetadataBackups.collections(data);
        try (VolumeContext receiving = VolumeContext.openToReceive(trial.config)) {
            receiving.collector().collect(all, (done, of, returned) -> true);
        }
        assertEquals(before + 1, MetadataBackups.collections(data));
        assertTrue(MetadataBackups.automatic(data).isOlderThanCollection(newest()));
    }

    @Test
    void goingBackToTheReplacedDatabaseIsPossible() throws IOException {
        Map<String, byte[]> all = new TreeMap<>(trial.files);
        MetadataReport report = restore();
        try (Volume volume = trial.open()) {
            // Both histories share the containers of these files, of which only parts are alive now.
            trial.remove(volume, "old3");
            trial.remove(volume, "old5");
            trial.write(volume, "after", trial.random(400_000));
            assertThrows(IOException.class, () -> BackupTrial.collect(volume));
        }
        goBackTo(report.oldDatabase());
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, all));
        }
    }

    private void goBackTo(Path old) throws IOException {
        Path metadata = trial.config.locations().metadata();
        Path kept = folder.resolve("kept");
        Files.move(old, kept);
        PrivateFiles.deleteFolder(metadata);
        Files.move(kept, metadata);
    }

    @Test
    void controlACollectionAfterTheRestoreTakesAwayWhatTheReplacedDatabaseRefersTo() throws IOException {
        Map<String, byte[]> all = new TreeMap<>(trial.files);
        MetadataReport report = restore();
        try (Volume volume = trial.open()) {
            trial.remove(volume, "old3");
            trial.remove(volume, "old5");
            OtherHistory.giveUp(FileDirectory.open(trial.config.locations().data()));
            assertFalse(volume.condition().restored(), "since this moment");
            assertTrue(BackupTrial.collect(volume).returnedBytes() > 0);
        }
        goBackTo(report.oldDatabase());
        List<String> differences;
        try (Volume volume = trial.open()) {
            differences = GarbageTrial.problems(volume, all);
        }
        assertTrue(differences.stream().anyMatch(text -> text.startsWith("old3")), differences::toString);
    }

    @Test
    void containersThatACollectionMovedAreFoundAgain() throws IOException {
        try (Volume volume = trial.open()) {
            // Half of the chunks of a container live on elsewhere.
            byte[] part = new byte[150_000];
            System.arraycopy(trial.files.get("old3"), 0, part, 0, part.length);
            trial.write(volume, "part", part);
            volume.maintenance().backups().backUp(4);
            backedUp = new TreeMap<>(trial.files);
            trial.remove(volume, "old3");
            trial.remove(volume, "old5");
            assertTrue(BackupTrial.collect(volume).rewritten() > 0);
            assertTrue(volume.maintenance()
                    .backups()
                    .isOlderThanCollection(volume.maintenance().backups().list().get(1)));
        }
        MetadataReport report = restore();
        assertTrue(report.movedContainers() > 0, report::toString);
        assertEquals(
                List.of("/old3", "/old5"),
                report.damagedFiles().stream()
                        .flatMap(file -> file.paths().stream())
                        .sorted()
                        .toList(),
                report::toString);
        Map<String, byte[]> unharmed = new TreeMap<>(backedUp);
        unharmed.remove("old3");
        unharmed.remove("old5");
        try (Volume volume = trial.open()) {
            unharmed.forEach((name, bytes) -> {
                try {
                    assertArrayEquals(bytes, GarbageTrial.read(volume, name), name);
                } catch (IOException e) {
                    throw new AssertionError(name, e);
                }
            });
            // Bytes that are gone give an error, never other bytes.
            for (String gone : List.of("old3", "old5")) {
                assertThrows(IOException.class, () -> GarbageTrial.read(volume, gone));
            }
            // What is stored again does not rely on what is gone.
            byte[] again = backedUp.get("old3");
            trial.write(volume, "again", again);
            assertArrayEquals(again, GarbageTrial.read(volume, "again"));
        }
    }

    /** A backup after a collection is whole. */
    @Test
    void aBackupAfterTheCollectionLosesNothing() throws IOException {
        try (Volume volume = trial.open()) {
            trial.remove(volume, "old3");
            BackupTrial.collect(volume);
            volume.maintenance().backups().backUp(4);
            assertFalse(volume.maintenance().backups().isOlderThanCollection(newest()));
            backedUp = new TreeMap<>(trial.files);
        }
        assertEquals(List.of(), restore().damagedFiles());
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
        }
    }

    @Test
    void aRestoreThatIsInterruptedAnywhereCanBeRepeated() throws IOException {
        int count = restoreUntil(Integer.MAX_VALUE);
        assertTrue(count > 10, "only " + count + " steps");
        for (int step : TestSeed.steps(count).toArray()) {
            assertThrows(IllegalStateException.class, () -> restoreUntil(step));
            if (step % 3 == 0) {
                mountsOrRefuses();
            }
        }
        restore();
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
        }
    }

    /** Restores, and crashes at a step; returns how many there were. */
    private int restoreUntil(int stop) throws IOException {
        int[] steps = new int[1];
        MetadataRestore.restore(trial.config.locations(), trial.config.keys(), automatic(), newest(), () -> {
            if (steps[0]++ == stop) {
                throw new IllegalStateException("a crash");
            }
        });
        return steps[0];
    }

    /** A restore that fails at a step, if it is not the last, leaves nothing behind and everything as it was. */
    @Test
    void aRestoreThatFailsLeavesNothingOnTheDisk() throws IOException {
        Map<String, byte[]> all = new TreeMap<>(trial.files);
        Path metadata = trial.config.locations().metadata();
        for (int stop = 1; stop <= 3; stop++) {
            int[] left = {stop};
            IOException failure = assertThrows(
                    IOException.class,
                    () -> MetadataRestore.restore(
                            trial.config.locations(), trial.config.keys(), automatic(), newest(), () -> {
                                assertTrue(Files.exists(metadata.resolve(MetadataFolder.NEW)), "the control");
                                if (--left[0] == 0) {
                                    throw new IOException("failed");
                                }
                            }));
            assertEquals("failed", failure.getMessage());
            assertFalse(Files.exists(metadata.resolve(MetadataFolder.NEW)), "step " + stop);
        }
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, all));
        }
    }

    /** While the new database takes the place of the old one, it is the only one that is whole: it must stay. */
    @Test
    void aRestoreThatFailsInItsLastStepKeepsTheNewDatabase() throws IOException {
        Path metadata = trial.config.locations().metadata();
        assertThrows(
                IOException.class,
                () -> MetadataRestore.restore(
                        trial.config.locations(), trial.config.keys(), automatic(), newest(), () -> {
                            if (!Files.exists(metadata.resolve("CURRENT"))) {
                                throw new IOException("failed");
                            }
                        }));
        assertTrue(Files.exists(metadata.resolve(MetadataFolder.NEW).resolve("CURRENT")));
        restore();
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
        }
    }

    @Test
    void whatACrashOfARestoreLeftIsDeletedByAMount() throws IOException {
        Path metadata = trial.config.locations().metadata();
        for (String name : List.of(MetadataFolder.NEW, MetadataFolder.SOURCE, MetadataFolder.OLDER)) {
            Files.createDirectory(metadata.resolve(name));
            Files.write(metadata.resolve(name).resolve("000001.sst"), new byte[1000]);
        }
        trial.open().close();
        for (String name : List.of(MetadataFolder.NEW, MetadataFolder.SOURCE, MetadataFolder.OLDER)) {
            assertFalse(Files.exists(metadata.resolve(name)), name);
        }
    }

    /** The room is looked at before anything is copied. */
    @Test
    void aBackupThatIsTooLargeForTheDiskIsRefusedFirst() throws IOException {
        Backup real = newest();
        List<BackupFile> files = new ArrayList<>(real.files());
        files.add(new BackupFile("000001.sst", 1L << 60, 0, "none"));
        Backup large = new Backup(real.number(), real.origin(), files);
        int[] steps = new int[1];
        assertThrows(
                NoSpaceException.class,
                () -> MetadataRestore.restore(
                        trial.config.locations(), trial.config.keys(), automatic(), large, () -> steps[0]++));
        assertEquals(0, steps[0]);
        assertFalse(Files.exists(trial.config.locations().metadata().resolve(MetadataFolder.NEW)));
    }

    /** A mount between two attempts finds the old state, the restored one, or nothing. */
    private void mountsOrRefuses() throws IOException {
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
        } catch (CorruptionException e) {
            assertTrue(e.getMessage().contains("a database"), e.getMessage());
        }
    }

    @Test
    void aDamagedBackupIsRefusedAndChangesNothing() throws IOException {
        Map<String, byte[]> all = new TreeMap<>(trial.files);
        List<Path> stored = new ArrayList<>();
        try (var list = Files.list(automatic())) {
            list.filter(file -> file.toString().endsWith(".sst")).forEach(stored::add);
        }
        trial.flip(stored.get(0));
        assertThrows(CorruptionException.class, this::restore);
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, all));
        }
    }

    @Test
    void aVolumeInUseIsNotRestored() throws IOException {
        try (Volume volume = trial.open()) {
            IOException refused = assertThrows(IOException.class, this::restore);
            assertTrue(refused.getMessage().contains("in use"), refused.getMessage());
            assertArrayEquals(backedUp.get("old1"), GarbageTrial.read(volume, "old1"));
        }
    }

    @Test
    void anotherVolumesBackupIsRefused() throws IOException {
        BackupTrial other = new BackupTrial(folder.resolve("other"), seed + 1);
        MetadataBackups.Copy foreign;
        try (Volume volume = other.open()) {
            foreign = volume.maintenance().backups().backUpTo(folder.resolve("off-site"));
        }
        assertThrows(
                IOException.class,
                () -> MetadataRestore.restore(
                        trial.config.locations(), trial.config.keys(), Path.of(foreign.folder()), foreign.backup()));
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, trial.files));
        }
    }

    @Test
    void anOffSiteCopyRestoresAVolumeWithoutItsMetadata() throws IOException {
        MetadataBackups.Copy copy;
        try (Volume volume = trial.open()) {
            copy = volume.maintenance().backups().backUpTo(folder.resolve("off-site"));
        }
        PrivateFiles.deleteFolder(trial.config.locations().metadata());
        Files.createDirectory(trial.config.locations().metadata());
        MetadataReport report = MetadataRestore.restore(
                trial.config.locations(), trial.config.keys(), Path.of(copy.folder()), copy.backup());
        assertNull(report.oldDatabase());
        assertFalse(Files.exists(trial.config.locations().metadata().resolve(MetadataFolder.ASIDE + 1)));
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, trial.files));
        }
    }

    @Test
    void damagedTablesAreMendedFromTheBackupWithoutLosingWhatIsNewer() throws IOException {
        Map<String, byte[]> all = new TreeMap<>(trial.files);
        List<Path> backups = List.of(automatic());
        Path metadata = trial.config.locations().metadata();
        int mended = 0;
        for (int round = 0; round < TestSeed.rounds(4); round++) {
            List<Path> tables = trial.databaseFiles(".sst");
            Path table = tables.get(trial.random.nextInt(tables.size()));
            try (Volume volume = trial.open()) {
                volume.maintenance().backups().backUp(2);
            }
            if (!Files.exists(table)) {
                continue;
            }
            if (round % 2 == 0) {
                trial.flip(table);
            } else {
                Files.delete(table);
            }
            MetadataMend.Report report =
                    MetadataMend.mend(trial.config.locations(), trial.config.keys(), backups, UNSEEN);
            assertEquals(List.of(table.getFileName().toString()), report.mended(), () -> "seed " + seed);
            mended++;
            // Nothing but the damaged table differs, so nothing is of another history.
            assertFalse(OtherHistory.isMarked(
                    FileDirectory.open(trial.config.locations().data())));
            try (Volume volume = trial.open()) {
                assertEquals(List.of(), GarbageTrial.problems(volume, all), () -> "seed " + seed);
                trial.write(volume, "round" + round, trial.random(100_000));
                all.put("round" + round, trial.files.get("round" + round));
            }
        }
        assertTrue(mended > 0);
        assertTrue(Files.exists(metadata.resolve("damaged-1")));
    }

    /** Returns a table that the newest backup has. */
    private Path tableInBackup() throws IOException {
        Set<String> names = newest().files().stream().map(BackupFile::name).collect(Collectors.toSet());
        return trial.databaseFiles(".sst").stream()
                .filter(file -> names.contains(file.getFileName().toString()))
                .findFirst()
                .orElseThrow();
    }

    /** Mends, if not interrupted at a step; returns how many there were. */
    private int mendUntil(int stop) throws IOException {
        int[] steps = new int[1];
        MetadataMend.mend(trial.config.locations(), trial.config.keys(), List.of(automatic()), UNSEEN, () -> {
            if (steps[0]++ == stop) {
                throw new InterruptedIOException("interrupted");
            }
        });
        return steps[0];
    }

    private void damageTable() throws IOException {
        try (Volume volume = trial.open()) {
            volume.maintenance().backups().backUp(2);
        }
        trial.flip(tableInBackup());
    }

    @Test
    void aMendThatIsInterruptedAnywhereCanBeRepeated() throws IOException {
        Map<String, byte[]> all = new TreeMap<>(trial.files);
        Path restoring = trial.config.locations().metadata().resolve(MetadataFolder.NEW);
        Path marker = restoring.resolve(MetadataFolder.CLEARED);
        damageTable();
        int count = mendUntil(Integer.MAX_VALUE);
        assertTrue(count > 10, "only " + count + " steps");
        int controls = 0;
        for (int step : TestSeed.steps(count).toArray()) {
            damageTable();
            // The number of steps depends on the tables that are there.
            boolean interrupted = true;
            try {
                mendUntil(step);
                interrupted = false;
            } catch (InterruptedIOException expected) {
                assertEquals("interrupted", expected.getMessage());
            }
            if (controls == 0 && Files.exists(marker)) {
                // Control: without the marker the replacement cannot be finished.
                Path away = folder.resolve("away");
                Files.move(marker, away);
                Path copy = folder.resolve("copy");
                TestFolders.copy(restoring, copy);
                assertThrows(IOException.class, () -> mendUntil(Integer.MAX_VALUE));
                PrivateFiles.deleteFolder(restoring);
                TestFolders.copy(copy, restoring);
                Files.move(away, marker);
                controls++;
            }
            MetadataMend.Report report =
                    MetadataMend.mend(trial.config.locations(), trial.config.keys(), List.of(automatic()), UNSEEN);
            assertEquals(interrupted, !report.mended().isEmpty(), "step " + step);
            try (Volume volume = trial.open()) {
                assertEquals(List.of(), GarbageTrial.problems(volume, all), "step " + step + ", seed " + seed);
            }
        }
        assertEquals(1, controls);
    }

    @Test
    void aManifestThatLostSyncedRecordsIsNotSalvaged() throws IOException {
        Path manifest = trial.databaseFiles("MANIFEST-").get(0);
        byte[] right = Files.readAllBytes(manifest);
        Files.write(manifest, Arrays.copyOf(right, right.length - 3));
        trial.flip(tableInBackup());
        assertThrows(
                CorruptionException.class,
                () -> MetadataMend.mend(trial.config.locations(), trial.config.keys(), List.of(automatic()), UNSEEN));
        // Control: with the whole manifest the same table is mended.
        Files.write(manifest, right);
        assertEquals(
                1,
                MetadataMend.mend(trial.config.locations(), trial.config.keys(), List.of(automatic()), UNSEEN)
                        .mended()
                        .size());
    }

    private List<String> mended() throws IOException {
        return MetadataMend.mend(trial.config.locations(), trial.config.keys(), List.of(), UNSEEN)
                .mended();
    }

    @Test
    void aCurrentThatIsNoTextOrMissingIsWrittenAnew() throws IOException {
        Path current = trial.config.locations().metadata().resolve("CURRENT");
        byte[] bytes = Files.readAllBytes(current);
        assertEquals(List.of(), mended(), "an intact database is left alone");
        bytes[3] ^= (byte) 0x80;
        Files.write(current, bytes);
        assertEquals(List.of("CURRENT"), mended());
        Files.writeString(current, "MANIFEST-");
        assertEquals(List.of("CURRENT"), mended());
        Files.delete(current);
        assertEquals(List.of("CURRENT"), mended());
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, trial.files));
        }
    }

    /** The block may be readable again, and marks would stay; so would another place. */
    @Test
    void whatCannotBeReadIsNotMarkedAsLost() throws IOException {
        FileDirectory data = FileDirectory.open(trial.config.locations().data());
        UUID volume = newest().origin().epoch().volume();
        try (KeyValueStore database = KeyValueStores.sealed(
                KeyValueStores.openRocksDb(trial.config.locations().metadata(), 64 << 20, false),
                trial.config.keys())) {
            ContainerRecords records = ContainerRecords.open(database);
            List<ContainerEntry> entries = new ArrayList<>();
            records.forEachEntry((container, entry) -> {
                if (entry.liveBytes() > 0) {
                    entries.add(entry);
                }
            });
            ContainerEntry entry = entries.get(0);
            StoredContainer stored = entry.stored();
            String pack = PackFormat.fileName(stored.pack());
            ContainerPlaces places = ContainerPlaces.correct(
                    database,
                    volume,
                    new PackFolder(
                            UnreadableByte.in(data, pack, stored.offset() + 100),
                            ContainerCipher.of(trial.config.keys())),
                    trial.config.locations().data());
            assertEquals(1, places.unreadablePacks());
            assertFalse(places.missing().isEmpty(), "its files are named all the same");
            assertEquals(entry, records.entry(entry.container()));
            // The control: bytes that can be read, and are none of the container.
            Path file = trial.config.locations().data().resolve(pack);
            byte[] bytes = Files.readAllBytes(file);
            Arrays.fill(bytes, (int) stored.offset(), (int) (stored.offset() + stored.bytes()), (byte) 0);
            Files.write(file, bytes);
            places = ContainerPlaces.correct(
                    database,
                    volume,
                    new PackFolder(data, ContainerCipher.of(trial.config.keys())),
                    trial.config.locations().data());
            assertEquals(0, places.unreadablePacks());
            ContainerEntry marked = Objects.requireNonNull(records.entry(entry.container()));
            assertTrue(marked.damagedSlots() > 0);
        }
    }

    /** A crash left the newest writing of a container as a footer without frames; an older one is whole. */
    @Test
    void theWritingWithAllChunksIsTakenAndNotTheNewest() throws IOException {
        Map<Path, byte[]> first;
        try (Volume volume = trial.open()) {
            trial.write(volume, "part", Arrays.copyOf(trial.files.get("old5"), 280_000));
            trial.remove(volume, "old5");
            volume.maintenance().backups().backUp(4);
            backedUp = new TreeMap<>(trial.files);
            assertTrue(BackupTrial.collect(volume).rewritten() > 0);
            volume.sync();
            first = packs();
            trial.write(volume, "smaller", Arrays.copyOf(trial.files.get("part"), 140_000));
            trial.remove(volume, "part");
            assertTrue(BackupTrial.collect(volume).rewritten() > 0);
        }
        // What the second collection gave back is there again; what it wrote has lost its frames.
        for (Map.Entry<Path, byte[]> pack : first.entrySet()) {
            Files.write(pack.getKey(), pack.getValue());
        }
        FileDirectory data = FileDirectory.open(trial.config.locations().data());
        int emptied = 0;
        for (long pack : PackReader.packs(data)) {
            emptied += emptyThirdGeneration(data, pack);
        }
        assertTrue(emptied > 0);
        MetadataReport report = restore();
        assertTrue(report.movedContainers() > 0, report::toString);
        assertEquals(List.of(), report.damagedFiles(), report::toString);
        // Of the garbage that the first collection took away, the counts still have the lengths.
        try (Volume volume = trial.open()) {
            for (Map.Entry<String, byte[]> file : backedUp.entrySet()) {
                assertArrayEquals(file.getValue(), GarbageTrial.read(volume, file.getKey()), file.getKey());
            }
        }
    }

    private Map<Path, byte[]> packs() throws IOException {
        Map<Path, byte[]> packs = new TreeMap<>();
        try (var list = Files.walk(trial.config.locations().data())) {
            for (Path file :
                    list.filter(name -> name.toString().endsWith(".pack")).toList()) {
                packs.put(file, Files.readAllBytes(file));
            }
        }
        return packs;
    }

    /** Removes the frames of what the second collection wrote. */
    private int emptyThirdGeneration(FileDirectory data, long pack) throws IOException {
        List<FoundContainer> found = new ArrayList<>();
        try (PackReader reader = new PackFolder(data, ContainerCipher.of(trial.config.keys())).open(pack)) {
            reader.forEach(offset -> 0, container -> {
                if (container.stored().writing().generation() == 3) {
                    found.add(container);
                }
            });
        }
        Path file = trial.config.locations().data().resolve(PackFormat.fileName(pack));
        byte[] bytes = Files.readAllBytes(file);
        for (FoundContainer container : found) {
            for (int frame = 0; frame < container.table().frames(); frame++) {
                int from =
                        (int) (container.stored().offset() + container.table().fileOffset(frame));
                Arrays.fill(bytes, from, from + container.table().fileLength(frame), (byte) 0);
            }
        }
        Files.write(file, bytes);
        return found.size();
    }

    @Test
    void aContainerInAnAbsentPackIsNotMarkedAndIsThereWhenThePackReturns() throws IOException {
        Map<Path, byte[]> packs = packs();
        Path pack = packs.keySet().iterator().next();
        Files.delete(pack);
        MetadataReport report = restore();
        assertTrue(report.missingContainers() > 0, report::toString);
        assertFalse(report.damagedFiles().isEmpty(), report::toString);
        Files.write(pack, packs.get(pack));
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, backedUp));
        }
    }

    @Test
    void aDamagedTableThatNoBackupHasIsNamedAndNothingChanges() throws IOException {
        Path table = trial.databaseFiles(".sst").get(0);
        byte[] right = Files.readAllBytes(table);
        trial.flipFirstBlock(table);
        PrivateFiles.deleteFolder(automatic());
        CorruptionException named = assertThrows(
                CorruptionException.class,
                () -> MetadataMend.mend(trial.config.locations(), trial.config.keys(), List.of(automatic()), UNSEEN));
        assertTrue(named.getMessage().contains(table.getFileName().toString()), named.getMessage());
        Files.write(table, right);
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, trial.files));
        }
    }

    /** Bits flipped in each kind of file: the mount works with the right bytes, or refuses; the restore works. */
    @Test
    void flippedBitsNeverGiveWrongBytesAndARestoreMendsThem() throws IOException {
        int refused = 0;
        for (String kind : List.of("MANIFEST", "CURRENT", ".sst", ".log", "OPTIONS", "ACKNOWLEDGED", "IDENTITY")) {
            for (int round = 0; round < TestSeed.rounds(1); round++) {
                List<Path> files = trial.databaseFiles(kind).stream()
                        .filter(file -> file.toFile().length() > 0)
                        .toList();
                if (files.isEmpty()) {
                    continue;
                }
                trial.flip(files.get(trial.random.nextInt(files.size())));
                try (Volume volume = trial.open()) {
                    for (Map.Entry<String, byte[]> file : backedUp.entrySet()) {
                        try {
                            assertArrayEquals(
                                    file.getValue(), GarbageTrial.read(volume, file.getKey()), () -> "seed " + seed);
                        } catch (IOException e) {
                            refused++;
                        }
                    }
                } catch (IOException e) {
                    refused++;
                }
                restore();
                try (Volume volume = trial.open()) {
                    assertEquals(List.of(), GarbageTrial.problems(volume, backedUp), () -> kind + ", seed " + seed);
                }
            }
        }
        assertTrue(refused > 0, "no flip had an effect");
    }
}
