package org.opendedup.sar.volume.backup;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.DamagedFiles;
import org.opendedup.sar.check.LostChunks;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.config.OtherHistory;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.DataLocations;

/**
 * Brings the metadata of a volume back from a backup, while the volume is not in use. In this order:
 *
 * <ol>
 *   <li>copy the backup's files beside the present database, and check each
 *   <li>correct its container table by the packs ({@link ContainerPlaces})
 *   <li>find the files that refer to chunks which are gone
 *   <li>begin a new epoch, so that the next mount knows that the locations are of another history
 *   <li>mark the data location, so that no collection gives back what only the lost metadata knew
 *   <li>move the present database aside, and the new one to its place
 * </ol>
 *
 * <p>A failure or a crash before the last step leaves everything as it was, but for the mark; one during the last step
 * leaves a volume that does not mount until the restore is run again. What was copied is deleted after a failure, and
 * by the next mount after a crash. Nothing in a pack is changed.
 */
public final class MetadataRestore {
    /** Native memory for the database while it is corrected, in bytes. */
    private static final long DATABASE_BYTES = 64 << 20;

    /** Heap memory for decoded records while files are checked, in bytes. */
    private static final long CACHE_BYTES = 16 << 20;

    private MetadataRestore() {}

    /**
     * Restores a backup.
     *
     * @param keys of an encrypted volume; null: it is not encrypted
     * @param backups the folder that has the backup
     * @throws CorruptionException if the backup is damaged; nothing is changed
     * @throws org.opendedup.sar.common.NoSpaceException if the metadata's disk has no room for a second database;
     *     nothing is changed
     * @throws IOException if the volume is in use, or the backup is of another volume
     */
    public static MetadataReport restore(
            VolumeConfig.Locations locations, @Nullable VolumeKeys keys, Path backups, Backup backup)
            throws IOException {
        return restore(locations, keys, backups, backup, MetadataFolder.Steps.UNSEEN);
    }

    static MetadataReport restore(
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            Path backups,
            Backup backup,
            MetadataFolder.Steps steps)
            throws IOException {
        DataLocations data = DataLocations.open(locations);
        UUID volume = backup.origin().epoch().volume();
        // Fails if these are another volume's data.
        var unused = data.lastUsed(volume);
        try (MetadataFolder folder = MetadataFolder.lock(locations.metadata(), steps)) {
            Path restored = folder.newDatabase(backup.bytes());
            try {
                PrivateFiles.createFolders(restored);
                new BackupFolder(FileDirectory.open(backups), keys)
                        .copyTo(backup, FileDirectory.open(restored), bytes -> steps.step());
                return putInPlace(
                        folder, restored, volume, locations, keys, data, Map.of(), List.of(), (step, done, of) -> {});
            } catch (IOException e) {
                folder.discard();
                throw e;
            }
        }
    }

    /**
     * What is lost refers to a container that must never exist. Metadata that are much older than the packs may have
     * chosen one that does: its chunks would be read as if they were what is lost.
     */
    private static void requireNoContainer(Map<Long, BitSet> lostChunks, ContainerPlaces places, Path database)
            throws CorruptionException {
        for (long container : lostChunks.keySet()) {
            if (container <= places.highestInPacks()) {
                throw new CorruptionException(
                        database.toString(),
                        -1,
                        "metadata after which fewer containers were written",
                        "container " + places.highestInPacks() + " in the packs, where " + container
                                + " must be free for what is lost. Nothing was changed");
            }
        }
    }

    /**
     * Deletes what an interrupted restore, salvage or backup left beside the database, which is in its place and open.
     */
    public static void removeLeftover(VolumeConfig.Locations locations) throws IOException {
        MetadataFolder.removeLeftover(locations.metadata());
    }

    /**
     * Puts a database in place that is older than the packs, or has lost records.
     *
     * @param lostChunks chunks that no container has, besides those that the packs lack
     * @param lost what the database has lost, for the report
     * @param progress may stop it; nothing is changed then
     */
    static MetadataReport putInPlace(
            MetadataFolder folder,
            Path database,
            UUID volume,
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            DataLocations data,
            Map<Long, BitSet> lostChunks,
            List<String> lost,
            Progress progress)
            throws IOException {
        ContainerPlaces places;
        try (KeyValueStore opened = KeyValueStores.openRocksDb(database, DATABASE_BYTES, false, keys)) {
            places = ContainerPlaces.correct(
                    opened, volume, new PackFolder(data, ContainerCipher.of(keys)), locations.data());
        }
        requireNoContainer(lostChunks, places, database);
        List<DamagedFile> damaged;
        long moreDamaged;
        try (MetadataStore metadata =
                MetadataStore.open(KeyValueStores.openRocksDb(database, DATABASE_BYTES, false, keys), CACHE_BYTES)) {
            if (!metadata.header().volume().equals(volume)) {
                throw new CorruptionException(
                        database.toString(),
                        -1,
                        "metadata of volume " + volume,
                        "those of " + metadata.header().volume());
            }
            LostChunks missing = new LostChunks();
            Map<Long, BitSet> lostSlots = new HashMap<>(places.missing());
            lostSlots.putAll(lostChunks);
            lostSlots.forEach((container, slots) -> missing.addSlots(0, container, slots));
            DamagedFiles files = new DamagedFiles(metadata, missing, progress, false);
            damaged = files.run().getOrDefault(0, List.of());
            moreDamaged = files.more().files();
            metadata.branch(places.firstUnknown());
            // Those of the time of the backup may be other ones.
            metadata.locations().replace(data.records());
            HeldUntil.note(folder.path(), metadata.snapshots().heldUntilMs());
        }
        List<String> told = new ArrayList<>(lost);
        if (places.unreadablePacks() > 0) {
            told.add("what could not be read of " + places.unreadablePacks()
                    + " packs: nothing of it was marked as lost, so look for the cause in the kernel's log, and scrub"
                    + " the volume when the disk can be read again");
        }
        OtherHistory.mark(data);
        Path aside = folder.replace();
        return new MetadataReport(
                aside, places.containers(), places.moved(), places.lost(), places.newer(), damaged, moreDamaged, told);
    }
}
