package org.opendedup.sar.volume.backup;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.check.VolumeRepair;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.repair.LostRecords;
import org.opendedup.sar.metadata.repair.MetadataSalvage;
import org.opendedup.sar.metadata.repair.SalvageRepair;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.TimeStamps;
import org.opendedup.sar.volume.store.CheckFolder;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.LastBackingFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a new metadata database of what can be read of a damaged one, record by record, while the volume is not in use.
 * Tables of which a backup has a whole copy lose nothing. Then the records are checked and repaired as
 * {@link VolumeRepair} does, and the database is put in place as {@link MetadataRestore} does: the damaged one is kept,
 * and no garbage is collected until an administrator accepts the result, because records that are lost may refer to it.
 */
public final class MetadataSalvager {
    private static final long DATABASE_BYTES = 64 << 20;

    private static final Logger log = LoggerFactory.getLogger(MetadataSalvager.class);

    private MetadataSalvager() {}

    /**
     * Salvages the metadata of a volume.
     *
     * @param keys of an encrypted volume; null: it is not encrypted
     * @param backups folders with backups, in which copies of damaged tables are looked for
     * @return what was lost, and the files that cannot be read completely
     * @throws CorruptionException if too much is damaged; nothing is changed
     */
    public static MetadataReport salvage(
            VolumeConfig.Locations locations, @Nullable VolumeKeys keys, List<Path> backups, Progress progress)
            throws IOException {
        return salvage(locations, keys, backups, progress, MetadataFolder.Steps.UNSEEN);
    }

    static MetadataReport salvage(
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            List<Path> backups,
            Progress progress,
            MetadataFolder.Steps steps)
            throws IOException {
        DataLocations data = DataLocations.open(locations);
        try (MetadataFolder folder = MetadataFolder.lock(locations.metadata(), steps)) {
            List<BackupFolder> present = MetadataMend.present(backups, keys);
            Path target = folder.newDatabase(bytes(folder, present));
            Path source = folder.path().resolve(MetadataFolder.SOURCE);
            Path older = folder.path().resolve(MetadataFolder.OLDER);
            try {
                PrivateFiles.createFolders(source);
                MetadataMend.gather(folder, source, present, progress);
                PrivateFiles.createFolders(target);
                return salvage(
                        folder, source, () -> newest(present, older, keys), target, locations, keys, data, progress);
            } catch (IOException e) {
                folder.discard();
                throw e;
            } finally {
                PrivateFiles.deleteFolder(source);
                PrivateFiles.deleteFolder(older);
            }
        }
    }

    /** Returns about how large the new database will be. If the old one is lost, a backup tells it. */
    private static long bytes(MetadataFolder folder, List<BackupFolder> backups) throws IOException {
        long bytes = folder.bytes();
        for (BackupFolder stored : backups) {
            for (Backup backup : stored.newestFirst()) {
                bytes = Math.max(bytes, backup.bytes());
            }
        }
        return bytes;
    }

    /** Copies the newest backup that is whole, and opens it. */
    private static @Nullable KeyValueStore newest(List<BackupFolder> backups, Path copy, @Nullable VolumeKeys keys)
            throws IOException {
        for (BackupFolder stored : backups) {
            for (Backup backup : stored.newestFirst()) {
                try {
                    PrivateFiles.deleteFolder(copy);
                    PrivateFiles.createFolders(copy);
                    stored.copyTo(backup, FileDirectory.open(copy), BackupFolder.Steps.UNBOUND);
                    return KeyValueStores.openRocksDb(copy, DATABASE_BYTES, false, keys);
                } catch (CorruptionException e) {
                    log.warn("backup {} of the metadata is damaged: {}", backup.number(), e.getMessage());
                }
            }
        }
        return null;
    }

    private static MetadataReport salvage(
            MetadataFolder folder,
            Path source,
            MetadataSalvage.OlderMetadata older,
            Path target,
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            DataLocations data,
            Progress progress)
            throws IOException {
        UUID volume;
        LostRecords lost;
        Map<Long, BitSet> lostChunks = Map.of();
        try (KeyValueStore database = KeyValueStores.openRocksDb(target, DATABASE_BYTES, true, keys)) {
            long nowNs = TimeStamps.now(InstantSource.system());
            lost = MetadataSalvage.copy(source, database, older, nowNs, progress);
            volume = ContainerRecords.open(database).header().volume();
            repair(folder, database, volume, lost, nowNs, locations, keys, data, progress);
            if (ContainerRecords.open(database).counts(lost.container()) != null) {
                BitSet first = new BitSet();
                first.set(0);
                lostChunks = Map.of(lost.container(), first);
            }
        }
        PrivateFiles.deleteFolder(source);
        return MetadataRestore.putInPlace(
                folder, target, volume, locations, keys, data, lostChunks, lost.told(), progress);
    }

    private static void repair(
            MetadataFolder folder,
            KeyValueStore database,
            UUID volume,
            LostRecords lost,
            long nowNs,
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            DataLocations data,
            Progress progress)
            throws IOException {
        try (LastBackingFiles backing = LastBackingFiles.at(locations, volume);
                CheckFolder sorting = CheckFolder.make(folder.path())) {
            SalvageRepair repair = new SalvageRepair(database, lost, backing, nowNs);
            VolumeRepair.run(
                    new PackFolder(data, ContainerCipher.of(keys)),
                    database,
                    data.lastUsed(volume),
                    repair,
                    sorting.scratch(Scratch.MOST_MEMORY_BYTES, keys),
                    progress);
            repair.complete();
        }
    }
}
