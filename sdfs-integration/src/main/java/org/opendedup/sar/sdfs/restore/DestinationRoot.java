package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a tree's root becomes, held open from when it is made. Others may own the folder above, and put something else in its place:
 * that is noticed at the end, and nothing is done to it.
 *
 * <p>A folder is made in its place, or an empty one that is there is taken over; nobody else gets into it before the very last step.
 * What is no folder is made in the work folder, where nobody else gets either, and stays there until it has its bytes, owner and mode.
 * Then it gets its name: its owner could have written to it before it was given bits that set user ids, and what others may replace
 * is not safely made by its name.
 */
final class DestinationRoot implements Closeable {
    private static final int FOLDER = PosixCalls.O_RDONLY | PosixCalls.O_DIRECTORY;

    private final PosixCalls posix;
    private final Handle parent;
    private final WorkFolder work;
    private final byte[] name;
    private final String shown;
    /** Who writes, as the file system of the root knows it. */
    private int user;

    private @Nullable Handle handle;
    private long device;

    /**
     * @param parent the open folder above it; the caller closes it
     * @param work in that folder too; open by the time when something is made
     * @param name in the folder above
     */
    DestinationRoot(PosixCalls posix, Handle parent, WorkFolder work, byte[] name, String shown) {
        this.posix = posix;
        this.parent = parent;
        this.work = work;
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

    /** Makes it: a folder that only the user gets into, a file of the right length, a link or a node. */
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
        return work.folder().opened(WorkFolder.UNPUBLISHED, PosixCalls.O_PATH, shown);
    }

    /** Of what is no folder. */
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
        return folder.verified(opened -> take(opened, isNew));
    }

    private IOException replaced() {
        return new IOException("somebody has put something else in the place of " + shown + ", where others may write;"
                + " the restore does not go on");
    }

    /** Makes a folder the user's alone. What somebody puts into it until then is theirs: it is given back. */
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
        return new IOException(shown + " exists already; a restore makes it anew");
    }

    private Handle makeFile(long size) throws IOException {
        int flags = PosixCalls.O_WRONLY | PosixCalls.O_CREAT | PosixCalls.O_EXCL;
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
     * @param mayBeOpen whether that restore may have given it its owner and mode already
     * @return false if it is not there, or is something else
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
        if (opened == null && mayBeOpen && posix.errno() == PosixCalls.EACCES) {
            opened = above.at(found, PosixCalls.O_PATH, 0, shown);
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

    /** Whether an earlier restore has come to its very end. Of what is no folder; see {@link #publish}. */
    boolean isPublished(TreeEntry entry, long inode) throws IOException {
        FileStatus there = parent.statusOf(name, shown);
        return there != null && there.inode() == inode && there.type() == entry.type();
    }

    /**
     * Gives its name to what is no folder: it is complete and durable, and nothing is done to it any more. Whatever has that name
     * already is not replaced.
     */
    void publish() throws IOException {
        int from = work.folder().fd();
        byte[] unpublished = PosixCalls.terminated(WorkFolder.UNPUBLISHED);
        byte[] published = PosixCalls.terminated(name);
        int result = posix.functions().linkat(from, unpublished, parent.fd(), published, 0);
        if (result != 0 && NewEntry.isRefusal(posix.errno())) {
            // No hard links there; where there are some, this flag is often not known.
            result =
                    posix.functions().renameat2(from, unpublished, parent.fd(), published, PosixCalls.RENAME_NOREPLACE);
        }
        if (result != 0) {
            throw posix.errno() == PosixCalls.EEXIST ? existsAlready() : posix.failure("giving its name to", shown);
        }
        checkInPlace();
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
