package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.ReplicaRecord.UnderWay;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.store.UnmountedStores;

/**
 * What a volume was in the middle of does not keep it closed for ever after its metadata were salvaged, and what is
 * held stays held.
 */
class SalvageOfUnfinishedTest {
    private static final SnapshotIdentity FOREIGN = new SnapshotIdentity(new UUID(1, 2), 3, 4);
    private static final int FILES = 40;

    @MemoryFolder
    private Path folder;

    private BackupTrial trial;

    @BeforeEach
    void makeVolume() throws IOException {
        trial = new BackupTrial(Files.createDirectory(folder.resolve("volume")), TestSeed.next());
        try (Volume volume = trial.open()) {
            for (int i = 0; i < FILES; i++) {
                trial.write(volume, "file" + i, trial.random(2000));
            }
            volume.snapshots().create("old", 0, false);
            for (int i = 0; i < FILES; i++) {
                trial.remove(volume, "file" + i);
                trial.write(volume, "file" + i, trial.random(3000));
            }
            volume.maintenance().backups().backUp(4);
        }
        trial.open().close(); // writes the log to tables
    }

    private MetadataReport salvage() throws IOException {
        return MetadataSalvager.salvage(
                trial.config.locations(),
                trial.config.keys(),
                List.of(MetadataBackups.folderIn(trial.config.locations().data())),
                (step, done, of) -> {});
    }

    private byte[] system(byte[] key) throws IOException {
        try (UnmountedStores stores = UnmountedStores.change(trial.config)) {
            return stores.metadata().get(Family.SYSTEM, key);
        }
    }

    private void putSystem(byte[] key, byte[] value) throws IOException {
        try (UnmountedStores stores = UnmountedStores.change(trial.config)) {
            KeyValueStore database = stores.metadata();
            try (Batch batch = database.batch()) {
                batch.put(Family.SYSTEM, key, value);
                batch.commit();
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Files.copy(path, to.resolve(from.relativize(path).toString()));
            }
        }
    }

    /** Each table is damaged in turn, here and in the backup: one of them has the versions that the snapshot needs. */
    @Test
    void aRollbackWhoseSnapshotIsLostDoesNotKeepTheVolumeClosed() throws IOException {
        try (Volume volume = trial.open()) {
            volume.rollback().begin("old", null);
        }
        Path place = folder.resolve("volume");
        Path saved = folder.resolve("saved");
        copy(place, saved);
        int lost = 0;
        int kept = 0;
        for (int table = 0; table < trial.databaseFiles(".sst").size(); table++) {
            PrivateFiles.deleteFolder(place);
            copy(saved, place);
            trial.flipFirstBlock(trial.databaseFiles(".sst").get(table));
            PrivateFiles.deleteFolder(
                    MetadataBackups.folderIn(trial.config.locations().data()));
            MetadataReport report;
            try {
                report = salvage();
            } catch (IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("describe the volume"), e.toString());
                continue;
            }
            boolean isEnded = system(SystemRecords.ROLLBACK) == null;
            lost += isEnded ? 1 : 0;
            kept += isEnded ? 0 : 1;
            assertEquals(
                    isEnded,
                    report.lost().stream().anyMatch(line -> line.contains("a rollback that was not finished")),
                    () -> report.lost().toString());
            try (Volume volume = trial.open()) {
                assertEquals(isEnded ? 0 : 1, volume.snapshots().list().size());
                assertEquals(
                        List.of(),
                        VolumeChecker.check(volume),
                        () -> report.lost().toString());
            }
        }
        assertTrue(lost > 0, "no damage met what the snapshot needs");
        assertTrue(kept > 0, "each damage met what the snapshot needs");
    }

    /** The control of the salvage: a rollback to a snapshot that is not there refuses, before it removes anything. */
    @Test
    void aRollbackToNoSnapshotChangesNothing() throws IOException {
        putSystem(SystemRecords.ROLLBACK, new RollbackRecord(77, false).encode());
        for (int i = 0; i < 2; i++) {
            PosixException refused = assertThrows(PosixException.class, trial::open);
            assertEquals(Reason.ESTALE, refused.reason());
        }
        putSystem(SystemRecords.ROLLBACK, new RollbackRecord(1, false).encode());
        try (Volume volume = trial.open()) {
            long inode = volume.lookup(Inode.ROOT, "file0".getBytes(UTF_8)).inode();
            assertEquals(2000, volume.attributes(inode).size());
            volume.forget(inode, 1);
        }
    }

    @Test
    void whatWasBeingReceivedIsGivenUp() throws IOException {
        SnapshotIdentity base = new SnapshotIdentity(new UUID(1, 2), 2, 4);
        putSystem(SystemRecords.REPLICA, new ReplicaRecord(base, new UnderWay(base, FOREIGN, 9, 0)).encode());
        PosixException before = assertThrows(PosixException.class, trial::open);
        assertEquals(Reason.EBUSY, before.reason());
        MetadataReport report = salvage();
        assertTrue(
                report.lost().toString().contains("--discard-changes"),
                report.lost().toString());
        assertEquals(new ReplicaRecord(base, null), ReplicaRecord.decode(system(SystemRecords.REPLICA)));
        trial.open().close();

        putSystem(SystemRecords.REPLICA, new ReplicaRecord(null, new UnderWay(null, FOREIGN, 9, 0)).encode());
        report = salvage();
        assertTrue(
                report.lost().toString().contains("into a new volume"),
                report.lost().toString());
        assertNull(system(SystemRecords.REPLICA));
        try (Volume volume = trial.open()) {
            assertFalse(volume.isReplica());
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    private void restoreNewest() throws IOException {
        List<Backup> all =
                MetadataBackups.automatic(trial.config.locations().data()).backups();
        MetadataRestore.restore(
                trial.config.locations(),
                trial.config.keys(),
                MetadataBackups.folderIn(trial.config.locations().data()),
                all.get(all.size() - 1));
    }

    /** Who removes a volume that is not mounted asks the file, and not the records. */
    @Test
    void thatASnapshotIsHeldIsNotedAfterEachWayToBringTheMetadataBack() throws IOException {
        Path metadata = trial.config.locations().metadata();
        long until = 4_000_000_000_000L;
        try (Volume volume = trial.open()) {
            volume.snapshots().create("held", until, false);
            volume.maintenance().backups().backUp(4);
        }
        assertEquals(until, HeldUntil.of(metadata));
        restoreNewest();
        assertEquals(until, HeldUntil.of(metadata), "after a restore");
        salvage();
        assertEquals(until, HeldUntil.of(metadata), "after a salvage");
        // The folder is lost: only the records of the backup know it.
        PrivateFiles.deleteFolder(metadata);
        PrivateFiles.createFolders(metadata);
        restoreNewest();
        assertEquals(until, HeldUntil.of(metadata), "after the loss of the folder");
        // Another machine, for which the folder is a new one.
        Files.delete(metadata.resolve(HeldUntil.NAME));
        trial.open().close();
        assertEquals(until, HeldUntil.of(metadata), "after a mount");
    }
}
