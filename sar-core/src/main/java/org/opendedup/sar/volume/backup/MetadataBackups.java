package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.KeyValueStores;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.backup.BackupOrigin;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Backs up the metadata of an open volume. The database is copied as it was at a moment (a checkpoint of RocksDB, whose
 * tables are hard links), and its files are copied from there; commits go on meanwhile. Everything that a backup refers
 * to was durable in the packs before: a commit forces containers before it writes metadata (docs/adr/0004).
 *
 * <p>Safe for use by many threads. One backup is made at a time.
 */
public final class MetadataBackups implements Closeable {
    /** Bytes a second that a backup in the background copies: an eighth of what a disk writes. */
    public static final long BACKGROUND_BYTES_PER_SECOND = 20_000_000;

    private static final Logger log = LoggerFactory.getLogger(MetadataBackups.class);
    /** Folder of the copy from which files are copied, in the metadata folder; RocksDB ignores it. */
    private static final String CHECKPOINT = "checkpoint";

    private static final String COLLECTIONS = "collections";

    private final Path metadataFolder;
    private final Path folder;
    private final MetadataStore metadata;
    private final InstantSource clock;
    private final Pace pace = new Pace();
    private final AtomicLong failures = new AtomicLong();
    private volatile boolean closing;
    private volatile DeviceOf devices = FileDevice::of;
    /** Number of the latest collection, which the disk may have had no room for. */
    private final AtomicLong noted = new AtomicLong();

    /** Finds the device of a folder. */
    @FunctionalInterface
    interface DeviceOf {
        Device of(Path folder) throws IOException;
    }

    public MetadataBackups(VolumeConfig.Locations locations, MetadataStore metadata, InstantSource clock) {
        metadataFolder = locations.metadata();
        folder = folderIn(locations.data());
        this.metadata = metadata;
        this.clock = clock;
        pace.setBytesPerSecond(BACKGROUND_BYTES_PER_SECOND);
        try {
            deleteCheckpoint();
        } catch (IOException e) {
            log.warn("what an interrupted backup left in {} is not deleted: {}", metadataFolder, e.toString());
        }
    }

    /** Replaces how the device of a folder is found: for tests. */
    void findDevices(DeviceOf found) {
        devices = found;
    }

    /** The checkpoint of a backup that was interrupted holds the space of tables that were replaced since. */
    private void deleteCheckpoint() throws IOException {
        MetadataFolder.delete(metadataFolder.resolve(CHECKPOINT));
        MetadataFolder.delete(metadataFolder.resolve(CHECKPOINT + ".tmp"));
    }

    /** Makes automatic backups as fast as the disk allows, also one that is being made: somebody waits for it. */
    public void hurry() {
        pace.setBytesPerSecond(Pace.UNLIMITED);
    }

    /** Returns the folder of the automatic backups of a volume. */
    public static Path folderIn(Path data) {
        return data.resolve(BackupFolder.NAME);
    }

    public Path folder() {
        return folder;
    }

    /** Returns the automatic backups, the oldest first. */
    public List<Backup> list() throws IOException {
        return list(folder);
    }

    /** Returns the backups in a folder, the oldest first; none if it does not exist. */
    public static List<Backup> list(Path folder) throws IOException {
        return Files.isDirectory(folder) ? new BackupFolder(FileDirectory.open(folder)).list() : List.of();
    }

    /**
     * Adds an automatic backup, and removes all but the newest {@code keep}. Copies slowly.
     *
     * @throws IOException if it fails; the volume and the earlier backups are not affected
     */
    public synchronized Backup backUp(int keep) throws IOException {
        try {
            PrivateFiles.createFolders(folder);
            Backup backup = add(folder, bytes -> {
                requireOpen();
                pace.await(bytes, () -> !closing);
            });
            new BackupFolder(FileDirectory.open(folder)).keep(keep);
            return backup;
        } catch (IOException e) {
            failures.incrementAndGet();
            throw e;
        }
    }

    /**
     * Adds a backup to a folder of the caller's, as fast as possible, and reads it back to verify it. Earlier backups
     * in that folder stay; they share tables.
     */
    public synchronized Backup backUpTo(Path target) throws IOException {
        if (Files.exists(target) && !Files.isDirectory(target)) {
            throw new NotDirectoryException(target.toString());
        }
        PrivateFiles.createFolders(target);
        Backup backup = add(target, bytes -> requireOpen());
        new BackupFolder(FileDirectory.open(target)).verify(backup, bytes -> requireOpen());
        return backup;
    }

    private Backup add(Path target, BackupFolder.Steps steps) throws IOException {
        Path checkpoint = metadataFolder.resolve(CHECKPOINT);
        deleteCheckpoint();
        noteCollections();
        BackupOrigin origin = new BackupOrigin(metadata.epochs().current(), nowNs(), metadata.changes(), collections());
        try {
            if (!metadata.checkpoint(checkpoint)) {
                throw new IOException("the metadata are not in a database with files; there is nothing to back up");
            }
            BackupFolder backups = new BackupFolder(FileDirectory.open(target));
            FileDirectory database = FileDirectory.open(checkpoint);
            Device device = devices.of(target);
            try {
                backups.removeLeftovers();
                DeviceSpaces.requireRoomForCopy(device, backups.newBytes(database));
                return backups.add(
                        database, origin, table -> KeyValueStores.verifyTable(checkpoint.resolve(table)), bytes -> {
                            // Others write to the disk meanwhile.
                            DeviceSpaces.requireRoomForCopy(device, 0);
                            steps.copied(bytes);
                        });
            } catch (IOException | RuntimeException e) {
                giveBack(backups, e);
                throw e;
            }
        } finally {
            MetadataFolder.delete(checkpoint);
        }
    }

    /** Removes what a backup that failed has copied: the disk may be full. */
    private static void giveBack(BackupFolder backups, Exception cause) {
        try {
            backups.removeLeftovers();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private long nowNs() {
        Instant now = clock.instant();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    }

    private void requireOpen() throws InterruptedIOException {
        if (closing) {
            throw new InterruptedIOException("the volume is being closed");
        }
    }

    /** Returns whether the metadata have changed since a backup was begun. */
    public boolean hasChangedSince(Backup backup) throws IOException {
        return metadata.changes() != backup.origin().changes()
                || !metadata.epochs().current().equals(backup.origin().epoch());
    }

    /** Returns whether garbage was collected after a backup was begun: chunks that only it refers to may be gone. */
    public boolean isOlderThanCollection(Backup backup) {
        return backup.origin().collections() != collections();
    }

    /** Returns the number of automatic backups that failed in this mount. */
    public long failures() {
        return failures.get();
    }

    private long collections() {
        return Math.max(noted.get(), storedCollections());
    }

    private long storedCollections() {
        try {
            Path file = folder.resolve(COLLECTIONS);
            return Files.exists(file)
                    ? Long.parseLong(Files.readString(file, US_ASCII).strip())
                    : 0;
        } catch (IOException | NumberFormatException e) {
            log.debug("the number of collections is not known", e);
            return 0;
        }
    }

    /** Notes durably that a collection begins: it may take away what only older backups refer to. Never fails. */
    public void collectionBegins() {
        noted.set(collections() + 1);
        try {
            noteCollections();
        } catch (IOException e) {
            log.warn(
                    "it could not be noted in {} that older metadata backups may refer to collected chunks; until the"
                            + " volume is unmounted they are still listed as older: {}",
                    folder,
                    e.getMessage());
        }
    }

    private void noteCollections() throws IOException {
        Path location = Objects.requireNonNull(folder.toAbsolutePath().getParent());
        if (Files.isDirectory(location) && noted.get() > storedCollections()) {
            PrivateFiles.createFolders(folder);
            AtomicFile.write(folder.resolve(COLLECTIONS), (noted.get() + "\n").getBytes(US_ASCII));
        }
    }

    /** Stops a backup that is being made, and lets no other begin. */
    @Override
    public void close() {
        closing = true;
    }
}
