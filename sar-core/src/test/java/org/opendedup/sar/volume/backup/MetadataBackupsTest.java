package org.opendedup.sar.volume.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.volume.Volume;

/** Backups of the metadata on a disk that becomes full, and beside collections. */
class MetadataBackupsTest {
    private static final long TOTAL = 1L << 40;
    /** Twice the reserve of 64 MiB. */
    private static final long KEPT = 128L << 20;

    private final long seed = TestSeed.next();

    @TempDir
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
            assertEquals(List.of(), files(backups.folder()));
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
            assertEquals(List.of(), BackupTrial.differences(volume, trial.files));
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
}
