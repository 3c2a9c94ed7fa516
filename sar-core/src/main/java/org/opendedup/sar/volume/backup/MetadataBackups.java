package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.backup.BackupFile;
import org.opendedup.sar.metadata.backup.BackupFolder;
import org.opendedup.sar.metadata.backup.BackupOrigin;
import org.opendedup.sar.metadata.backup.BackupPlace;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.posix.TimeStamps;
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

    /** Stage of the progress of a copy, whose units are not counted. */
    public static final String COPYING = "copying";

    private static final Logger log = LoggerFactory.getLogger(MetadataBackups.class);
    private static final String COLLECTIONS = "collections";

    private final Path metadataFolder;
    private final Path folder;
    private final UUID volume;
    private final MetadataStore metadata;
    private final InstantSource clock;
    private final @Nullable VolumeKeys keys;
    private final Closing.Step permission;
    private final Pace pace = new Pace();
    /** Held while a backup is made: for an hour, if it is large and made slowly. */
    private final ReentrantLock making = new ReentrantLock();

    private final AtomicLong failures = new AtomicLong();
    private volatile boolean closing;
    /** Whether somebody waits for the end of the backups. */
    private volatile boolean hurries;
    /** Why the last automatic backup could not be made; null if it was. */
    private volatile @Nullable String failure;

    private volatile Condition condition = Condition.WELL;
    private volatile DeviceOf devices = FileDevice::of;
    private volatile Holder holder = Cut::make;
    /** Number of the latest collection, which the disk may have had no room for. */
    private final AtomicLong noted = new AtomicLong();

    /** Finds the device of a folder. */
    @FunctionalInterface
    interface DeviceOf {
        Device of(Path folder) throws IOException;
    }

    /** Takes the metadata of one moment for a backup. */
    @FunctionalInterface
    public interface Cut {
        /** @return false if the metadata are in no database with files */
        boolean make() throws IOException;
    }

    /** Holds back what must not happen between the metadata of a backup and what it does afterwards. */
    @FunctionalInterface
    public interface Holder {
        /** Makes a cut, and returns what it returned. */
        boolean during(Cut cut) throws IOException;
    }

    /**
     * @param keys of an encrypted volume; null: it is not encrypted
     * @param permission throws while nothing may be written
     */
    public MetadataBackups(
            VolumeConfig.Locations locations,
            @Nullable VolumeKeys keys,
            MetadataStore metadata,
            InstantSource clock,
            Closing.Step permission) {
        this.keys = keys;
        this.permission = permission;
        metadataFolder = locations.metadata();
        folder = folderIn(locations.data());
        this.metadata = metadata;
        volume = metadata.header().volume();
        this.clock = clock;
        pace.setBytesPerSecond(BACKGROUND_BYTES_PER_SECOND);
    }

    /** Sets what is held back during each cut. To be called before the first backup. */
    public void holdBack(Holder during) {
        holder = during;
    }

    /** Replaces how the device of a folder is found: for tests. */
    void findDevices(DeviceOf found) {
        devices = found;
    }

    /**
     * Makes automatic backups as fast as the disk allows, also one that is being made, and does not read them back:
     * somebody waits for them.
     */
    public void hurry() {
        hurries = true;
        pace.setBytesPerSecond(Pace.UNLIMITED);
    }

    /** Returns the folder of the automatic backups of a volume. */
    public static Path folderIn(Path data) {
        return data.resolve(BackupPlace.AUTOMATIC);
    }

    public Path folder() {
        return folder;
    }

    /** Returns the automatic backups, the oldest first. */
    public List<Backup> list() throws IOException {
        return in(folder, volume, keys, BackupFolder::list, List.of());
    }

    /**
     * The automatic backups of a volume.
     *
     * @param backups the oldest first
     * @param findings what is wrong with them, each in a sentence without its full stop
     * @param collections number of garbage collections that were begun
     */
    public record Automatic(Path folder, List<Backup> backups, List<String> findings, long collections) {
        public Automatic {
            backups = List.copyOf(backups);
            findings = List.copyOf(findings);
        }

        /**
         * Returns whether garbage was collected after a backup was begun: chunks that only it refers to may be gone.
         */
        public boolean isOlderThanCollection(Backup backup) {
            return backup.origin().collections() != collections;
        }
    }

    /** Returns the number of garbage collections that were begun in a volume, as far as its data location says. */
    public static long collections(Path data) {
        return storedCollections(folderIn(data));
    }

    /** Returns the automatic backups of a volume, which need not be mounted. Their lists are not authenticated. */
    public static Automatic automatic(Path data) throws IOException {
        Path folder = folderIn(data);
        long collections = collections(data);
        return in(
                folder,
                volumeOf(data),
                null,
                backups -> new Automatic(folder, backups.list(), backups.findings(), collections),
                new Automatic(folder, List.of(), List.of(), collections));
    }

    /** Returns the automatic backups, of which this mount may know more than the disk. */
    public Automatic automatic() throws IOException {
        return new Automatic(folder, list(), look().findings(), collections());
    }

    /** Returns the id of the volume whose data location this is. */
    public static UUID volumeOf(Path data) throws IOException {
        UUID volume = VolumeIdentity.volume(FileDirectory.open(data));
        if (volume == null) {
            throw new IOException(
                    data + " does not say of which volume it is: its file volume.id is missing or damaged."
                            + " Is its disk not mounted?");
        }
        return volume;
    }

    @FunctionalInterface
    private interface Use<T> {
        T of(BackupFolder backups) throws IOException;
    }

    /** @param otherwise what is returned if there is no folder */
    private static <T> T in(Path folder, UUID volume, @Nullable VolumeKeys keys, Use<T> use, T otherwise)
            throws IOException {
        Optional<BackupPlace> found = BackupPlace.find(folder.toAbsolutePath(), volume);
        if (found.isEmpty()) {
            return otherwise;
        }
        try (BackupPlace place = found.get()) {
            return use.of(place.backups(keys));
        }
    }

    /**
     * Adds an automatic backup, and removes all but the newest {@code keep}. Copies slowly, and reads slowly what it
     * and the earlier ones share.
     *
     * @throws IOException if it fails; the volume and the earlier backups are not affected
     */
    public Backup backUp(int keep) throws IOException {
        making.lock();
        try {
            return backUpNow(keep);
        } finally {
            making.unlock();
        }
    }

    private Backup backUpNow(int keep) throws IOException {
        permission.run();
        try (BackupPlace place = BackupPlace.make(folder.toAbsolutePath(), volume)) {
            Copy copy = add(
                    place,
                    bytes -> {
                        requireOpen();
                        pace.await(bytes, () -> !closing);
                    },
                    bytes -> {
                        requireTime();
                        pace.await(bytes, () -> !closing && !hurries);
                    });
            place.backups(keys).keep(keep);
            failure = null;
            return copy.backup();
        } catch (IOException | RuntimeException e) {
            failures.incrementAndGet();
            failure = e instanceof FileSystemException || e.getMessage() == null ? e.toString() : e.getMessage();
            throw e;
        } finally {
            look();
        }
    }

    /**
     * Adds a backup to the volume's own folder in a folder of the caller's, as fast as possible, and reads it back.
     * Earlier backups there stay; they share tables. Nothing else in the caller's folder is touched.
     *
     * @throws IOException if it fails, or {@code target} cannot be trusted
     */
    public Copy backUpTo(Path target) throws IOException {
        return backUpTo(target, Progress.NONE);
    }

    /**
     * As {@link #backUpTo(Path)}.
     *
     * @param progress called with each part that is copied or read back, and while this waits for the end of another
     *     backup; may stop it: then nothing of the backup stays, unless it is complete and is being read back
     */
    public Copy backUpTo(Path target, Progress progress) throws IOException {
        BackupFolder.Steps steps = bytes -> {
            requireOpen();
            progress.at(COPYING, 0, 0);
        };
        awaitOthers(steps);
        try {
            return addTo(target, steps);
        } finally {
            making.unlock();
        }
    }

    private void awaitOthers(BackupFolder.Steps steps) throws IOException {
        Threads.acquire(making, "another backup of the metadata", () -> steps.copied(0));
    }

    private Copy addTo(Path target, BackupFolder.Steps steps) throws IOException {
        permission.run();
        if (Files.exists(target) && !Files.isDirectory(target)) {
            throw new NotDirectoryException(target.toString());
        }
        try (BackupPlace place = BackupPlace.make(BackupPlace.in(target.toAbsolutePath(), volume), volume)) {
            return add(place, steps, steps);
        }
    }

    /**
     * A backup that was made.
     *
     * @param folder the volume's own folder, which has it
     * @param mended files of the database whose copies there were damaged, and were made again
     */
    public record Copy(Backup backup, String folder, List<String> mended) {
        public Copy {
            mended = List.copyOf(mended);
        }
    }

    /** Makes copies in folders that somebody names, apart from the volume. */
    @FunctionalInterface
    public interface Copies {
        /** @throws IOException if the folder is not apart from the volume, or the copy fails */
        Copy copyTo(Path folder) throws IOException;
    }

    /** @param reading steps of reading back; what stops them at the end of a mount does not undo the backup */
    private Copy add(BackupPlace place, BackupFolder.Steps steps, BackupFolder.Steps reading) throws IOException {
        MetadataFolder.deleteCheckpoint(metadataFolder);
        Path checkpoint = metadataFolder.resolve(MetadataFolder.CHECKPOINT);
        noteCollections();
        BackupOrigin origin =
                new BackupOrigin(metadata.epochs().current(), TimeStamps.now(clock), metadata.changes(), collections());
        try {
            if (!holder.during(() -> metadata.checkpoint(checkpoint))) {
                throw new IOException("the metadata are not in a database with files; there is nothing to back up");
            }
            BackupFolder backups = place.backups(keys);
            FileDirectory database = FileDirectory.open(checkpoint);
            BackupFolder.TableCheck sound = table -> KeyValueStores.verifyTable(checkpoint.resolve(table));
            Device device = devices.of(place.path());
            DeviceSpaces.requireRoomForCopy(device, backups.newBytes(database));
            Backup made = backups.add(database, origin, sound, bytes -> {
                // Others write to the disk meanwhile.
                DeviceSpaces.requireRoomForCopy(device, 0);
                steps.copied(bytes);
            });
            return new Copy(made, place.toString(), readBack(backups, made, database, sound, reading));
        } catch (IOException e) {
            throw place.named(e);
        } finally {
            PrivateFiles.deleteFolder(checkpoint);
        }
    }

    private static List<String> readBack(
            BackupFolder backups,
            Backup made,
            FileDirectory database,
            BackupFolder.TableCheck sound,
            BackupFolder.Steps reading)
            throws IOException {
        try {
            List<String> mended = backups.readBack(made, database, sound, reading);
            if (!mended.isEmpty()) {
                log.warn("files of metadata backups in {} were damaged, and are copied again: {}", backups, mended);
            }
            return mended;
        } catch (OutOfTime e) {
            log.debug("backup {} of the metadata is not read back: the volume is being closed", made.number(), e);
            return List.of();
        }
    }

    /**
     * Reads all automatic backups from the disk. What is damaged is noted there, and copied again by the next backup.
     *
     * @param steps may wait, or stop it by an exception
     * @return what is wrong with the backups
     */
    public List<String> scrub(BackupFolder.Steps steps) throws IOException {
        var unused = in(folder, volume, keys, backups -> scrub(backups, steps), 0);
        return look().findings();
    }

    /** @return number of the files that were read */
    private int scrub(BackupFolder backups, BackupFolder.Steps steps) throws IOException {
        Set<BackupFile> files = new LinkedHashSet<>();
        backups.list().forEach(backup -> files.addAll(backup.files()));
        for (BackupFile file : files) {
            if (backups.find(file, steps) != null) {
                note(backups, file, steps);
            }
        }
        return files.size();
    }

    /** Backups are made and removed meanwhile: only under the lock it is sure that the file is what was read. */
    private void note(BackupFolder backups, BackupFile file, BackupFolder.Steps steps) throws IOException {
        awaitOthers(steps);
        try {
            CorruptionException damage = backups.findAndNote(file, BackupFolder.Steps.UNBOUND);
            if (damage != null) {
                log.error("a file of metadata backups is damaged: {}", damage.getMessage());
            }
        } finally {
            making.unlock();
        }
    }

    /**
     * How the automatic backups are.
     *
     * @param findings what is wrong with them, each in a sentence without its full stop
     * @param failure why the last one could not be made; null if it was made, or none was tried in this mount
     */
    public record Condition(List<String> findings, @Nullable String failure) {
        public Condition {
            findings = List.copyOf(findings);
        }

        /** Of backups that are well. */
        public static final Condition WELL = new Condition(List.of(), null);
    }

    /** Returns how the automatic backups were when they were looked at last; reads nothing. */
    public Condition condition() {
        return condition;
    }

    /** Looks how the automatic backups are, by their lists and the names of their files. */
    public Condition look() {
        List<String> findings;
        try {
            findings = in(folder, volume, keys, BackupFolder::findings, List.of());
        } catch (IOException | UncheckedIOException e) {
            findings = List.of("they cannot be read: " + e.getMessage());
        }
        condition = new Condition(findings, failure);
        return condition;
    }

    /** Returns whether all files of an automatic backup are there. */
    public boolean isWhole(Backup backup) throws IOException {
        return in(folder, volume, keys, backups -> backups.isWhole(backup), false);
    }

    private void requireOpen() throws InterruptedIOException {
        if (closing) {
            throw new InterruptedIOException("the volume is being closed");
        }
    }

    private void requireTime() throws OutOfTime {
        if (closing || hurries) {
            throw new OutOfTime();
        }
    }

    /** Ends the reading back of a backup that is complete. */
    private static final class OutOfTime extends InterruptedIOException {
        private static final long serialVersionUID = 1;
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
        return Math.max(noted.get(), storedCollections(folder));
    }

    private static long storedCollections(Path folder) {
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
        if (Files.isDirectory(location) && noted.get() > storedCollections(folder)) {
            try (BackupPlace place = BackupPlace.make(folder.toAbsolutePath(), volume)) {
                AtomicFile.write(place.path().resolve(COLLECTIONS), (noted.get() + "\n").getBytes(US_ASCII));
            }
        }
    }

    /** Stops a backup that is being made, and lets no other begin. */
    @Override
    public void close() {
        closing = true;
    }
}
