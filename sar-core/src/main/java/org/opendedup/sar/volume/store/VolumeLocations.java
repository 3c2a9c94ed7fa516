package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.copies.SsdBudget;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.ReadOnlyDirectory;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.io.TransferBuffers;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.remote.ShippedKeyValueStore;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.raw.FileRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.volume.config.DescriptorPlan;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates and opens a volume's stores at its configured places on disk. */
public final class VolumeLocations {
    private static final Logger log = LoggerFactory.getLogger(VolumeLocations.class);

    /** Time to open the metadata database. A sound one replays at most 64 MiB of logs, some seconds on a slow disk. */
    private static final Duration METADATA_LIMIT = Duration.ofMinutes(10);
    /** Time to open the fingerprint index, which has no log to replay: a second on a slow disk. */
    private static final Duration INDEX_LIMIT = Duration.ofSeconds(30);

    private VolumeLocations() {}

    /** Creates the folders of a new volume. A folder that exists must be empty. */
    public static void create(VolumeConfig.Locations locations) throws IOException {
        List<Path> folders = new ArrayList<>(locations.allData());
        folders.addAll(List.of(locations.metadata(), locations.hashDb()));
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

    /**
     * Makes a folder a data location of a volume that has others, durably; the volume uses it once its configuration
     * names it. The folder must be missing, or empty, or have been made so before and not used.
     *
     * @param first the first data location of the volume
     * @throws IOException if the folder is of use for something else, or there is no volume in {@code first}
     */
    public static void addFolder(Path first, Path folder) throws IOException {
        if (!Files.exists(folder.resolve(VolumeIdentity.NAME))) {
            checkEmpty(folder);
            Path above = folder.toAbsolutePath().getParent();
            PrivateFiles.createFolders(folder);
            // Without its name, a mount after a power cut would miss the location.
            for (Path made = above; made != null; made = made.getParent()) {
                AtomicFile.force(made);
            }
        }
        DataLocations.prepare(FileDirectory.open(first), FileDirectory.open(folder));
    }

    /** Makes an empty metadata database, of a volume with the id {@code volume}. */
    public static KeyValueStore createMetadata(VolumeConfig config, UUID volume) throws IOException {
        long memory = MemoryPlan.MIN_BUDGET_BYTES / 8;
        return config.locations().remote() == null
                ? KeyValueStores.openRocksDb(config.locations().metadata(), memory, true)
                : RemoteStores.create(StoreAccess.of(config), volume, memory);
    }

    /**
     * Opens the stores of a volume.
     *
     * @param ballasts the ballasts at the volume's locations
     */
    public static VolumeStores open(VolumeConfig config, Ballasts ballasts) throws IOException {
        VolumeConfig.Locations locations = config.locations();
        MemoryPlan plan = MemoryPlan.of(config);
        DataLocations containers;
        KeyValueStore metadata;
        Supplier<RemoteStatistics> statistics = null;
        LeaseKeeper lease = null;
        if (locations.remote() == null) {
            requirePresent(locations);
            requireWritable(locations);
            containers = containers(config, plan);
            metadata = openMetadata(
                    locations.metadata(),
                    () -> KeyValueStores.openRocksDb(locations.metadata(), plan.metadataNative(), false),
                    METADATA_LIMIT,
                    config.name());
        } else {
            RemoteStores remote = RemoteStores.open(StoreAccess.of(config), transfers(plan));
            ShippedKeyValueStore shipped = remote.openMetadata(plan.metadataNative());
            metadata = shipped;
            statistics = remote.statistics(shipped);
            lease = remote.lease();
            containers = DataLocations.of(remote.packs(), locations.data());
        }
        try {
            Path hashDb = locations.hashDb();
            long memory = plan.indexNative() + plan.indexHeap();
            SsdBudget budget = budget(config);
            PlacedIndexes indexes = new PlacedIndexes(config, memory, budget);
            IndexLocation location = new IndexLocation(
                    hashDb, config.index(), indexes, new TimeLimit(config.name() + "-index-open", INDEX_LIMIT));
            ChunkIndex index = new RenewableIndex(openIndex(hashDb, location::open, ballasts), location);
            return new VolumeStores(
                    containers,
                    metadata,
                    index,
                    KernelClock.machine(),
                    HotChunks.opener(budget, config.hash(), config.keys()),
                    rawFiles(config),
                    VolumeDevices.of(locations, containers, ballasts),
                    statistics,
                    lease);
        } catch (IOException | RuntimeException e) {
            metadata.close();
            throw e;
        }
    }

    /**
     * Opens the stores of a volume so that nothing of it is changed. Without its index, which only writers need, and
     * without its SSD's copies.
     *
     * @throws IOException also if a crash left what only {@link #open} can recover
     */
    public static VolumeStores openReadOnly(VolumeConfig config) throws IOException {
        VolumeConfig.Locations locations = config.locations();
        MemoryPlan plan = MemoryPlan.of(config);
        requirePresent(locations);
        requireWritable(locations);
        DataLocations containers = containers(config, plan).withDirectories(ReadOnlyDirectory::new);
        KeyValueStore metadata = openMetadata(
                locations.metadata(),
                () -> KeyValueStores.lookIntoRocksDb(locations.metadata(), plan.metadataNative()),
                METADATA_LIMIT,
                config.name());
        return new VolumeStores(
                containers,
                metadata,
                ChunkIndexes.none(),
                KernelClock.machine(),
                (location, timeline, settings, memory, counts, name) ->
                        HotChunks.open(null, timeline, settings, memory, counts, name),
                rawFiles(config),
                VolumeDevices.of(locations, containers, Ballasts.of(locations)));
    }

    /** Makes the folders of a volume in an object store that another machine has used so far. */
    public static void makeLocalFolders(VolumeConfig.Locations locations) throws IOException {
        if (locations.remote() != null) {
            for (Path folder : List.of(locations.data(), locations.metadata(), locations.hashDb())) {
                PrivateFiles.createFolders(folder);
            }
        }
    }

    private static DataLocations containers(VolumeConfig config, MemoryPlan plan) throws IOException {
        return DataLocations.open(config.locations(), transfers(plan));
    }

    private static TransferBuffers transfers(MemoryPlan plan) {
        return new TransferBuffers((int) (plan.transfers() / TransferBuffers.BUFFER_BYTES));
    }

    /** Returns the folders without which a volume is not opened. */
    private static List<Path> needed(VolumeConfig.Locations locations) {
        List<Path> needed = new ArrayList<>(locations.allData());
        needed.add(locations.metadata());
        return needed;
    }

    /**
     * Checks that the folders are there without which a volume is not opened. A missing one is never created: an
     * unplugged disk must not become an empty volume.
     *
     * @throws NoSuchFileException if one is missing; names it
     */
    public static void requirePresent(VolumeConfig.Locations locations) throws NoSuchFileException {
        for (Path folder : needed(locations)) {
            if (!Files.isDirectory(folder)) {
                throw new NoSuchFileException(
                        folder.toString(), null, "the volume's data is not here; is a disk not mounted?");
            }
        }
    }

    private static void requireWritable(VolumeConfig.Locations locations) throws AccessDeniedException {
        for (Path folder : needed(locations)) {
            if (!Files.isWritable(folder)) {
                throw new AccessDeniedException(
                        folder.toString(),
                        null,
                        "the location is read-only; the volume cannot be recovered or written here");
            }
        }
    }

    /** Returns the bound of the index and the copies of SAR together; null if there are no copies. */
    private static @Nullable SsdBudget budget(VolumeConfig config) {
        return config.locations().ssd() == null
                ? null
                : new SsdBudget(config.locations().hashDb());
    }

    private static RawFolder.@Nullable Opener rawFiles(VolumeConfig config) {
        Path location = config.locations().ssd();
        return location == null
                ? null
                : new RawFolder.Opener() {
                    @Override
                    public RawFolder open(UUID volume) throws IOException {
                        return FileRawFolder.open(location, volume);
                    }

                    @Override
                    public int mostOpenFiles() {
                        return DescriptorPlan.forRawFiles(config);
                    }
                };
    }

    /**
     * Opens the metadata database. A database that does not open in time refuses the mount, which would otherwise hang.
     *
     * @throws IOException if it cannot be opened, or not in time; the message says what to do then
     */
    static KeyValueStore openMetadata(Path folder, TimeLimit.Call<KeyValueStore> opening, Duration limit, String volume)
            throws IOException {
        try {
            return new TimeLimit(volume + "-metadata-open", limit)
                    .call("opening the metadata database in " + folder, opening, VolumeLocations::closeLate);
        } catch (TimeLimit.ExceededException e) {
            throw new IOException(
                    e.getMessage() + ": it is damaged, or its disk does not answer. Check the disk; then bring the last"
                            + " backup back with 'sdfs-check " + volume + " --restore-metadata'",
                    e);
        }
    }

    private static void closeLate(KeyValueStore metadata) {
        try {
            metadata.close();
        } catch (IOException e) {
            log.debug("a metadata database that opened too late", e);
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
                if (!Device.isFull(e) || !ballasts.freeOn(FileDevice.ofNearest(folder), "open the fingerprint index")) {
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
}
