package org.opendedup.sar.io;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A store of named files. A name is a relative path with {@code /} between its parts
 * ({@code "000000000f/000000000f0a.container"}); folders are made as needed. Safe for use by many threads.
 *
 * <p>Durability: bytes are durable after {@link Output#force()}; a creation, rename or deletion after {@link #sync()}.
 */
public interface Directory {
    /** Makes a new, empty file and opens it for appending; fails if the file exists. */
    Output create(String name) throws IOException;

    /**
     * As {@link #create}, of a file whose name no other file can have. So a place that cannot be asked for this name is
     * no reason to fail.
     */
    default Output createFresh(String name) throws IOException {
        return create(name);
    }

    /** Opens a file for reading; it may grow at the same time through an {@link Output}. */
    Input open(String name) throws IOException;

    /**
     * Opens a file for reading where it lasts; {@link #open} may read a copy that is nearer. To verify what is stored.
     */
    default Input openLasting(String name) throws IOException {
        return open(name);
    }

    /** Returns whether {@link #open} reads a copy of a file that lasts elsewhere. */
    default boolean isCopy(String name) throws IOException {
        return false;
    }

    /** Looks for files that are missing where they last, and begins to store those again of which there is a copy. */
    default void storeMissing() throws IOException {}

    /** Sets a listener, which any thread calls when a file of this directory is lost. It must not wait. */
    default void whenLost(Runnable toTell) {}

    boolean exists(String name) throws IOException;

    /** Returns a file's present length in bytes. */
    long length(String name) throws IOException;

    /** Renames atomically, replacing {@code to} if it exists. */
    void rename(String from, String to) throws IOException;

    void delete(String name) throws IOException;

    /**
     * Gives a file a further name; the first one may be gone afterwards, where a file has one only. Of several callers,
     * in any process and on any machine that has the file system mounted, one alone succeeds.
     *
     * @throws java.nio.file.FileAlreadyExistsException if a file has that name
     * @throws UnsupportedOperationException if the directory has nothing like it
     */
    default void link(String name, String further) throws IOException {
        throw new UnsupportedOperationException(this + " has no links");
    }

    /** Returns every file's name, sorted. A file that is made, renamed or deleted during the call may be missing. */
    List<String> list() throws IOException;

    /** A look at the name of a file. */
    @FunctionalInterface
    interface NameVisitor {
        void visit(String name) throws IOException;
    }

    /**
     * Visits what {@link #list} returns, in no order, and holds no name after its visit. The visitor may delete the
     * file.
     */
    default void forEach(NameVisitor visitor) throws IOException {
        for (String name : list()) {
            visitor.visit(name);
        }
    }

    /**
     * Returns the names of the files in this directory itself, sorted, as {@link #list} does. Reads no folder in it.
     */
    default List<String> names() throws IOException {
        return list().stream().filter(name -> name.indexOf('/') < 0).toList();
    }

    /**
     * Returns the names that are not less than {@code from}, sorted like those of {@link #list}. Reads no folder in
     * which there can be none.
     */
    default List<String> listFrom(String from) throws IOException {
        return list().stream().filter(name -> name.compareTo(from) >= 0).toList();
    }

    /**
     * Returns the names of the files and folders in a folder, without that of the folder, in no order; none if there is
     * no such folder.
     *
     * @param folder empty for this directory itself, else with a {@code /} at its end
     */
    default Collection<String> entries(String folder) throws IOException {
        return listFrom(folder).stream()
                .filter(name -> name.startsWith(folder))
                .map(name -> name.substring(folder.length()).replaceFirst("/.*", ""))
                .collect(Collectors.toSet());
    }

    /**
     * Gives back the space that is reserved after the end of a file: one that was closed without {@link Output#trim},
     * or whose process ended before. A crash may undo it. The file must not be open for appending: bytes appended
     * during the call may be lost.
     */
    default void trim(String name) throws IOException {}

    /**
     * Gives the space of ranges of a file back to the file system. The file's length does not change; the ranges read
     * as zeros afterwards. Durable when it returns. A crash during the call leaves each block of the ranges as the old
     * bytes or as zeros. Bytes outside the ranges are never changed.
     *
     * <p>The file may be open for appending; the ranges must then end at or before the {@link Output#position}. If it
     * is not, a range may reach beyond the end of the file, so that the last block is given back as well.
     *
     * <p>Ranges should begin and end at multiples of the file system's block size, 4096 bytes mostly: of a block that
     * is only partly in a range, that part becomes zeros, and the block stays allocated. Btrfs counts bytes that it
     * wrote as one piece (extent), or that {@link Output#reserve} reserved as one, as free only when the last byte of
     * that piece is given back.
     *
     * @return false if the file system cannot do this; nothing has changed then
     * @throws IOException if the file is missing or cannot be changed, or on an I/O error, naming the file; any of the
     *     blocks may be zeros then, until a crash or for good
     * @throws org.opendedup.sar.common.NoSpaceException if the file system has no space for its records of the change
     */
    default boolean release(String name, List<FileRange> ranges) throws IOException {
        return false;
    }

    /**
     * Returns whether {@link #release} gives back just what it is asked for. False if it can give back nothing, or only
     * more than that, as Btrfs does with whole extents: then only the deletion of a file surely gives space back.
     *
     * @param name a file, which is not changed
     */
    default boolean freesRanges(String name) throws IOException {
        return false;
    }

    /**
     * Returns the bytes that a file takes on the disk: without its holes, with space reserved for it and with bytes
     * that are not written yet. Where that is not known, returns the file's length.
     */
    default long allocatedBytes(String name) throws IOException {
        return length(name);
    }

    /**
     * Returns the share of a file that must be dead at least, so that it pays to write the rest to another file and to
     * delete this one: one half, with which no more is written than comes back. Above 1 if it does not pay now.
     *
     * @param name a file of which a part is alive
     */
    default double leastDeadShare(String name) throws IOException {
        return 0.5;
    }

    /**
     * Makes every earlier creation, rename and deletion durable. Costs nothing if there was none. A failure is thrown
     * once, to one caller; others that made files learn of it by {@link #checkName}.
     */
    void sync() throws IOException;

    /**
     * Checks after a {@link #sync} that the name of a file is durable.
     *
     * @throws IOException if a sync failed since the name was made: then no later one says anything about the name,
     *     because the system reports such a failure once. The file must be deleted, and its bytes written to another
     */
    default void checkName(String name) throws IOException {}

    /** Returns the bytes that this user can still write to the underlying file system. */
    long usableBytes() throws IOException;

    /**
     * Returns the directories that this one spreads its files over; only itself if it is one. The first has all files
     * that are not spread.
     */
    default List<Directory> parts() {
        return List.of(this);
    }

    /**
     * Returns whether a file that is being written should get more than what was begun in it; false if its place is
     * nearly full or is given up, and there is a better one for a new file.
     */
    default boolean takesMore(String name) {
        return true;
    }

    /**
     * Returns whether requests are answered at the same time, as an object store does. Who reads much here asks for it
     * by {@link Input#expect} before waiting for the first of it. A disk answers in the order of the requests, and
     * gains nothing.
     */
    default boolean answersAtOnce() {
        return requestCost().isPresent();
    }

    /**
     * Returns what a request costs, by what was learned up to now, where many are answered at the same time; else
     * nothing.
     */
    default Optional<RequestCost> requestCost() {
        return Optional.empty();
    }

    /** Returns where this directory is, as an administrator would find it; for messages. */
    @Override
    String toString();
}
