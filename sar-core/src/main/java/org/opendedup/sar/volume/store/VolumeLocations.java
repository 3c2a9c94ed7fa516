package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.TransferBuffers;
import org.opendedup.sar.metadata.KeyValueStore;
import org.opendedup.sar.metadata.KeyValueStores;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates and opens a volume's stores at its configured places on disk. */
public final class VolumeLocations {
    private static final Logger log = LoggerFactory.getLogger(VolumeLocations.class);

    private VolumeLocations() {}

    /** Creates the folders of a new volume. A folder that exists must be empty. */
    public static void create(VolumeConfig.Locations locations) throws IOException {
        List<Path> folders = new ArrayList<>(List.of(locations.data(), locations.metadata(), locations.hashDb()));
        if (locations.ssd() != null) {
            folders.add(locations.ssd());
        }
        for (Path folder : folders) {
            checkEmpty(folder);
        }
        for (Path folder : folders) {
            PrivateFiles.createFolders(folder);
        }
    }

    private static void checkEmpty(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            if (entries.iterator().hasNext()) {
                throw new FileAlreadyExistsException(
                        folder.toString(), null, "the folder is not empty; a new volume needs an empty place");
            }
        }
    }

    public static KeyValueStore createMetadata(VolumeConfig config) throws IOException {
        return KeyValueStores.openRocksDb(config.locations().metadata(), MemoryPlan.MIN_BUDGET_BYTES / 8, true);
    }

    /**
     * Opens the stores of a volume.
     *
     * @param ballasts the ballasts at the volume's locations
     */
    public static VolumeStores open(VolumeConfig config, Ballasts ballasts) throws IOException {
        VolumeConfig.Locations locations = config.locations();
        MemoryPlan plan = MemoryPlan.of(config);
        // A missing folder is never created here: an unplugged disk must not become an empty volume.
        for (Path folder : List.of(locations.data(), locations.metadata())) {
            if (!Files.isDirectory(folder)) {
                throw new NoSuchFileException(
                        folder.toString(), null, "the volume's data is not here; is a disk not mounted?");
            }
        }
        for (Path folder : List.of(locations.data(), locations.metadata())) {
            if (!Files.isWritable(folder)) {
                throw new AccessDeniedException(
                        folder.toString(),
                        null,
                        "the location is read-only; the volume cannot be recovered or written here");
            }
        }
        FileDirectory containers = FileDirectory.open(
                locations.data(), new TransferBuffers((int) (plan.transfers() / TransferBuffers.BUFFER_BYTES)));
        KeyValueStore metadata = KeyValueStores.openRocksDb(locations.metadata(), plan.metadataNative(), false);
        try {
            Path hashDb = locations.hashDb();
            ChunkIndex index = openIndex(hashDb, () -> openIndex(hashDb, plan), ballasts);
            return new VolumeStores(
                    containers,
                    metadata,
                    index,
                    InstantSource.system(),
                    SsdTier::open,
                    VolumeDevices.of(locations, ballasts));
        } catch (IOException | RuntimeException e) {
            metadata.close();
            throw e;
        }
    }

    interface IndexOpening {
        public ChunkIndex open() throws IOException;
    }

    /**
     * Opens the index. If it cannot be opened, whatever the reason, the volume works without one.
     *
     * @throws UnsupportedFormatException if a newer program wrote it; the volume must be mounted with that program
     */
    static ChunkIndex openIndex(Path folder, IndexOpening opening, Ballasts ballasts)
            throws UnsupportedFormatException {
        try {
            try {
                return opening.open();
            } catch (IOException e) {
                if (!Device.isFull(e)
                        || !ballasts.freeOn(VolumeDevices.ofIndex(folder), "open the fingerprint index")) {
                    throw e;
                }
                return opening.open();
            }
        } catch (UnsupportedFormatException e) {
            throw e;
        } catch (IOException e) {
            log.warn(
                    "the fingerprint index in {} can't be opened: "
                            + "duplicates are stored again until a mount opens it: {}",
                    folder,
                    e.getMessage());
            return ChunkIndexes.none();
        }
    }

    /**
     * Opens the index, or creates an empty one if it is missing or damaged: it can always be rebuilt from the
     * containers.
     */
    private static ChunkIndex openIndex(Path folder, MemoryPlan plan) throws IOException {
        long memory = plan.indexNative() + plan.indexHeap();
        if (!Files.isDirectory(folder)) {
            log.warn("the fingerprint index at {} is missing; it is rebuilt from the containers", folder);
            PrivateFiles.createFolders(folder);
        }
        try {
            return readable(ChunkIndexes.openRocksDb(folder, memory));
        } catch (CorruptionException e) {
            log.warn("the fingerprint index is damaged and is rebuilt from the containers: {}", e.getMessage());
            ChunkIndexes.destroy(folder);
            return ChunkIndexes.openRocksDb(folder, memory);
        }
    }

    /** Reads what every mount reads, because a damaged block is detected only when it is read. */
    private static ChunkIndex readable(ChunkIndex index) throws IOException {
        try {
            index.epoch();
            index.highestContainer();
            return index;
        } catch (IOException e) {
            index.close();
            throw e;
        }
    }
}
