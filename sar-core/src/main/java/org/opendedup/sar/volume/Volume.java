package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A deduplicating volume. Speaks inode numbers and open files, as the kernel does. Every call may fail with {@link
 * org.opendedup.sar.common.PosixException} (refused, with a POSIX reason), {@link
 * org.opendedup.sar.common.NoSpaceException} or another IOException (an I/O error). Safe for use by many threads.
 *
 * <p><b>References.</b> A call that hands out a new reference to an inode (lookup, the make calls, link, a listing with
 * attributes) retains it: the inode stays usable, also when its last name goes, until {@link #forget} has been called as
 * often. An open file retains its inode too.
 */
public final class Volume implements Closeable {
    private Volume() {}

    /** Makes a new, empty volume: folders, databases, root directory. Every location must be empty or not exist. */
    public static void create(VolumeConfig config) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Opens a volume, recovering what a crash left. */
    public static Volume open(VolumeConfig config) throws IOException {
        throw new UnsupportedOperationException();
    }

    public VolumeConfig config() {
        throw new UnsupportedOperationException();
    }

    /** Finds a name in a directory; retains what it finds. ENOENT, ENOTDIR. */
    public Attributes lookup(long directory, byte[] name) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Gives back {@code references} references to an inode. Never fails. */
    public void forget(long inode, long references) {
        throw new UnsupportedOperationException();
    }

    public Attributes attributes(long inode) throws IOException {
        throw new UnsupportedOperationException();
    }

    public Attributes change(long inode, AttributeChange change) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Makes a regular file, fifo, socket or device node; {@code mode} holds type and permissions. Retains it. EEXIST. */
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner owner) throws IOException {
        throw new UnsupportedOperationException();
    }

    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner owner) throws IOException {
        throw new UnsupportedOperationException();
    }

    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner owner) throws IOException {
        throw new UnsupportedOperationException();
    }

    public byte[] readSymbolicLink(long inode) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Gives a file that is not a directory another name; retains it. EEXIST, EMLINK, EPERM. */
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        throw new UnsupportedOperationException();
    }

    public void unlink(long directory, byte[] name) throws IOException {
        throw new UnsupportedOperationException();
    }

    public void removeDirectory(long directory, byte[] name) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** How {@link #rename} treats an existing target. */
    public enum RenameMode {
        REPLACE,
        NO_REPLACE,
        EXCHANGE
    }

    /** Renames atomically. ENOENT, EEXIST, ENOTEMPTY, EISDIR, ENOTDIR, EINVAL (a directory into itself). */
    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        throw new UnsupportedOperationException();
    }

    /**
     * Lists a directory, {@code .} and {@code ..} first.
     *
     * @param cookie 0 for the beginning, else an entry's cookie, to continue behind it
     * @param withAttributes also gives each entry's attributes, and retains each inode that the visitor takes (but {@code
     *     .} and {@code ..})
     */
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Opens a regular file. EISDIR. */
    public OpenFile open(long inode, boolean writable) throws IOException {
        throw new UnsupportedOperationException();
    }

    /**
     * Reads into {@code target}, up to its remaining bytes, and moves its position.
     *
     * @return bytes read; fewer than asked for only at the end of the file
     */
    public int read(OpenFile file, long offset, ByteBuffer target) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Writes all of {@code source}'s remaining bytes; they may be durable only after {@link #sync(OpenFile, boolean)}. */
    public void write(OpenFile file, long offset, ByteBuffer source) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Reports a write that failed after it was accepted; called at each close(2). Not a sync. */
    public void flush(OpenFile file) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** fsync, or with {@code dataOnly} fdatasync: returns when all that was written to the file is durable. */
    public void sync(OpenFile file, boolean dataOnly) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Makes every change made so far durable (fsync of a directory, syncfs). */
    public void sync() throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Ends one opening. Idempotent; never fails (errors are told by {@link #flush}). */
    public void close(OpenFile file) {
        throw new UnsupportedOperationException();
    }

    /** The value of an extended attribute, or null. */
    public byte @Nullable [] extendedAttribute(long inode, byte[] name) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** How {@link #setExtendedAttribute} treats an existing value. */
    public enum SetMode {
        CREATE_OR_REPLACE,
        CREATE,
        REPLACE
    }

    /** EEXIST, ENODATA, E2BIG. */
    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** ENODATA. */
    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        throw new UnsupportedOperationException();
    }

    public List<byte[]> extendedAttributes(long inode) throws IOException {
        throw new UnsupportedOperationException();
    }

    public SpaceUse space() throws IOException {
        throw new UnsupportedOperationException();
    }

    public VolumeStatistics statistics() throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Flushes, commits and closes everything. Idempotent. */
    @Override
    public void close() throws IOException {
        throw new UnsupportedOperationException();
    }
}
