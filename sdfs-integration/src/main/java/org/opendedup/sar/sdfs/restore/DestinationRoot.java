package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a tree's root becomes: made, or an empty folder that is there taken over, and held open from then on. Others may own the folder
 * above, and put something else in its place: that is noticed at the end, and nothing is done to it. Nobody else gets into it before
 * the very last.
 */
final class DestinationRoot implements Closeable {
    private static final int FOLDER = PosixCalls.O_RDONLY | PosixCalls.O_DIRECTORY;

    private final PosixCalls posix;
    private final Handle parent;
    private final byte[] name;
    private final String shown;
    /** Who writes, as the file system of the root knows it. */
    private int user;

    private @Nullable Handle handle;
    private long device;

    /**
     * @param parent the open folder above it; the caller closes it
     * @param name in that folder
     */
    DestinationRoot(PosixCalls posix, Handle parent, byte[] name, String shown) {
        this.posix = posix;
        this.parent = parent;
        this.name = name;
        this.shown = shown;
        user = posix.functions().geteuid();
    }

    /** Whether nothing is there, or an empty folder. */
    boolean isFree() throws IOException {
        FileStatus status = parent.statusOf(name, shown);
        if (status == null) {
            return true;
        }
        if (!status.isDirectory()) {
            return false;
        }
        try (Handle folder = parent.opened(name, FOLDER, shown)) {
            return isEmpty(folder);
        }
    }

    private static boolean isEmpty(Handle folder) throws IOException {
        try (Stream<Path> inside = Files.list(folder.path())) {
            return inside.findAny().isEmpty();
        }
    }

    /** Makes it: a folder that only the user gets into, an empty file, a link or a node. */
    void make(TreeEntry entry) throws IOException {
        Handle made;
        if (entry.isDirectory()) {
            made = makeFolder();
        } else if (entry.isRegular()) {
            made = makeFile(entry.size());
        } else {
            if (NewEntry.make(posix, parent, name, entry) != 0) {
                throw posix.failure("making", shown);
            }
            made = parent.opened(name, PosixCalls.O_PATH, shown);
        }
        hold(made);
    }

    private void hold(Handle made) throws IOException {
        handle = made;
        device = made.status().device();
    }

    private Handle makeFolder() throws IOException {
        boolean isNew = posix.functions().mkdirat(parent.fd(), PosixCalls.terminated(name), 0700) == 0;
        if (!isNew && posix.errno() != PosixCalls.EEXIST) {
            throw posix.failure("making the folder", shown);
        }
        Handle folder = parent.at(name, FOLDER, 0, shown);
        if (folder == null) {
            throw posix.errno() == PosixCalls.ENOTDIR || posix.errno() == PosixCalls.ELOOP
                    ? replaced()
                    : posix.failure("opening", shown);
        }
        try {
            take(folder, isNew);
            return folder;
        } catch (IOException e) {
            folder.close();
            throw e;
        }
    }

    private IOException replaced() {
        return new IOException("somebody has put something else in the place of " + shown + ", where others may write;"
                + " the restore does not go on");
    }

    /** Makes a folder the user's alone. What somebody puts into it until then is theirs: it is given back. */
    private void take(Handle folder, boolean isNew) throws IOException {
        FileStatus before = folder.status();
        if (!isEmpty(folder)) {
            throw existsAlready();
        }
        user = Writer.in(posix, folder);
        if (isNew && before.uid() != user) {
            throw replaced();
        }
        if (before.uid() != user && folder.changeOwner(user, -1) != 0) {
            throw new IOException(
                    shown + " is of user " + before.uid() + ", and user " + user + ", who writes, cannot take it over");
        }
        folder.removeAccessLists();
        folder.changeMode(0700);
        if (!folder.status().isWrittenOnlyBy(user)) {
            throw new IOException("others than user " + user + " can write to " + shown
                    + ", and its file system does not let that be changed; a restore does not write there");
        }
        if (!isEmpty(folder)) {
            folder.changeMode(before.mode() & ~FileStatus.TYPE);
            folder.changeOwner(before.uid(), -1);
            throw existsAlready();
        }
    }

    private IOException existsAlready() {
        return new IOException(shown + " exists already; a restore makes it anew");
    }

    private Handle makeFile(long size) throws IOException {
        Handle file = parent.at(name, PosixCalls.O_WRONLY | PosixCalls.O_CREAT | PosixCalls.O_EXCL, 0600, shown);
        if (file == null) {
            throw posix.errno() == PosixCalls.EEXIST ? existsAlready() : posix.failure("making", shown);
        }
        file.removeAccessLists();
        if (posix.functions().ftruncate(file.fd(), size) != 0) {
            IOException failure = posix.failure("making room for", shown);
            file.close();
            throw failure;
        }
        return file;
    }

    /**
     * Opens what an earlier restore has made.
     *
     * @param mayBeOpen whether that restore may have given it its owner and mode already
     * @return false if it is not there, or is something else
     */
    boolean reopen(TreeEntry entry, long inode, boolean mayBeOpen) throws IOException {
        Handle found = parent.at(name, flags(entry), 0, shown);
        if (found == null && mayBeOpen && posix.errno() == PosixCalls.EACCES) {
            found = parent.at(name, PosixCalls.O_PATH, 0, shown);
        }
        if (found == null) {
            return false;
        }
        FileStatus status = found.status();
        user = Writer.in(posix, entry.isDirectory() ? found : parent);
        boolean isPrivate =
                entry.isRegular() || entry.isDirectory() ? status.isWrittenOnlyBy(user) : status.uid() == user;
        boolean isGivenOn = mayBeOpen
                && (status.uid() == entry.uid() || status.uid() == user)
                && (entry.isDirectory() || status.links() == 1);
        if (status.inode() != inode || status.type() != entry.type() || !isPrivate && !isGivenOn) {
            found.close();
            return false;
        }
        hold(found);
        return true;
    }

    private static int flags(TreeEntry entry) {
        if (entry.isDirectory()) {
            return FOLDER;
        }
        return entry.isRegular() ? PosixCalls.O_WRONLY | PosixCalls.O_NONBLOCK : PosixCalls.O_PATH;
    }

    /** What is held open; after {@link #make} or {@link #reopen}. */
    Handle handle() {
        return Objects.requireNonNull(handle);
    }

    /** The user who writes, as the file system knows it. */
    int user() {
        return user;
    }

    /** Number of the file system that it lies in. */
    long device() {
        return device;
    }

    /** The path of an entry for messages. */
    String text(EntryLog entries, long number) throws IOException {
        return entries.text(shown, entries.read(number));
    }

    /** @throws IOException if somebody has moved it away: what is there now is left alone */
    void checkInPlace() throws IOException {
        FileStatus there = parent.statusOf(name, shown);
        if (there == null || !there.isSameFile(handle().status())) {
            throw replaced();
        }
    }

    @Override
    public String toString() {
        return shown;
    }

    @Override
    public void close() {
        if (handle != null) {
            handle.close();
        }
    }
}
