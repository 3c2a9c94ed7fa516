package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.GarbageTrial;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.DataLocations;

/** The database is lost, and all backups share a damaged table: what can be read of the newest one comes back. */
class SalvageOfBackupTest {
    private static final int FILES = 1500;

    @MemoryFolder
    private Path folder;

    private BackupTrial trial;
    private final Map<String, byte[]> files = new TreeMap<>();

    @BeforeEach
    void makeVolume() throws IOException {
        trial = new BackupTrial(folder, TestSeed.next());
        try (Volume volume = trial.open()) {
            for (int i = 0; i < FILES; i++) {
                byte[] bytes = trial.random(1 + trial.random.nextInt(3000));
                write(volume, "file-" + i, bytes);
                files.put("file-" + i, bytes);
            }
            volume.sync();
            volume.maintenance().backups().backUp(4);
            volume.maintenance().backups().backUp(4);
        }
        PrivateFiles.deleteFolder(trial.config.locations().metadata());
        Files.createDirectory(trial.config.locations().metadata());
    }

    private static void write(Volume volume, String name, byte[] bytes) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(1, 1))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        volume.close(file);
        volume.forget(inode, 1);
    }

    private Path automatic() {
        return MetadataBackups.folderIn(trial.config.locations().data());
    }

    private List<Backup> backups() throws IOException {
        return MetadataBackups.automatic(trial.config.locations().data()).backups();
    }

    private MetadataReport salvage() throws IOException {
        return MetadataSalvager.salvage(
                trial.config.locations(), trial.config.keys(), List.of(automatic()), (step, done, of) -> {});
    }

    /** Damages a block in the middle of the largest table of the newest backup, which the others have too. */
    private void damageSharedTable() throws IOException {
        BackupFile largest = backups().get(1).files().stream()
                .filter(file -> file.name().endsWith(".sst"))
                .max((one, other) -> Long.compare(one.bytes(), other.bytes()))
                .orElseThrow();
        assertTrue(backups().get(0).files().contains(largest), "it is shared");
        Path stored = automatic().resolve(largest.stored());
        byte[] bytes = Files.readAllBytes(stored);
        bytes[bytes.length / 2] ^= 1;
        Files.write(stored, bytes);
    }

    @Test
    void whatCanBeReadOfADamagedBackupComesBackWhenNothingElseIsLeft() throws IOException {
        damageSharedTable();
        for (Backup backup : backups()) {
            assertThrows(
                    CorruptionException.class,
                    () -> MetadataRestore.restore(trial.config.locations(), trial.config.keys(), automatic(), backup),
                    "the control: no backup can be restored");
        }
        MetadataReport report = salvage();
        assertFalse(report.lost().isEmpty(), report::toString);
        List<String> unreadable = new ArrayList<>();
        try (Volume volume = trial.open()) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                byte[] read;
                try {
                    read = GarbageTrial.read(volume, file.getKey());
                } catch (IOException e) {
                    unreadable.add(file.getKey());
                    continue;
                }
                // Of a file whose inode is lost, which the report tells as a range, the recipe may be lost too.
                if (read.length > 0) {
                    assertArrayEquals(file.getValue(), read, file.getKey());
                }
            }
        }
        assertTrue(unreadable.size() < FILES / 2, () -> unreadable.size() + " files are lost");
    }

    @Test
    void aWholeBackupIsToBeRestored() throws IOException {
        assertThrows(CorruptionException.class, this::salvage);
        MetadataRestore.restore(
                trial.config.locations(),
                trial.config.keys(),
                automatic(),
                backups().get(1));
        try (Volume volume = trial.open()) {
            assertEquals(List.of(), GarbageTrial.problems(volume, files));
        }
    }

    /** A container that is far newer than the metadata must not be read as what they have lost. */
    @Test
    void whatIsLostNeverBecomesAContainerOfThePacks() throws IOException {
        Backup backup = backups().get(1);
        DataLocations data = DataLocations.open(trial.config.locations());
        UUID volume = backup.origin().epoch().volume();
        BitSet first = new BitSet();
        first.set(0);
        for (boolean exists : new boolean[] {true, false}) {
            try (MetadataFolder metadata =
                    MetadataFolder.lock(trial.config.locations().metadata(), MetadataFolder.Steps.UNSEEN)) {
                Path database = metadata.newDatabase();
                Files.createDirectory(database);
                new BackupFolder(FileDirectory.open(automatic()), null)
                        .copyTo(backup, FileDirectory.open(database), BackupFolder.Steps.UNBOUND);
                Executable put = () -> MetadataRestore.putInPlace(
                        metadata,
                        database,
                        volume,
                        trial.config.locations(),
                        trial.config.keys(),
                        data,
                        Map.of(exists ? 1L : 1L << 20, first),
                        List.of(),
                        (step, done, of) -> {});
                if (exists) {
                    assertThrows(CorruptionException.class, put);
                } else {
                    assertDoesNotThrow(put, "the control");
                }
            }
        }
    }
}
