package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.FileStatus;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.Mounts;
import org.opendedup.sar.io.handle.Writer;

/**
 * The work folder of a restore, next to its destination: it has the journal, and a scratch folder for data that does
 * not fit in memory. Only their owner has access to both. A work folder that another user has made, has mounted, or can
 * write to, is refused: its journal might claim that all is written, and its scratch files might be links. It is held
 * open, so that it cannot be replaced.
 */
final class WorkFolder implements Closeable {
    private static final int FOLDER = Libc.O_RDONLY | Libc.O_DIRECTORY;
    private static final String SUFFIX = ".sdfs-restore";
    /** Longest name in bytes that eCryptfs accepts; all other file systems accept more. */
    private static final int MAX_NAME_BYTES = 143;

    private static final byte[] SCRATCH = "scratch".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] JOURNAL = "journal".getBytes(StandardCharsets.US_ASCII);
    /** Name of a root that is not a folder, until it is complete. */
    static final byte[] UNPUBLISHED = "root".getBytes(StandardCharsets.US_ASCII);

    private final Libc posix;
    private final Handle parent;
    private final byte[] name;
    private final String shown;
    private final int user;
    private @Nullable Handle folder;
    private @Nullable Handle scratch;

    /**
     * @param parent the open folder above it; the caller closes it
     * @param name name in that folder
     * @param shown its path for messages
     */
    WorkFolder(Libc posix, Handle parent, byte[] name, String shown) {
        this.posix = posix;
        this.parent = parent;
        this.name = name;
        this.shown = shown;
        user = posix.functions().geteuid();
    }

    /**
     * Returns the name of the work folder of a destination: a prefix, the destination's name, or its UUID if that name
     * is too long, and a suffix.
     */
    static String nameFor(String destination) {
        byte[] bytes = destination.getBytes(StandardCharsets.UTF_8);
        boolean isShort = bytes.length + SUFFIX.length() < MAX_NAME_BYTES;
        return "." + (isShort ? destination : UUID.nameUUIDFromBytes(bytes)) + SUFFIX;
    }

    /**
     * Opens the work folder that an earlier restore has left; returns false if there is none. Refuses one that cannot
     * be trusted.
     */
    boolean open() throws IOException {
        if (parent.statusOf(name, shown) == null) {
            return false;
        }
        folder = openPrivate(parent, name, shown);
        FileStatus journal = folder.statusOf(JOURNAL, shown + "/journal");
        if (journal == null) {
            checkUnused(folder);
        } else if (!journal.isRegular()) {
            throw new IOException(shown + "/journal is no file");
        }
        return true;
    }

    /**
     * Checks that a restore can have made the folder and was interrupted before its journal existed. Another private
     * folder of the user may have been moved there, and must not be emptied.
     */
    private void checkUnused(Handle opened) throws IOException {
        try (Stream<Path> inside = Files.list(opened.path())) {
            if (!inside.allMatch(file -> file.getFileName().toString().startsWith("journal."))) {
                throw notTrusted(shown);
            }
        }
    }

    private Handle openPrivate(Handle above, byte[] child, String path) throws IOException {
        Handle opened = above.at(child, FOLDER, 0, path);
        if (opened == null) {
            throw Libc.errno() == Errno.ENOTDIR || Libc.errno() == Errno.ELOOP
                    ? notTrusted(path)
                    : posix.failure("opening", path);
        }
        return opened.verified(handle -> {
            // It was made in the folder above. A mount on it would show another owner and mode.
            if (Mounts.id(handle) != Mounts.id(above)) {
                throw notTrusted(path);
            }
            if (!handle.status().isWrittenOnlyBy(Writer.in(posix, handle))) {
                throw notTrusted(path);
            }
            // Entries made in it would inherit the lists of the folder above, and their mode would make those
            // effective.
            handle.removeAccessLists();
        });
    }

    private IOException notTrusted(String path) {
        return new IOException(
                path + " is not a folder that a restore of user " + user + " has made: it must be that user's alone");
    }

    void make() throws IOException {
        folder = makePrivate(parent, name, shown);
        checkUnused(folder);
    }

    private Handle makePrivate(Handle above, byte[] child, String path) throws IOException {
        if (posix.functions().mkdirat(above.fd(), Libc.terminated(child), 0700) != 0) {
            throw posix.failure("making the folder", path);
        }
        return openPrivate(above, child, path);
    }

    /** Returns the folder, for entries that other users must not reach; only after {@link #open} or {@link #make}. */
    Handle folder() {
        return Objects.requireNonNull(folder);
    }

    /** Removes what an earlier restore has made of a root that is not a folder. */
    void removeUnpublished() throws IOException {
        remove(folder(), UNPUBLISHED, 0, shown + "/root");
    }

    RestoreJournal journal() {
        return new RestoreJournal(folder().path().resolve("journal"), shown + "/journal");
    }

    /** Returns an empty scratch folder; the files of an earlier restore there are no longer needed. */
    FileDirectory emptyScratch() throws IOException {
        Handle opened = openScratch();
        if (opened == null) {
            opened = makePrivate(folder(), SCRATCH, shown + "/scratch");
        }
        scratch = opened;
        deleteFilesIn(opened);
        return FileDirectory.open(opened.path());
    }

    private @Nullable Handle openScratch() throws IOException {
        String path = shown + "/scratch";
        return folder().statusOf(SCRATCH, path) == null ? null : openPrivate(folder(), SCRATCH, path);
    }

    /** Makes everything in its file system durable; the folder above is in the same file system. */
    void syncFileSystem() throws IOException {
        boolean synced = folder().syncFileSystem();
        assert synced;
    }

    /** Deletes the folder with all its files, the journal last: until then the restore can be resumed. */
    void delete() throws IOException {
        try (Handle left = scratch == null ? openScratch() : scratch) {
            scratch = null;
            if (left != null) {
                deleteFilesIn(left);
                remove(folder(), SCRATCH, Libc.AT_REMOVEDIR, shown + "/scratch");
            }
        }
        removeUnpublished();
        deleteFilesIn(folder());
        remove(folder(), JOURNAL, 0, shown + "/journal");
        FileStatus there = parent.statusOf(name, shown);
        if (there != null && there.isSameFile(folder().status())) {
            remove(parent, name, Libc.AT_REMOVEDIR, shown);
        }
    }

    private void remove(Handle above, byte[] child, int flags, String path) throws IOException {
        int result = posix.functions().unlinkat(above.fd(), Libc.terminated(child), flags);
        if (result != 0 && Libc.errno() != Errno.ENOENT) {
            throw posix.failure("removing", path);
        }
    }

    private static void deleteFilesIn(Handle above) throws IOException {
        List<Path> files;
        try (Stream<Path> inside = Files.list(above.path())) {
            files = inside.filter(
                            file -> !file.endsWith("journal") && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }

    @Override
    public String toString() {
        return shown;
    }

    @Override
    public void close() {
        if (scratch != null) {
            scratch.close();
        }
        if (folder != null) {
            folder.close();
        }
    }
}
