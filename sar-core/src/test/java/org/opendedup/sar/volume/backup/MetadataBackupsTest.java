package org.opendedup.sar.volume.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.volume.GarbageTrial;
import org.opendedup.sar.volume.Volume;

/** Backups of the metadata on a disk that becomes full, and beside collections. */
class MetadataBackupsTest {
    private static final long TOTAL = 1L << 40;
    /** Twice the reserve of 64 MiB. */
    private static final long KEPT = 128L << 20;

    private final long seed = TestSeed.next();

    @MemoryFolder
    private Path folder;

    private BackupTrial trial;

    @BeforeEach
    void makeVolume() throws IOException {
        trial = new BackupTrial(folder, seed);
        try (Volume volume = trial.open()) {
            trial.write(volume, "one", trial.random(900_000));
        }
    }

    /** A device that loses a part of its free bytes whenever these are read. */
    private static final class FillingDevice implements Device {
        private final long lost;
        private long free;

        FillingDevice(long free, long lost) {
            this.free = free;
            this.lost = lost;
        }

        @Override
        public long usableBytes() {
            long now = free;
            free -= lost;
            return now;
        }

        @Override
        public long totalBytes() {
            return TOTAL;
        }

        @Override
        public String toString() {
            return "a device that becomes full";
        }
    }

    private static List<String> files(Path backups) throws IOException {
        try (Stream<Path> all = Files.walk(backups)) {
            return all.filter(Files::isRegularFile)
                    .map(file -> backups.relativize(file).toString())
                    .toList();
        }
    }

    @Test
    void aBackupThatDoesNotFitIsRefusedBeforeItIsBegun() throws IOException {
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            backups.findDevices(path -> new FillingDevice(KEPT + 1000, 0));
            NoSpaceException full = assertThrows(NoSpaceException.class, () -> backups.backUp(4));
            assertTrue(full.getMessage().contains("a device that becomes full"), full.getMessage());
            assertEquals(List.of("SAR-METADATA-BACKUPS"), files(backups.folder()));
            assertEquals(1, backups.failures());
            // Control: with room it is made.
            backups.findDevices(path -> new FillingDevice(TOTAL, 0));
            assertEquals(1, backups.backUp(4).number());
        }
    }

    @Test
    void aBackupOnADiskThatOthersFillIsStoppedAndLeavesNothing() throws IOException {
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            Backup first = backups.backUp(4);
            List<String> before = files(backups.folder());
            trial.write(volume, "two", trial.random(900_000));
            backups.findDevices(path -> new FillingDevice(KEPT + (200 << 20), 100 << 20));
            assertThrows(NoSpaceException.class, () -> backups.backUp(4));
            assertEquals(List.of(first), backups.list());
            assertEquals(
                    before.stream().sorted().toList(),
                    files(backups.folder()).stream().sorted().toList());
        }
    }

    @Test
    void whatAKilledBackupLeftIsDeletedByTheNextMount() throws IOException {
        Path checkpoint = trial.config.locations().metadata().resolve("checkpoint");
        Files.createDirectory(checkpoint);
        Files.writeString(checkpoint.resolve("000001.sst"), "a table that was replaced");
        try (Volume volume = trial.open()) {
            assertFalse(Files.exists(checkpoint));
            assertEquals(List.of(), GarbageTrial.problems(volume, trial.files));
        }
    }

    @Test
    void aCollectionIsNotedAlsoBeforeTheFirstBackupAndIfItCannotBeWritten() throws IOException {
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            backups.collectionBegins();
            assertTrue(Files.exists(backups.folder().resolve("collections")));
            Backup whole = backups.backUp(4);
            assertFalse(backups.isOlderThanCollection(whole));
            // Nothing can be written there, as on a full disk.
            Path noted = backups.folder().resolve("collections");
            Files.delete(noted);
            Files.createDirectory(noted);
            Files.createFile(noted.resolve("in the way"));
            backups.collectionBegins();
            assertTrue(backups.isOlderThanCollection(whole));
            Files.delete(noted.resolve("in the way"));
            Files.delete(noted);
            assertFalse(backups.isOlderThanCollection(backups.backUp(4)));
            assertEquals("2", Files.readString(noted).strip());
        }
    }

    /** Returns a table that the automatic backups have, in their folder. */
    private static Path table(MetadataBackups backups) throws IOException {
        return backups.folder()
                .resolve(backups.list().get(0).files().stream()
                        .map(BackupFile::stored)
                        .filter(name -> name.endsWith(".sst"))
                        .findFirst()
                        .orElseThrow());
    }

    @Test
    void aSharedTableThatIsDamagedIsCopiedAgainByTheNextBackup() throws IOException {
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            backups.backUp(4);
            byte[] sound = Files.readAllBytes(table(backups));
            trial.flip(table(backups));
            backups.backUp(4);
            assertArrayEquals(sound, Files.readAllBytes(table(backups)));
            // The control: somebody waits for this one, so it is not read back.
            trial.flip(table(backups));
            backups.hurry();
            assertEquals(3, backups.backUp(4).number());
            assertFalse(Arrays.equals(sound, Files.readAllBytes(table(backups))));
        }
    }

    @Test
    void aScrubOfTheVolumeReadsTheBackups() throws IOException {
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            backups.backUp(4);
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            assertEquals(MetadataBackups.Condition.WELL, backups.condition(), "the control");
            trial.flip(table(backups));
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            assertEquals(1, backups.condition().findings().size());
            assertFalse(backups.isWhole(backups.list().get(0)));
            assertEquals(
                    1,
                    MetadataBackups.automatic(trial.config.locations().data())
                            .findings()
                            .size());
            backups.backUp(1);
            assertEquals(MetadataBackups.Condition.WELL, backups.condition());
        }
    }

    @Test
    void aScrubCanBeStoppedWhileItReadsTheBackups() throws IOException {
        try (Volume volume = trial.open()) {
            volume.maintenance().backups().backUp(4);
            var afterIndex = new AtomicInteger();
            assertThrows(
                    InterruptedIOException.class,
                    () -> volume.maintenance()
                            .scrub()
                            .run((totals, rest, next) ->
                                    next.phase() != ScrubPhase.INDEX || afterIndex.incrementAndGet() < 5));
            assertFalse(volume.maintenance().scrub().current().isComplete());
            assertTrue(volume.maintenance()
                    .scrub()
                    .run((totals, rest, next) -> true)
                    .isComplete());
        }
    }

    @Test
    void whatElseIsInTheFolderOfACopyIsNotTouched() throws IOException {
        Path target = folder.resolve("backup");
        Map<String, String> foreign = Map.of(
                "files/projects/thesis.tex", "the only copy",
                "tables/customers.csv", "customers",
                "000007.backup", "another program's",
                "other.txt", "other");
        for (Map.Entry<String, String> file : foreign.entrySet()) {
            Path path = target.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.getValue());
        }
        BackupTrial second = new BackupTrial(folder.resolve("second"), seed + 1);
        try (Volume volume = trial.open();
                Volume other = second.open()) {
            MetadataBackups.Copy copy = volume.maintenance().backups().backUpTo(target);
            assertEquals(1, copy.backup().number());
            assertEquals(target, Path.of(copy.folder()).getParent());
            assertEquals(
                    1, other.maintenance().backups().backUpTo(target).backup().number(), "each volume has its own");
            assertEquals(
                    2, volume.maintenance().backups().backUpTo(target).backup().number());
        }
        for (Map.Entry<String, String> file : foreign.entrySet()) {
            assertEquals(file.getValue(), Files.readString(target.resolve(file.getKey())));
        }
    }

    /** One bit of a shared table must not make a folder of copies useless for ever. */
    @Test
    void aCopyElsewhereMendsADamagedSharedTable() throws IOException {
        Path target = folder.resolve("backup");
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            Path own = Path.of(backups.backUpTo(target).folder());
            try (Stream<Path> all = Files.list(own)) {
                trial.flip(all.filter(file -> file.toString().endsWith(".sst"))
                        .findFirst()
                        .orElseThrow());
            }
            MetadataBackups.Copy second = backups.backUpTo(target);
            assertEquals(2, second.backup().number());
            assertEquals(1, second.mended().size());
            assertEquals(List.of(), backups.backUpTo(target).mended(), "the control");
        }
    }

    @Test
    void aCopyElsewhereThatIsStoppedLeavesNothing() throws IOException {
        Path target = folder.resolve("backup");
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            assertThrows(
                    InterruptedIOException.class,
                    () -> backups.backUpTo(target, (stage, done, of) -> {
                        throw new InterruptedIOException("stopped");
                    }));
            assertEquals(1, files(target).size(), "the mark of the folder");
            assertEquals(1, backups.backUpTo(target).backup().number());
        }
    }

    /** An automatic backup is made slowly. */
    @Test
    void aCopyElsewhereThatWaitsForABackupIsStopped() throws Exception {
        Path target = folder.resolve("backup");
        var begun = new CountDownLatch(1);
        var goesOn = new CountDownLatch(1);
        try (Volume volume = trial.open()) {
            MetadataBackups backups = volume.maintenance().backups();
            backups.holdBack(cut -> {
                begun.countDown();
                await(goesOn);
                return cut.make();
            });
            FutureTask<Backup> automatic = new FutureTask<>(() -> backups.backUp(4));
            new Thread(automatic).start();
            try {
                await(begun);
                assertThrows(
                        InterruptedIOException.class,
                        () -> backups.backUpTo(target, (stage, done, of) -> {
                            throw new InterruptedIOException("stopped");
                        }));
                assertFalse(automatic.isDone());
                assertFalse(Files.exists(target));
            } finally {
                goesOn.countDown();
            }
            assertEquals(1, automatic.get(1, TimeUnit.MINUTES).number());
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            assertTrue(latch.await(1, TimeUnit.MINUTES), "not within a minute");
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
