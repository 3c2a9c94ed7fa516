package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.FileStatus;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.volume.posix.InodeState.Extended;

/**
 * The place that a tree is restored to. During the restore, only the owner has access to folders and files there;
 * {@link #finish} sets their original attributes, the root's last. Every operation uses an open file or folder, or a
 * name in an open folder, never a path. Safe for use by many threads.
 */
final class Destination implements Closeable {
    /** Files kept open, at most. The chunks of one container usually belong to few files. */
    private static final int MAX_OPEN = 128;

    private static final int BUFFER_BYTES = 256 << 10;
    private static final int SUPERUSER = 0;
    private static final int NANOS = 1_000_000_000;
    private static final int SET_USER_AND_GROUP_ID = 06000;
    private static final int WRITABLE_BY_OWNER = 0200;
    private static final byte[] CAPABILITY = "security.capability".getBytes(StandardCharsets.US_ASCII);
    private static final int PROBE_BYTES = 4096;
    private static final int NEW = Libc.O_WRONLY | Libc.O_CREAT | Libc.O_EXCL;
    private static final int WRITING = Libc.O_WRONLY | Libc.O_NONBLOCK;

    private final Libc posix;
    private final EntryLog entries;
    private final DestinationRoot root;
    private final RestoreProgress progress;
    private final String howToBeginAnew;

    /** Guarded by this, as are the open files and folders. */
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

    private final Map<Long, Handle> files = new LinkedHashMap<>(16, 0.75f, true);
    private final OpenFolders folders;

    /**
     * @param progress records what cannot be made or set
     * @param howToBeginAnew end of a message that the restore cannot go on
     */
    Destination(Libc posix, EntryLog entries, DestinationRoot root, RestoreProgress progress, String howToBeginAnew) {
        this.howToBeginAnew = howToBeginAnew;
        this.posix = posix;
        this.entries = entries;
        this.root = root;
        this.progress = progress;
        folders = new OpenFolders(posix, entries, root);
    }

    /** Returns the path of an entry for messages. */
    String text(TreeEntry entry) throws IOException {
        return entries.text(root.toString(), entry);
    }

    /**
     * Makes a folder, an empty file of the right length, a symbolic link, or a node. If the destination does not allow
     * a link or node, {@link #finish} retries it, and reports a failure.
     *
     * @return false, and reports it, if the destination does not allow this entry, but may allow others
     */
    synchronized boolean make(TreeEntry entry) throws IOException {
        if (entry.isRoot()) {
            root.make(entry);
            return true;
        }
        Handle folder = folders.get(entry.parent());
        byte[] name = NewEntry.name(entry);
        if (entry.isRegular()) {
            return makeFile(entry, folder, name);
        } else if (entry.isDirectory()) {
            if (posix.functions().mkdirat(folder.fd(), Libc.terminated(name), 0700) != 0) {
                return refused(entry, "making the folder");
            }
        } else if (NewEntry.make(posix, folder, name, entry) != 0 && !NewEntry.isRefusal(Libc.errno())) {
            return refused(entry, "making");
        }
        return true;
    }

    private boolean makeFile(TreeEntry entry, Handle folder, byte[] name) throws IOException {
        try (Handle file = folder.at(name, NEW, 0600, "")) {
            if (file == null) {
                return refused(entry, "making");
            }
            if (entry.size() == 0
                    || posix.functions().ftruncate(file.fd(), entry.size()) == 0
                    || refused(entry, "making room for")) {
                return true;
            }
        }
        if (posix.functions().unlinkat(folder.fd(), Libc.terminated(name), 0) != 0) {
            throw posix.failure("removing", text(entry));
        }
        return false;
    }

    /**
     * Reports a file or folder that the destination does not allow. Throws if that is no matter of this entry.
     *
     * @return false
     */
    private boolean refused(TreeEntry entry, String what) throws IOException {
        int errno = Libc.errno();
        boolean isOfEntry = isOfEntry(errno);
        Libc.setErrno(errno);
        if (!isOfEntry) {
            throw posix.failure(what, text(entry));
        }
        String why = text(entry) + (entry.isDirectory() ? ", with all that is in it" : "") + ": cannot be made there: "
                + posix.reason(errno);
        if (entry.isRegular() || entry.isDirectory()) {
            progress.missing(why);
        } else {
            progress.lostEntry(why);
        }
        return false;
    }

    private boolean isOfEntry(int errno) throws IOException {
        return switch (errno) {
            // A file system without upper and lower case has one name where the volume has two.
            case Errno.EFBIG, Errno.EEXIST -> true;
            case Errno.ENOSPC, Errno.EDQUOT -> hasRoom();
            default -> NewEntry.isRefusal(errno);
        };
    }

    /** Returns whether the destination takes another small file. */
    private boolean hasRoom() throws IOException {
        byte[] name = (".sdfs-restore-" + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
        Handle folder = root.handle();
        try (Handle probe = folder.at(name, NEW, 0600, "")) {
            if (probe == null) {
                return false;
            }
            boolean hasRoom = posix.functions().pwrite(probe.fd(), buffer.clear(), PROBE_BYTES, 0) == PROBE_BYTES;
            if (posix.functions().unlinkat(folder.fd(), Libc.terminated(name), 0) != 0) {
                throw posix.failure("removing a file from", root.toString());
            }
            return hasRoom;
        }
    }

    /**
     * Changes the length of a file. What is new of it is a hole.
     *
     * @return false, and reports it, if the file cannot be that long; also if it is not there
     */
    synchronized boolean setLength(long number, long length) throws IOException {
        Handle file = file(number);
        return file != null
                && (posix.functions().ftruncate(file.fd(), length) == 0
                        || refused(entries.read(number), "making room for"));
    }

    /** Makes all of a file a hole of that length, as {@link #setLength} does. */
    boolean clear(long number, long length) throws IOException {
        return setLength(number, 0) && setLength(number, length);
    }

    /**
     * Adds a second name to an entry that was made.
     *
     * @return false if the destination does not allow links, or did not allow the entry itself
     */
    synchronized boolean link(TreeEntry made, TreeEntry name) throws IOException {
        try (Handle first = folders.get(made.parent()).named(NewEntry.name(made), "")) {
            if (first == null) {
                return false;
            }
            if (first.status().type() != made.type()) {
                throw changed(made);
            }
            int result = first.link(folders.get(name.parent()), NewEntry.name(name));
            if (result == 0) {
                return true;
            }
            int errno = Libc.errno();
            if (!isOfEntry(errno)) {
                Libc.setErrno(errno);
                throw posix.failure("making the link", text(name));
            }
            return false;
        }
    }

    /** Returns whether an earlier restore made two names of one file. */
    synchronized boolean isLinked(TreeEntry made, TreeEntry name) throws IOException {
        FileStatus one = folders.get(made.parent()).statusOf(NewEntry.name(made), "");
        FileStatus other = folders.get(name.parent()).statusOf(NewEntry.name(name), "");
        return one != null && other != null && one.isSameFile(other);
    }

    private IOException changed(TreeEntry entry) throws IOException {
        return new IOException(text(entry) + " was changed since it was made");
    }

    /**
     * Looks for what an earlier restore made. Restricts a folder to its owner again.
     *
     * @return false if it is missing
     * @throws IOException if it is not what the earlier restore made
     */
    synchronized boolean isThere(TreeEntry entry) throws IOException {
        if (entry.isRoot()) {
            return true;
        }
        try (Handle found = folders.get(entry.parent()).named(NewEntry.name(entry), "")) {
            if (found == null) {
                return false;
            }
            FileStatus status = found.status();
            if (status.type() != entry.type() || entry.isDirectory() && !isTakenBack(found, status)) {
                throw new IOException(text(entry) + " was changed since it was restored; " + howToBeginAnew);
            }
            return true;
        }
    }

    /** Returns whether a file has the length that an earlier restore gave it, if it is there. */
    synchronized boolean hasLength(TreeEntry entry) throws IOException {
        if (entry.isRoot()) {
            return root.handle().status().size() == entry.size();
        }
        try (Handle found = folders.get(entry.parent()).named(NewEntry.name(entry), "")) {
            return found == null || found.status().size() == entry.size();
        }
    }

    private boolean isTakenBack(Handle folder, FileStatus status) throws IOException {
        if (!status.isPrivateTo(root.user())) {
            folder.changeOwner(root.user(), -1);
            folder.changeMode(0700);
        } else if ((status.mode() & 0700) != 0700) {
            folder.changeMode(0700);
        }
        return folder.status().isWrittenOnlyBy(root.user());
    }

    /** Writes bytes of a file, if it is there. */
    synchronized void write(long number, long offset, byte[] data, int from, int length) throws IOException {
        Handle file = file(number);
        if (file == null) {
            return;
        }
        int fd = file.fd();
        for (int done = 0; done < length; ) {
            int count = Math.min(BUFFER_BYTES, length - done);
            buffer.clear();
            buffer.put(data, from + done, count);
            writeBuffer(fd, number, offset + done, count);
            done += count;
        }
    }

    private void writeBuffer(int fd, long number, long offset, int count) throws IOException {
        for (int done = 0; done < count; ) {
            long written = posix.functions().pwrite(fd, buffer.position(done), count - done, offset + done);
            if (written <= 0) {
                throw posix.failure("writing to", text(entries.read(number)));
            }
            done += (int) written;
        }
    }

    /** Returns a file that was made; null if it does not exist. */
    private @Nullable Handle file(long number) throws IOException {
        if (number == EntryLog.ROOT) {
            return root.handle();
        }
        Handle known = files.get(number);
        if (known != null) {
            return known;
        }
        if (files.size() == MAX_OPEN) {
            Map.Entry<Long, Handle> oldest = files.entrySet().iterator().next();
            oldest.getValue().close();
            files.remove(oldest.getKey());
        }
        Handle file = openFile(entries.read(number));
        if (file != null) {
            files.put(number, file);
        }
        return file;
    }

    /** Opens a file that was made; null if it does not exist. */
    private @Nullable Handle openFile(TreeEntry entry) throws IOException {
        Handle folder = folders.get(entry.parent());
        byte[] name = NewEntry.name(entry);
        Handle file = folder.at(name, WRITING, 0, "");
        if (file == null && Libc.errno() == Errno.EACCES) {
            // An earlier restore has already set its mode.
            try (Handle found = folder.named(name, "")) {
                if (found != null && found.status().isRegular()) {
                    found.changeMode(0600);
                }
            }
            file = folder.at(name, WRITING, 0, "");
        }
        if (file == null && !Libc.isAbsence()) {
            throw posix.failure("opening", text(entry));
        }
        if (file == null) {
            return null;
        }
        return file.verified(opened -> {
            if (!opened.status().isRegular()) {
                throw changed(entry);
            }
        });
    }

    /**
     * Sets the owner, mode, extended attributes and times of an entry. Folders follow after their entries, and the root
     * after all others: from then on other users have access. Reports what the file system or this user's rights do not
     * allow. If the owner cannot be set, the bits that set user and group ids and capabilities are not set either.
     */
    synchronized void finish(long number, TreeEntry entry) throws IOException {
        if (entry.isRoot()) {
            if (entry.isDirectory()) {
                root.checkInPlace();
            }
            finish(entry, root.handle());
        } else if (entry.isDirectory()) {
            finish(entry, folders.get(number));
            folders.release(number);
        } else if (entry.isRegular()) {
            finishFile(number, entry);
        } else {
            finishOther(entry);
        }
    }

    private void finishFile(long number, TreeEntry entry) throws IOException {
        Handle known = files.remove(number);
        try (Handle file = known == null ? openFile(entry) : known) {
            if (file != null) {
                finish(entry, file);
            } else if (!entry.isLinked()) {
                progress.missing(text(entry) + ": was removed since it was made");
            }
            // Else it could not be made, or was removed from the volume before its bytes were found.
        }
    }

    private void finishOther(TreeEntry entry) throws IOException {
        Handle folder = folders.get(entry.parent());
        byte[] name = NewEntry.name(entry);
        Handle found = folder.named(name, "");
        if (found == null && NewEntry.make(posix, folder, name, entry) != 0) {
            int errno = Libc.errno();
            if (!NewEntry.isRefusal(errno)) {
                throw posix.failure("making", text(entry));
            }
            progress.lostEntry(text(entry) + ": cannot be made there: " + posix.reason(errno));
            return;
        }
        try (Handle other = found == null ? folder.named(name, "") : found) {
            if (other == null || other.status().type() != entry.type()) {
                throw changed(entry);
            }
            finish(entry, other);
        }
    }

    private void finish(TreeEntry entry, Handle handle) throws IOException {
        boolean owned = isSet(handle.changeOwner(entry.uid(), entry.gid()), entry, "the owner");
        if (root.user() != SUPERUSER && needsWriting(entry) && (handle.status().mode() & WRITABLE_BY_OWNER) == 0) {
            // An earlier restore has already set its mode, which forbids its owner to set attributes.
            handle.changeMode(entry.isDirectory() ? 0700 : 0600);
        }
        // Set attributes ahead of the mode, which may forbid writing.
        for (Extended attribute : entry.extendedAttributes()) {
            if (owned || !Arrays.equals(attribute.name(), CAPABILITY)) {
                set(handle, entry, attribute);
            } else {
                progress.lostAttribute(text(entry)
                        + ": the attribute security.capability: is not set, because the owner could not be set");
            }
        }
        if (!entry.isSymbolicLink()) {
            // With these bits, programs would run with the rights of a different owner.
            int mode = owned ? entry.permissions() : entry.permissions() & ~SET_USER_AND_GROUP_ID;
            isSet(handle.changeMode(mode), entry, "the mode");
        }
        long[] times = {
            Math.floorDiv(entry.accessedNs(), NANOS), Math.floorMod(entry.accessedNs(), NANOS),
            Math.floorDiv(entry.modifiedNs(), NANOS), Math.floorMod(entry.modifiedNs(), NANOS)
        };
        isSet(handle.setTimes(times), entry, "the times");
    }

    private static boolean needsWriting(TreeEntry entry) {
        return !entry.extendedAttributes().isEmpty() && (entry.isRegular() || entry.isDirectory());
    }

    private void set(Handle handle, TreeEntry entry, Extended attribute) throws IOException {
        int result = handle.setAttribute(attribute.name(), attribute.value());
        String what = "the attribute " + EntryNames.text(attribute.name());
        // For an attribute these two errors mean that there is no room for one of this length; there may be room for
        // everything else.
        if (result != 0 && (Libc.errno() == Errno.ENOSPC || Libc.errno() == Errno.EDQUOT)) {
            lose(entry, what);
        } else {
            isSet(result, entry, what);
        }
    }

    /**
     * Returns false, and reports it, if the file system or this user's rights do not allow it; throws on any other
     * failure.
     */
    private boolean isSet(int result, TreeEntry entry, String what) throws IOException {
        if (result == 0) {
            return true;
        }
        if (!NewEntry.isRefusal(Libc.errno())) {
            throw posix.failure("setting " + what + " of", text(entry));
        }
        lose(entry, what);
        return false;
    }

    private void lose(TreeEntry entry, String what) throws IOException {
        int errno = Libc.errno();
        progress.lostAttribute(text(entry) + ": " + what + ": " + posix.reason(errno));
    }

    /** Closes all open files and folders. */
    @Override
    public synchronized void close() {
        files.values().forEach(Handle::close);
        files.clear();
        folders.close();
    }
}
