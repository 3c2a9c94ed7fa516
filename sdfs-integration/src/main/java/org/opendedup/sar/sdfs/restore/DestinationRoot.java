package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.FileStatus;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.Mounts;
import org.opendedup.sar.io.handle.Writer;

/**
 * The root of a restored tree at its destination, held open from when it is made. Other users may own the folder above
 * and replace the root; this is noticed at the end, and the replacement is not touched.
 *
 * <p>A folder is made in its place, or an existing empty one is used; no other user has access to it before the very
 * last step. A root that is not a folder is made in the work folder, where no other user has access either, and stays
 * there until its bytes, owner and mode are complete. Only then it gets its name. There are two reasons: if it had its
 * name earlier, its owner could write to it before the bits that set user ids are set; and an entry that other users
 * may replace cannot be made safely by its name.
 */
final class DestinationRoot implements Closeable {
    private static final int FOLDER = Libc.O_RDONLY | Libc.O_DIRECTORY;

    private final Libc posix;
    private final Handle parent;
    private final WorkFolder work;
    private final byte[] name;
    private final String shown;
    /** User id of the writer, as the file system of the root reports it. */
    private int user;

    private @Nullable Handle handle;
    private long device;

    /**
     * @param parent the open folder above it; the caller closes it
     * @param work work folder in the same folder; must be open when something is made
     * @param name name in the folder above
     */
    DestinationRoot(Libc posix, Handle parent, WorkFolder work, byte[] name, String shown) {
        this.posix = posix;
        this.parent = parent;
        this.work = work;
        this.name = name;
        this.shown = shown;
        user = posix.functions().geteuid();
    }

    /** Returns whether the place is free: nothing exists there, or an empty folder. */
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

    /** Makes the root: a folder that only the user can enter, a file of the right length, a link or a node. */
    void make(TreeEntry entry) throws IOException {
        if (entry.isDirectory()) {
            hold(makeFolder());
            return;
        }
        checkFree();
        work.removeUnpublished();
        hold(entry.isRegular() ? makeFile(entry.size()) : makeOther(entry));
    }

    private Handle makeOther(TreeEntry entry) throws IOException {
        if (NewEntry.make(posix, work.folder(), WorkFolder.UNPUBLISHED, entry) != 0) {
            throw posix.failure("making", shown);
        }
        return work.folder().opened(WorkFolder.UNPUBLISHED, Libc.O_PATH, shown);
    }

    /** Checks the place of a root that is not a folder. */
    private void checkFree() throws IOException {
        if (parent.statusOf(name, shown) != null) {
            throw existsAlready();
        }
    }

    private void hold(Handle made) throws IOException {
        handle = made;
        device = made.status().device();
    }

    private Handle makeFolder() throws IOException {
        boolean isNew = posix.functions().mkdirat(parent.fd(), Libc.terminated(name), 0700) == 0;
        if (!isNew && Libc.errno() != Errno.EEXIST) {
            throw posix.failure("making the folder", shown);
        }
        Handle folder = parent.at(name, FOLDER, 0, shown);
        if (folder == null) {
            throw Libc.errno() == Errno.ENOTDIR || Libc.errno() == Errno.ELOOP
                    ? replaced()
                    : posix.failure("opening", shown);
        }
        return folder.verified(opened -> take(opened, isNew));
    }

    private IOException replaced() {
        return new IOException("another process has replaced " + shown + ", where others may write; the restore ends");
    }

    /**
     * Restricts a folder to the user. If another user put something into it until then, the folder gets back its
     * earlier mode and owner.
     */
    private void take(Handle folder, boolean isNew) throws IOException {
        if (isNew && Mounts.id(folder) != Mounts.id(parent)) {
            throw replaced();
        }
        Mounts.checkTrusted(folder, posix.functions().geteuid());
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
        return new IOException(shown + " exists already; a restore must make it");
    }

    private Handle makeFile(long size) throws IOException {
        int flags = Libc.O_WRONLY | Libc.O_CREAT | Libc.O_EXCL;
        return work.folder().opened(WorkFolder.UNPUBLISHED, flags, 0600, shown).verified(file -> {
            file.removeAccessLists();
            if (posix.functions().ftruncate(file.fd(), size) != 0) {
                throw posix.failure("making room for", shown);
            }
        });
    }

    /**
     * Opens what an earlier restore has made.
     *
     * @param mayBeOpen whether that restore may have already set its owner and mode
     * @return false if it does not exist, or is something else
     */
    boolean reopen(TreeEntry entry, long inode, boolean mayBeOpen) throws IOException {
        Handle above = parent;
        byte[] found = name;
        if (!entry.isDirectory()) {
            checkFree();
            above = work.folder();
            found = WorkFolder.UNPUBLISHED;
        }
        Handle opened = above.at(found, flags(entry), 0, shown);
        if (opened == null && mayBeOpen && Libc.errno() == Errno.EACCES) {
            opened = above.at(found, Libc.O_PATH, 0, shown);
        }
        if (opened == null) {
            return false;
        }
        hold(opened);
        if (entry.isDirectory()) {
            Mounts.checkTrusted(opened, posix.functions().geteuid());
        }
        FileStatus status = opened.status();
        user = Writer.in(posix, entry.isDirectory() ? opened : above);
        boolean isOurs = !entry.isDirectory()
                || status.isWrittenOnlyBy(user)
                || mayBeOpen && (status.uid() == entry.uid() || status.uid() == user);
        return isOurs && status.inode() == inode && status.type() == entry.type();
    }

    /**
     * Returns whether an earlier restore finished completely. Only for a root that is not a folder; see
     * {@link #publish}.
     */
    boolean isPublished(TreeEntry entry, long inode) throws IOException {
        FileStatus there = parent.statusOf(name, shown);
        return there != null && there.inode() == inode && there.type() == entry.type();
    }

    /**
     * Publishes a root that is not a folder under its name. It is complete and durable, and is not changed afterwards.
     * An existing entry with that name is not replaced.
     */
    void publish() throws IOException {
        int from = work.folder().fd();
        byte[] unpublished = Libc.terminated(WorkFolder.UNPUBLISHED);
        byte[] published = Libc.terminated(name);
        int result = posix.functions().linkat(from, unpublished, parent.fd(), published, 0);
        if (result != 0 && NewEntry.isRefusal(Libc.errno())) {
            // No hard links there; file systems that have hard links often do not support this flag.
            result = posix.functions().renameat2(from, unpublished, parent.fd(), published, Libc.RENAME_NOREPLACE);
        }
        if (result != 0) {
            throw Libc.errno() == Errno.EEXIST ? existsAlready() : posix.failure("giving its name to", shown);
        }
        checkInPlace();
    }

    private static int flags(TreeEntry entry) {
        if (entry.isDirectory()) {
            return FOLDER;
        }
        return entry.isRegular() ? Libc.O_WRONLY | Libc.O_NONBLOCK : Libc.O_PATH;
    }

    /** Returns the open root; only after {@link #make} or {@link #reopen}. */
    Handle handle() {
        return Objects.requireNonNull(handle);
    }

    /** Returns the id of the user who writes, as the file system reports it. */
    int user() {
        return user;
    }

    /** Returns the device number of its file system. */
    long device() {
        return device;
    }

    /** Returns the path of an entry for messages. */
    String text(EntryLog entries, long number) throws IOException {
        return entries.text(shown, entries.read(number));
    }

    /** @throws IOException if another user has moved it away; what has its place now is not touched */
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
