package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.volume.AttributeChange;
import org.opendedup.sar.volume.Attributes;
import org.opendedup.sar.volume.EntryVisitor;
import org.opendedup.sar.volume.Owner;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.Volume.RenameMode;
import org.opendedup.sar.volume.Volume.SetMode;

/**
 * What a {@link FuseBinding} asks of a file system, in inode numbers (the root is 1) and handles of open files. Called by
 * many threads at once. Every call may refuse with {@link PosixException}; any other exception
 * reaches the caller as EIO or ENOSPC ({@link Errno}).
 *
 * <p>The kernel has checked permissions, applied the umask or left it in {@link Owner}, and serializes changes of one directory. It keeps names,
 * attributes and pages in its caches for as long as it likes: nothing may change but through these calls.
 *
 * <p><b>References.</b> {@link #lookup}, the make calls, {@link #create}, {@link #link} and a listing with attributes retain
 * the inode they return, until {@link #forget} was called as often.
 */
public interface FuseOperations {
    /** Finds a name, {@code .} (of any inode) and {@code ..} included; retains what it finds. ENOENT, ESTALE. */
    Attributes lookup(long directory, byte[] name) throws IOException;

    /** Gives references back. Never fails. */
    void forget(long inode, long references);

    Attributes attributes(long inode) throws IOException;

    Attributes change(long inode, AttributeChange change) throws IOException;

    /** Takes a program's capabilities away, before a write. A truncation and a new owner do so by themselves. */
    void dropCapability(long inode) throws IOException;

    byte[] readSymbolicLink(long inode) throws IOException;

    /** Makes a regular file, fifo, socket or device node; retains it. {@code mode} holds the type too. */
    Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller) throws IOException;

    /** Makes a directory; retains it. */
    Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller) throws IOException;

    /** Makes a symbolic link; retains it. */
    Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller) throws IOException;

    /** Gives a file another name; retains it. */
    Attributes link(long inode, long directory, byte[] name) throws IOException;

    void unlink(long directory, byte[] name) throws IOException;

    void removeDirectory(long directory, byte[] name) throws IOException;

    void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode) throws IOException;

    /** Lists a directory, as {@link org.opendedup.sar.volume.Volume#list}. */
    void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException;

    /**
     * Opens a regular file. It must be readable in any case: with a write-back cache the kernel reads the rest of a page
     * that is written in part.
     *
     * @param caller if it is root, what is written may take what of the capacity is kept for it: the kernel does not say later who wrote
     * @return its handle
     */
    long open(long inode, boolean writable, boolean truncate, Owner caller) throws IOException;

    /** Makes a regular file, retains it and opens it. */
    CreatedFile create(long directory, byte[] name, int mode, boolean writable, Owner caller) throws IOException;

    /**
     * Makes a regular file without a name (O_TMPFILE), as in {@code directory}, retains it and opens it. {@link #link} can
     * name it.
     */
    CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller) throws IOException;

    /** A new file's attributes and its open handle. */
    record CreatedFile(Attributes attributes, long handle) {}

    /**
     * Reads up to {@code target.remaining()} bytes; fewer only at the end of the file. The buffer is direct, and the
     * binding's own: it must not be kept.
     *
     * @return bytes read
     */
    int read(long handle, long offset, ByteBuffer target) throws IOException;

    /** Writes all of {@code source}, a direct buffer of the binding's, not to be kept. */
    void write(long handle, long offset, ByteBuffer source) throws IOException;

    /**
     * As {@link #write}, of bytes the kernel had taken into its cache earlier. It keeps the file's times meanwhile and sets
     * them by {@link #change}, so that this call should leave them alone.
     */
    void writeBack(long handle, long offset, ByteBuffer source) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#allocate}. */
    void allocate(long handle, long offset, long length, boolean keepSize) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#zero}. */
    void zero(long handle, long offset, long length, boolean keepSize) throws IOException;

    /** Whether the handle's file is open for writing, by this handle or another: the kernel may keep bytes not sent yet. */
    boolean hasWriters(long handle) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#seekData}. */
    long seekData(long handle, long offset) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#seekHole}. */
    long seekHole(long handle, long offset) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#copy}. After EOPNOTSUPP the kernel copies bytes. */
    long copy(long source, long from, long target, long to, long length) throws IOException;

    /** A descriptor of the file is closed: the last chance to report an earlier write's failure. Not a sync. */
    void flush(long handle) throws IOException;

    /** The first part of {@link #sync}: stores what was written to the file. */
    void store(long handle) throws IOException;

    /** The first part of {@link #syncAll}: stores what was written to any file. */
    void storeAll() throws IOException;

    /** Makes durable what is stored, and every change of names and attributes. Callers that wait together share one commit. */
    void commit() throws IOException;

    /** Makes a file durable: fsync, fdatasync. */
    default void sync(long handle) throws IOException {
        store(handle);
        commit();
        flush(handle);
    }

    /** Makes everything durable: fsync of a directory, syncfs. */
    default void syncAll() throws IOException {
        storeAll();
        commit();
    }

    /** Ends an opening. */
    void close(long handle) throws IOException;

    /** The attribute's value, or null if there is none. */
    byte @Nullable [] extendedAttribute(long inode, byte[] name) throws IOException;

    void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException;

    void removeExtendedAttribute(long inode, byte[] name) throws IOException;

    List<byte[]> extendedAttributes(long inode) throws IOException;

    SpaceUse space() throws IOException;

    /** The service has ended: no further call comes, and what the kernel had open or retained is not given back. */
    void end();
}
