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
import org.opendedup.sar.io.FileDirectory;

/**
 * What a restore needs beside its destination: a folder with the journal, and in it another one for what memory does not hold.
 * Both are their owner's alone. One that somebody else has made, has mounted, or can write to, is refused: its journal might say that
 * all is written, and its scratch files might be links. It is held open, so that nothing can be put in its place.
 */
final class WorkFolder implements Closeable {
    private static final int FOLDER = PosixCalls.O_RDONLY | PosixCalls.O_DIRECTORY;
    private static final String SUFFIX = ".sdfs-restore";
    /** What eCryptfs takes; all others take more. */
    private static final int MAX_NAME_BYTES = 143;

    private static final byte[] SCRATCH = "scratch".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] JOURNAL = "journal".getBytes(StandardCharsets.US_ASCII);
    /** A root that is no folder, until it is complete. */
    static final byte[] UNPUBLISHED = "root".getBytes(StandardCharsets.US_ASCII);

    private final PosixCalls posix;
    private final Handle parent;
    private final byte[] name;
    private final String shown;
    private final int user;
    private @Nullable Handle folder;
    private @Nullable Handle scratch;

    /**
     * @param parent the open folder above it; the caller closes it
     * @param name in that folder
     * @param shown its path for messages
     */
    WorkFolder(PosixCalls posix, Handle parent, byte[] name, String shown) {
        this.posix = posix;
        this.parent = parent;
        this.name = name;
        this.shown = shown;
        user = posix.functions().geteuid();
    }

    /** The name of the work folder of a destination: the destination's between others, or what stands for it where that is too long. */
    static String nameFor(String destination) {
        byte[] bytes = destination.getBytes(StandardCharsets.UTF_8);
        boolean isShort = bytes.length + SUFFIX.length() < MAX_NAME_BYTES;
        return "." + (isShort ? destination : UUID.nameUUIDFromBytes(bytes)) + SUFFIX;
    }

    /** Opens the one that an earlier restore has left; false if there is none. Refuses one that is not to be trusted. */
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
     * Whether a restore can have made it, which was ended before its journal was there. Another private folder of the user's may have been
     * moved there, and is not to be emptied.
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
            throw posix.errno() == PosixCalls.ENOTDIR || posix.errno() == PosixCalls.ELOOP
                    ? notTrusted(path)
                    : posix.failure("opening", path);
        }
        return opened.verified(handle -> {
            // It was made in the folder above: what is mounted on it shows an owner and a mode of its own.
            if (Mounts.id(handle) != Mounts.id(above)) {
                throw notTrusted(path);
            }
            if (!handle.status().isWrittenOnlyBy(Writer.in(posix, handle))) {
                throw notTrusted(path);
            }
            // What is made in it would have those of the folder above, and gets a mode that puts them into force.
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
        if (posix.functions().mkdirat(above.fd(), PosixCalls.terminated(child), 0700) != 0) {
            throw posix.failure("making the folder", path);
        }
        return openPrivate(above, child, path);
    }

    /** For what must not be reached by others; after {@link #open} or {@link #make}. */
    Handle folder() {
        return Objects.requireNonNull(folder);
    }

    /** Removes what an earlier restore has made of a root that is no folder. */
    void removeUnpublished() throws IOException {
        remove(folder(), UNPUBLISHED, 0, shown + "/root");
    }

    RestoreJournal journal() {
        return new RestoreJournal(folder().path().resolve("journal"), shown + "/journal");
    }

    /** An empty folder; what an earlier restore left there is of no use any more. */
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

    /** Makes everything of its file system durable, which is that of the folder above. */
    void syncFileSystem() throws IOException {
        boolean synced = folder().syncFileSystem();
        assert synced;
    }

    /** Deletes it with all its files, the journal last: until then the restore can be gone on with. */
    void delete() throws IOException {
        try (Handle left = scratch == null ? openScratch() : scratch) {
            scratch = null;
            if (left != null) {
                deleteFilesIn(left);
                remove(folder(), SCRATCH, PosixCalls.AT_REMOVEDIR, shown + "/scratch");
            }
        }
        removeUnpublished();
        deleteFilesIn(folder());
        remove(folder(), JOURNAL, 0, shown + "/journal");
        FileStatus there = parent.statusOf(name, shown);
        if (there != null && there.isSameFile(folder().status())) {
            remove(parent, name, PosixCalls.AT_REMOVEDIR, shown);
        }
    }

    private void remove(Handle above, byte[] child, int flags, String path) throws IOException {
        int result = posix.functions().unlinkat(above.fd(), PosixCalls.terminated(child), flags);
        if (result != 0 && posix.errno() != PosixCalls.ENOENT) {
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
