package org.opendedup.sar.volume.care;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.check.VolumeRepair;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackFolder;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.LocationRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.repair.MetadataRepair;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.TimeStamps;
import org.opendedup.sar.volume.store.CheckFolder;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.LastBackingFiles;
import org.opendedup.sar.volume.store.VolumeLocations;

/**
 * Checks a volume that is not mounted, at its locations. The metadata database is locked meanwhile, so no mount can
 * begin. Neither the index nor the copies on the SSD are opened: both can be rebuilt. Of the backing files of raw files
 * only a repair asks.
 */
public final class OfflineCheck {
    /** Native memory for the metadata database, in bytes. */
    private static final long DATABASE_BYTES = 64 << 20;

    /**
     * What a repair did.
     *
     * @param rebuilt what it did to the container table
     * @param done a sentence for each other change
     * @param quarantines names of the files in the metadata location that have the records which it replaced
     */
    public record RepairReport(TableRebuild.Report rebuilt, List<String> done, List<String> quarantines) {}

    private final String volume;
    private final VolumeConfig.Locations locations;
    private final @Nullable VolumeKeys keys;
    private final InstantSource clock;
    private final Progress progress;

    /** Checks a volume with these settings. */
    public OfflineCheck(VolumeConfig config, Progress progress, InstantSource clock) {
        this(config.name(), config.locations(), config.keys(), progress, clock);
    }

    /**
     * @param volume its name, for the commands in the findings
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    public OfflineCheck(
            String volume,
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            Progress progress,
            InstantSource clock) {
        this.volume = volume;
        this.locations = locations;
        this.keys = keys;
        this.clock = clock;
        this.progress = progress;
    }

    /**
     * Checks the volume, and changes nothing.
     *
     * @throws IOException if it cannot be checked: it is in use, a location is missing or is another volume's
     */
    public StoredVolume.Report check() throws IOException {
        DataLocations data = data();
        KeyValueStore database =
                KeyValueStores.sealed(KeyValueStores.lookIntoRocksDb(locations.metadata(), DATABASE_BYTES), keys);
        try {
            var unused = lastUsed(data, database);
        } catch (IOException e) {
            database.close();
            throw e;
        }
        try (database;
                CheckFolder folder = CheckFolder.make(locations.metadata())) {
            return StoredVolume.unmounted(
                            packs(data), database, volume, folder.scratch(Scratch.MOST_MEMORY_BYTES, keys))
                    .check(progress);
        }
    }

    /** Makes the container table anew; see {@link TableRebuild}. */
    public TableRebuild.Report rebuildContainers() throws IOException {
        DataLocations data = data();
        try (KeyValueStore database = open()) {
            return VolumeRepair.rebuild(packs(data), database, lastUsed(data, database), progress);
        }
    }

    /**
     * Repairs what a check can mend without any byte of a file being given up: the container table, counts, totals,
     * links and names. Deletes no data; the records that it replaces are kept in a quarantine file in the metadata
     * location. If it is interrupted, call it again.
     *
     * @throws IOException if it is a volume of chunks, of which only the client has the references; nothing is changed
     */
    public RepairReport repair() throws IOException {
        DataLocations data = data();
        Path metadata = locations.metadata();
        try (KeyValueStore database = open();
                CheckFolder folder = CheckFolder.make(metadata);
                LastBackingFiles backing = LastBackingFiles.at(locations, identity(database))) {
            // By recipes, which a volume of chunks does not have, all its chunks would be garbage.
            ContainerRecords.open(database).header().require(MetadataHeader.Contents.FILES);
            MetadataRepair repair =
                    new MetadataRepair(database, FileDirectory.open(metadata), backing, TimeStamps.now(clock));
            TableRebuild.Report rebuilt = VolumeRepair.run(
                    packs(data),
                    database,
                    lastUsed(data, database),
                    repair,
                    folder.scratch(Scratch.MOST_MEMORY_BYTES, keys),
                    progress);
            return new RepairReport(rebuilt, repair.done(), repair.quarantines());
        }
    }

    private KeyValueStore open() throws IOException {
        return KeyValueStores.openRocksDb(locations.metadata(), DATABASE_BYTES, false, keys);
    }

    private static UUID identity(KeyValueStore database) throws IOException {
        return ContainerRecords.open(database).header().volume();
    }

    private PackFolder packs(DataLocations data) {
        return new PackFolder(data, ContainerCipher.of(keys));
    }

    private DataLocations data() throws IOException {
        VolumeLocations.requirePresent(locations);
        return DataLocations.open(locations);
    }

    /** Returns when the locations were last used, once it is known that they are those of the metadata. */
    private static Epoch lastUsed(DataLocations data, KeyValueStore database) throws IOException {
        data.requireAll(new LocationRecords(database).all());
        return data.lastUsed(identity(database));
    }
}
