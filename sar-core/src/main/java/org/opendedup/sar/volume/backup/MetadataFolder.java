package org.opendedup.sar.volume.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.store.DeviceSpaces;

/**
 * The folder of a metadata database that is replaced by another one. The new database is made in the folder
 * {@value #NEW} in it; then the files of the old one are moved to a new folder {@value #ASIDE}N, and the new ones take
 * their places. All of it is on one file system, also if the metadata folder is a mount point. The file
 * {@code CURRENT}, without which no database is opened, goes first and comes last: after a crash the folder has the old
 * database, the new one, or none. In the last case, {@link #lock} finishes the replacement: a file among the new ones,
 * which is durable before the first move, says how far it was. Nothing of the old database is ever deleted.
 */
final class MetadataFolder implements AutoCloseable {
    /** Folder of the new database. */
    static final String NEW = "restoring";
    /** Folder with the files from which a salvage reads. */
    static final String SOURCE = "salvaging";
    /** Folder with the copy of a backup, for a salvage. */
    static final String OLDER = "salvaging-backup";
    /** Folder of the copy that a backup is made of; RocksDB ignores it. */
    static final String CHECKPOINT = "checkpoint";
    /** Beginning of the names of folders with old databases. */
    static final String ASIDE = "damaged-";

    /**
     * File in the new folder: the database there is complete, and the old files are being moved aside. It names the
     * folder for these.
     */
    static final String COMPLETE = "COMPLETE";
    /** Name of that file once the old files are aside, and the new ones are being moved to their places. */
    static final String CLEARED = "CLEARED";

    private static final String CURRENT = "CURRENT";
    private static final String LOCK = "ACKNOWLEDGED";
    /**
     * Files that belong to the folder, not to the database. The copy of a key header is one: set aside, it would keep
     * slots that are removed later. So is what says that no one may remove the volume.
     */
    private static final Set<String> STAYS =
            Set.of("ballast", "ballast.new", "volume.keys", "volume.keys.new", HeldUntil.NAME);

    /** Sees each step of a replacement; tests stop it there. */
    @FunctionalInterface
    interface Steps {
        Steps UNSEEN = () -> {};

        void step() throws IOException;
    }

    private final Path path;
    private final LockFile lock;
    private final Steps steps;
    private @Nullable Path finished;

    private MetadataFolder(Path path, LockFile lock, Steps steps) {
        this.path = path;
        this.lock = lock;
        this.steps = steps;
    }

    /**
     * Locks the folder. If a replacement was interrupted that left no database, finishes it.
     *
     * @throws IOException if the folder is missing, or its database is in use
     */
    static MetadataFolder lock(Path path, Steps steps) throws IOException {
        if (!Files.isDirectory(path)) {
            throw new NoSuchFileException(
                    path.toString(),
                    null,
                    "the metadata folder is missing; is a disk not mounted? If it is lost, make an"
                            + " empty folder there");
        }
        LockFile lock = LockFile.tryAcquire(path.resolve(LOCK))
                .orElseThrow(() -> new IOException("the metadata database in " + path + " is in use"));
        MetadataFolder folder = new MetadataFolder(path, lock, steps);
        try {
            folder.finish();
        } catch (IOException e) {
            folder.close();
            throw e;
        }
        return folder;
    }

    /** With {@code CURRENT} in its place, a mount may have changed the database since: the new one is not used. */
    private void finish() throws IOException {
        Directory folder = FileDirectory.open(path);
        boolean wasInterrupted = folder.exists(NEW + "/" + COMPLETE) || folder.exists(NEW + "/" + CLEARED);
        if (wasInterrupted && !folder.exists(CURRENT)) {
            finished = move(folder);
        }
    }

    /** Returns the folder with the old database of a replacement that {@link #lock} finished; null if it did not. */
    @Nullable
    Path finished() {
        return finished;
    }

    Path path() {
        return path;
    }

    /** Returns the folder for the new database, which does not exist: what was left of an earlier one is deleted. */
    Path newDatabase() throws IOException {
        removeLeftover(path);
        return path.resolve(NEW);
    }

    /**
     * As {@link #newDatabase()}.
     *
     * @param bytes about how large the new database will be
     * @throws org.opendedup.sar.common.NoSpaceException if the disk has no room for it besides what the volume needs
     */
    Path newDatabase(long bytes) throws IOException {
        Path folder = newDatabase();
        DeviceSpaces.requireRoomForCopy(FileDevice.of(path), bytes);
        return folder;
    }

    /** Returns the bytes of the database's files. */
    long bytes() throws IOException {
        long bytes = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
            for (Path file : files) {
                bytes += Files.isRegularFile(file)
                                && !STAYS.contains(file.getFileName().toString())
                        ? Files.size(file)
                        : 0;
            }
        }
        return bytes;
    }

    /** Deletes the new database after a failure, unless it is taking the place of the old one already. */
    void discard() throws IOException {
        Path folder = path.resolve(NEW);
        if (!Files.exists(folder.resolve(COMPLETE)) && !Files.exists(folder.resolve(CLEARED))) {
            removeLeftover(path);
        }
    }

    /**
     * Deletes what an interrupted replacement or backup left beside a database that is in its place.
     *
     * @param metadata the folder, whose database nobody is replacing
     */
    static void removeLeftover(Path metadata) throws IOException {
        for (String name : List.of(NEW, SOURCE, OLDER)) {
            PrivateFiles.deleteFolder(metadata.resolve(name));
        }
        deleteCheckpoint(metadata);
    }

    /** The copy of an interrupted backup holds the space of tables that were replaced since. */
    static void deleteCheckpoint(Path metadata) throws IOException {
        PrivateFiles.deleteFolder(metadata.resolve(CHECKPOINT));
        PrivateFiles.deleteFolder(metadata.resolve(CHECKPOINT + ".tmp"));
    }

    /**
     * Replaces the old database, if there is one, by the new one, which is closed.
     *
     * @return the folder that the old one is in now; null if there was none
     */
    @Nullable
    Path replace() throws IOException {
        Directory folder = FileDirectory.open(path);
        if (!folder.exists(NEW + "/" + CURRENT)) {
            throw new CorruptionException(path + "/" + NEW, -1, "a database", "none");
        }
        steps.step();
        AtomicFile.write(path.resolve(NEW).resolve(COMPLETE), aside().getBytes(US_ASCII));
        folder.sync();
        return move(folder);
    }

    private @Nullable Path move(Directory folder) throws IOException {
        Path marker = path.resolve(NEW).resolve(folder.exists(NEW + "/" + CLEARED) ? CLEARED : COMPLETE);
        String aside = Files.readString(marker, US_ASCII);
        if (marker.endsWith(COMPLETE)) {
            move(folder, CURRENT, aside + "/" + CURRENT);
            folder.sync();
            steps.step();
            for (String name : folder.list()) {
                if (!name.contains("/") && !STAYS.contains(name)) {
                    moveAside(folder, name, aside + "/" + name);
                }
            }
            folder.sync();
            move(folder, NEW + "/" + COMPLETE, NEW + "/" + CLEARED);
            folder.sync();
        }
        for (String name : folder.list()) {
            if (name.startsWith(NEW + "/") && !name.endsWith("/" + CURRENT) && !name.endsWith("/" + CLEARED)) {
                move(folder, name, name.substring(NEW.length() + 1));
            }
        }
        folder.sync();
        steps.step();
        move(folder, NEW + "/" + CURRENT, CURRENT);
        folder.sync();
        PrivateFiles.deleteFolder(path.resolve(NEW));
        return old(path.resolve(aside));
    }

    /** Returns the folder with the old database; null if it has only the file that was locked. */
    private static @Nullable Path old(Path aside) throws IOException {
        if (Files.isDirectory(aside)) {
            try (Stream<Path> files = Files.list(aside)) {
                if (files.anyMatch(file -> !file.endsWith(LOCK))) {
                    return aside;
                }
            }
        }
        PrivateFiles.deleteFolder(aside);
        return null;
    }

    /** A file that is aside already was made anew by the lock, after an interruption. */
    private void moveAside(Directory folder, String name, String to) throws IOException {
        if (folder.exists(to)) {
            folder.delete(name);
        } else {
            move(folder, name, to);
        }
    }

    private void move(Directory folder, String from, String to) throws IOException {
        if (folder.exists(from)) {
            steps.step();
            folder.rename(from, to);
        }
    }

    private String aside() {
        int number = 1;
        while (Files.exists(path.resolve(ASIDE + number))) {
            number++;
        }
        return String.format(Locale.ROOT, "%s%d", ASIDE, number);
    }

    @Override
    public void close() {
        lock.close();
    }
}
