package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.check.CheckProgress;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.KeyValueStore;
import org.opendedup.sar.metadata.KeyValueStores;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;

/**
 * Checks a volume that is not mounted, at its locations. The metadata database is locked meanwhile, so no mount can
 * begin. Neither the index nor the SSD is opened: both can be rebuilt.
 */
public final class OfflineCheck {
    /** Native memory for the metadata database, in bytes. */
    private static final long DATABASE_BYTES = 64 << 20;

    private final VolumeConfig config;
    private final CheckProgress progress;

    public OfflineCheck(VolumeConfig config, CheckProgress progress) {
        this.config = config;
        this.progress = progress;
    }

    /**
     * Checks the volume, and changes nothing.
     *
     * @throws IOException if it cannot be checked: it is in use, a location is missing or is another volume's
     */
    public StoredVolume.Report check() throws IOException {
        Directory data = data();
        KeyValueStore database =
                KeyValueStores.lookIntoRocksDb(config.locations().metadata(), DATABASE_BYTES);
        try {
            VolumeIdentity.read(data, ContainerRecords.open(database).header().volume());
        } catch (IOException e) {
            database.close();
            throw e;
        }
        return StoredVolume.check(data, database, config.name(), progress);
    }

    /** Makes the container table anew; see {@link TableRebuild}. */
    public TableRebuild.Report rebuildContainers() throws IOException {
        Directory data = data();
        try (KeyValueStore database =
                KeyValueStores.openRocksDb(config.locations().metadata(), DATABASE_BYTES, false)) {
            ContainerRecords records = ContainerRecords.open(database);
            return new TableRebuild(
                            data,
                            records,
                            VolumeIdentity.read(data, records.header().volume()),
                            progress)
                    .run();
        }
    }

    private Directory data() throws IOException {
        VolumeConfig.Locations locations = config.locations();
        for (Path folder : List.of(locations.data(), locations.metadata())) {
            if (!Files.isDirectory(folder)) {
                throw new NoSuchFileException(
                        folder.toString(), null, "the volume's data is not here; is a disk not mounted?");
            }
        }
        return FileDirectory.open(locations.data());
    }
}
