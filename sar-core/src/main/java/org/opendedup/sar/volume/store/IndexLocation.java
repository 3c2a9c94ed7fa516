package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.TimeLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The location of the fingerprint index, and which database there is in use. A new volume has its database in the
 * folder of the location itself. A database that cannot be replaced in its place gets a successor in a folder
 * {@value #NEXT}N below: RocksDB may hang while it opens a damaged one, and the thread that hangs may go on at any time
 * and write to that folder. So its files are left alone until the process has ended. The database with the highest
 * number is in use; the next opening that succeeds at once deletes the others. For one thread at a time.
 */
final class IndexLocation {
    private static final Logger log = LoggerFactory.getLogger(IndexLocation.class);

    static final String NEXT = "index-";
    private static final Pattern NUMBERED = Pattern.compile(NEXT + "(\\d{1,9})");

    private final Path folder;
    private final IndexOpener opener;
    private final IndexClass kind;
    private final TimeLimit limit;
    /** Highest number that this process has used. */
    private int used;

    /** The database in use; null before the first one is open. */
    private volatile @Nullable Path inUse;

    /** @param kind class of the index that the volume has */
    IndexLocation(Path folder, IndexClass kind, IndexOpener opener, TimeLimit limit) {
        this.folder = folder;
        this.kind = kind;
        this.opener = opener;
        this.limit = limit;
    }

    /**
     * Opens the index, or makes an empty one if it is missing, damaged, or does not open in time: it can always be
     * rebuilt from the containers.
     *
     * @throws UnsupportedFormatException if a newer program wrote it
     * @throws IOException if no index can be opened or made here, or its disk does not answer in time
     */
    ChunkIndex open() throws IOException {
        Path database = inTime("looking for the fingerprint index in " + folder, this::find);
        try {
            used = Math.max(used, number(database));
            destroyOfOtherClass(database);
            ChunkIndex index = openInTime(database);
            deleteOthers(database);
            return index;
        } catch (CorruptionException e) {
            log.warn("the fingerprint index is damaged and is rebuilt from the containers: {}", e.getMessage());
            inTime("deleting the fingerprint index in " + database, () -> {
                ChunkIndexes.destroyAny(database);
                return database;
            });
            return openInTime(database);
        } catch (TimeLimit.ExceededException e) {
            Path next = next();
            log.warn(
                    "{}: the fingerprint index is damaged, or its disk does not answer. It is rebuilt from the"
                            + " containers in {}; the next mount deletes the old one",
                    e.getMessage(),
                    next);
            return makeIn(next);
        }
    }

    /** Makes room where the volume's file and the index differ: somebody has changed the class. */
    private void destroyOfOtherClass(Path database) throws IOException {
        inTime("looking for the class of the fingerprint index in " + database, () -> {
            Optional<IndexClass> found = ChunkIndexes.classIn(database).filter(other -> other != kind);
            if (found.isPresent()) {
                log.info(
                        "the fingerprint index is of class {}, and the volume's file says {}: it is rebuilt from the"
                                + " containers",
                        found.get().label(),
                        kind.label());
                ChunkIndexes.destroyAny(database);
            }
            return database;
        });
    }

    /** Runs a call whose result needs no closing if it comes too late. */
    private <T> T inTime(String what, TimeLimit.Call<T> call) throws IOException {
        return limit.call(what, call, late -> {});
    }

    private Path find() throws IOException {
        if (!Files.isDirectory(folder)) {
            log.warn("the fingerprint index at {} is missing; it is rebuilt from the containers", folder);
            PrivateFiles.createFolders(folder);
        }
        return current();
    }

    /**
     * Makes an empty index beside those that are there, which the process may still have open.
     *
     * @throws IOException if it cannot be made in time
     */
    ChunkIndex makeAnother() throws IOException {
        Path database = next();
        try {
            return makeIn(database);
        } catch (TimeLimit.ExceededException e) {
            // A thread hangs in that folder, and may go on.
            throw e;
        } catch (IOException e) {
            discard(database);
            throw e;
        }
    }

    /** Deletes what is left of a database that could not be made. */
    private void discard(Path database) {
        try {
            ChunkIndexes.destroyAny(database);
            Files.deleteIfExists(database);
            used = number(database) - 1;
        } catch (IOException e) {
            log.debug("an index that could not be made stays in {}", database, e);
        }
    }

    /** Returns the folder of the database in use. */
    Path current() throws IOException {
        int highest = highest();
        return highest == 0 ? folder : numbered(highest);
    }

    private ChunkIndex makeIn(Path database) throws IOException {
        used = number(database);
        inTime("making the folder " + database, () -> {
            PrivateFiles.createFolders(database);
            return database;
        });
        return openInTime(database);
    }

    private ChunkIndex openInTime(Path database) throws IOException {
        ChunkIndex opened = limit.call(
                "opening the fingerprint index in " + database, () -> readable(database), IndexLocation::closeLate);
        inUse = database;
        return opened;
    }

    private static void closeLate(ChunkIndex index) {
        try {
            index.close();
        } catch (IOException e) {
            log.debug("an index that opened too late", e);
        }
    }

    /**
     * Returns whether the files of the database in use were deleted, or a damaged block of it was met.
     *
     * @throws IOException if the disk does not answer in time
     */
    boolean isLost() throws IOException {
        Path database = inUse;
        return database == null
                || inTime("looking at the fingerprint index in " + database, () -> ChunkIndexes.isLost(kind, database));
    }

    /** Reads what every mount reads, because a damaged block is detected only when it is read. */
    private ChunkIndex readable(Path database) throws IOException {
        ChunkIndex index = opener.open(kind, database);
        try {
            index.epoch();
            index.highestContainer();
            return index;
        } catch (IOException e) {
            index.close();
            throw e;
        }
    }

    private Path numbered(int number) {
        return folder.resolve(String.format(Locale.ROOT, "%s%d", NEXT, number));
    }

    private Path next() throws IOException {
        int highest = inTime("looking for fingerprint indexes in " + folder, this::highest);
        return numbered(Math.max(used, highest) + 1);
    }

    /** Returns the highest number of a database in use; 0 if there is only the one in the folder itself. */
    private int highest() throws IOException {
        int highest = 0;
        for (Path database : numberedDatabases()) {
            highest = Math.max(highest, number(database));
        }
        return highest;
    }

    private List<Path> numberedDatabases() throws IOException {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries =
                    Files.newDirectoryStream(folder, entry -> number(entry) > 0 && Files.isDirectory(entry))) {
                entries.forEach(found::add);
            }
        }
        return found;
    }

    private static int number(Path entry) {
        Matcher matcher = NUMBERED.matcher(entry.getFileName().toString());
        return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
    }

    /**
     * Deletes what the database in use has replaced. A failure costs space only. Knows what to delete before it begins:
     * a thread that hangs and goes on later does not find a successor that was made meanwhile.
     */
    private void deleteOthers(Path database) {
        try {
            List<Path> others = inTime("looking for old fingerprint indexes in " + folder, this::numberedDatabases);
            inTime("deleting old fingerprint indexes in " + folder, () -> {
                for (Path other : others) {
                    if (!other.equals(database)) {
                        ChunkIndexes.destroyAny(other);
                        Files.deleteIfExists(other);
                    }
                }
                if (!database.equals(folder)) {
                    ChunkIndexes.destroyAny(folder);
                }
                opener.deleteOrphans(database);
                return database;
            });
        } catch (IOException e) {
            log.warn("an old fingerprint index in {} could not be deleted: {}", folder, e.getMessage());
        }
    }
}
