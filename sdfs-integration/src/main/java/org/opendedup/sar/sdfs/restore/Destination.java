package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.handle.FileStatus;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.io.handle.PosixCalls;
import org.opendedup.sar.metadata.EntryNames;
import org.opendedup.sar.sdfs.restore.TreeEntry.ExtendedAttribute;

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
    private static final int WRITING = PosixCalls.O_WRONLY | PosixCalls.O_NONBLOCK;

    private final PosixCalls posix;
    private final EntryLog entries;
    private final DestinationRoot root;
    private final RestoreProgress progress;

    /** Guarded by this, as are the open files and folders. */
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

    private final long address;

    private final Map<Long, Handle> files = new LinkedHashMap<>(16, 0.75f, true);
    private final OpenFolders folders;

    /** @param progress records what cannot be made or set */
    Destination(PosixCalls posix, EntryLog entries, DestinationRoot root, RestoreProgress progress) {
        this.posix = posix;
        this.entries = entries;
        this.root = root;
        this.progress = progress;
        address = posix.address(buffer);
        folders = new OpenFolders(posix, entries, root);
    }

    /** Returns the path of an entry for messages. */
    String text(TreeEntry entry) throws IOException {
        return entries.text(root.toString(), entry);
    }

    /**
     * Makes a folder, an empty file of the right length, a symbolic link, or a node. If the destination does not allow
     * a link or node, {@link #finish} retries it, and reports a failure.
     */
    synchronized void make(TreeEntry entry) throws IOException {
        if (entry.isRoot()) {
            root.make(entry);
            return;
        }
        Handle folder = folders.get(entry.parent());
        byte[] name = NewEntry.name(entry);
        if (entry.isRegular()) {
            makeFile(entry, folder, name);
        } else if (entry.isDirectory()) {
            if (posix.functions().mkdirat(folder.fd(), PosixCalls.terminated(name), 0700) != 0) {
                throw posix.failure("making the folder", text(entry));
            }
        } else if (NewEntry.make(posix, folder, name, entry) != 0 && !NewEntry.isRefusal(posix.errno())) {
            throw posix.failure("making", text(entry));
        }
    }

    private void makeFile(TreeEntry entry, Handle folder, byte[] name) throws IOException {
        int flags = PosixCalls.O_WRONLY | PosixCalls.O_CREAT | PosixCalls.O_EXCL;
        try (Handle file = folder.at(name, flags, 0600, "")) {
            if (file == null || entry.size() > 0 && posix.functions().ftruncate(file.fd(), entry.size()) != 0) {
                throw posix.failure(file == null ? "making" : "making room for", text(entry));
            }
        }
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
            if (result != 0 && !NewEntry.isRefusal(posix.errno())) {
                throw posix.failure("making the link", text(name));
            }
            return result == 0;
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
     * Returns whether what an earlier restore made still exists: for files, with their length. Restricts folders to
     * their owner again. A link or node may be missing, if the destination did not allow it.
     */
    synchronized boolean isStillThere(TreeEntry entry) throws IOException {
        if (entry.isRoot()) {
            return !entry.isRegular() || root.handle().status().size() == entry.size();
        }
        try (Handle found = folders.get(entry.parent()).named(NewEntry.name(entry), "")) {
            if (found == null) {
                return !entry.isRegular() && !entry.isDirectory();
            }
            FileStatus status = found.status();
            if (status.type() != entry.type() || entry.isRegular() && status.size() != entry.size()) {
                return false;
            }
            return !entry.isDirectory() || isTakenBack(found, status);
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

    /** Writes bytes of a file. */
    synchronized void write(long number, long offset, byte[] data, int from, int length) throws IOException {
        int fd = file(number).fd();
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
            long written = posix.functions().pwrite(fd, address + done, count - done, offset + done);
            if (written <= 0) {
                throw posix.failure("writing to", text(entries.read(number)));
            }
            done += (int) written;
        }
    }

    private Handle file(long number) throws IOException {
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
        if (file == null) {
            throw posix.failure("opening", text(entries.read(number)));
        }
        files.put(number, file);
        return file;
    }

    /** Opens a file that was made; null if it does not exist. */
    private @Nullable Handle openFile(TreeEntry entry) throws IOException {
        Handle folder = folders.get(entry.parent());
        byte[] name = NewEntry.name(entry);
        Handle file = folder.at(name, WRITING, 0, "");
        if (file == null && posix.errno() == PosixCalls.EACCES) {
            // An earlier restore has already set its mode.
            try (Handle found = folder.named(name, "")) {
                if (found != null && found.status().isRegular()) {
                    found.changeMode(0600);
                }
            }
            file = folder.at(name, WRITING, 0, "");
        }
        if (file == null && posix.errno() != PosixCalls.ENOENT) {
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
                throw new IOException(text(entry) + " was removed since it was made");
            }
            // Else it was removed from the volume before its bytes were found.
        }
    }

    private void finishOther(TreeEntry entry) throws IOException {
        Handle folder = folders.get(entry.parent());
        byte[] name = NewEntry.name(entry);
        Handle found = folder.named(name, "");
        if (found == null && NewEntry.make(posix, folder, name, entry) != 0) {
            int errno = posix.errno();
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
        for (ExtendedAttribute attribute : entry.extendedAttributes()) {
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

    private void set(Handle handle, TreeEntry entry, ExtendedAttribute attribute) throws IOException {
        int result = handle.setAttribute(attribute.name(), attribute.value());
        String what = "the attribute " + EntryNames.text(attribute.name());
        // For an attribute these two errors mean that there is no room for one of this length; there may be room for
        // everything else.
        if (result != 0 && (posix.errno() == PosixCalls.ENOSPC || posix.errno() == PosixCalls.EDQUOT)) {
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
        if (!NewEntry.isRefusal(posix.errno())) {
            throw posix.failure("setting " + what + " of", text(entry));
        }
        lose(entry, what);
        return false;
    }

    private void lose(TreeEntry entry, String what) throws IOException {
        int errno = posix.errno();
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
