package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * The file system operations that the package {@code kernel} calls. They take inode numbers (the root is 1) and handles
 * of open files. Many threads call them at the same time. Each call may fail with {@link PosixException}; any other
 * exception reaches the calling program as EIO or ENOSPC ({@link Errno}).
 *
 * <p>The kernel has already checked permissions, and has applied the umask or left it in {@link Owner}. It serializes
 * changes of one directory. It caches names, attributes and pages for an unlimited time: therefore only these calls may
 * change the file system.
 *
 * <p><b>References.</b> {@link #lookup}, the make calls, {@link #create}, {@link #link} and a listing with attributes
 * retain the inode that they return: each adds one reference. {@link #forget} releases references.
 */
public interface FuseOperations {
    /** Finds a name and retains the inode found. Accepts {@code .} (of any inode) and {@code ..}. ENOENT, ESTALE. */
    Attributes lookup(long directory, byte[] name) throws IOException;

    /** Releases {@code references} references to an inode. Never fails. */
    void forget(long inode, long references);

    Attributes attributes(long inode) throws IOException;

    /**
     * As {@link #attributes(long)}, asked through an open file. If the kernel does not have the attributes, it asks
     * before a program writes into its write-back cache, and passes a failure on to the program. ENOSPC if bytes from
     * that cache found no space, and there is still none.
     */
    default Attributes attributes(long inode, long handle) throws IOException {
        return attributes(inode);
    }

    Attributes change(long inode, AttributeChange change) throws IOException;

    /**
     * Notes a read of a file or a symbolic link: sets the access time if the options of the mount require it. Never
     * fails. A file system may have no access times.
     *
     * @return true if the access time was set
     */
    default boolean noteRead(long inode) {
        return false;
    }

    /**
     * As {@link #noteRead}, for a file that is opened for reading. If the kernel has the bytes in its cache, no read
     * request follows.
     */
    default boolean noteOpened(long inode) {
        return false;
    }

    /** As {@link #noteRead}, for the names in a directory. */
    default void noteListed(long directory) {}

    /**
     * Removes the capabilities of a program file; called before a write. A truncation and a change of owner remove them
     * without this call.
     */
    void dropCapability(long inode) throws IOException;

    byte[] readSymbolicLink(long inode) throws IOException;

    /** Makes a regular file, fifo, socket or device node, and retains it. {@code mode} includes the file type. */
    Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller) throws IOException;

    /** Makes a directory and retains it. */
    Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller) throws IOException;

    /** Makes a symbolic link and retains it. */
    Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller) throws IOException;

    /** Adds a name to a file and retains the file. */
    Attributes link(long inode, long directory, byte[] name) throws IOException;

    void unlink(long directory, byte[] name) throws IOException;

    void removeDirectory(long directory, byte[] name) throws IOException;

    void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode) throws IOException;

    /** Lists a directory, as {@link org.opendedup.sar.volume.Volume#list}. */
    void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException;

    /**
     * Opens a regular file. The file is readable even if it is opened for writing only: with a write-back cache, the
     * kernel reads the rest of a page that is partly written.
     *
     * @param caller the user who opens; if it is root, writes through this handle may use the capacity reserved for
     *     root, because the kernel does not report later who wrote
     * @return handle of the open file
     */
    long open(long inode, boolean writable, boolean truncate, Owner caller) throws IOException;

    /** Makes a regular file, retains it and opens it. */
    CreatedFile create(long directory, byte[] name, int mode, boolean writable, Owner caller) throws IOException;

    /**
     * Makes a regular file without a name in {@code directory} (O_TMPFILE), retains it and opens it. {@link #link} can
     * name it.
     */
    CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller) throws IOException;

    /** A new file's attributes and its open handle. */
    record CreatedFile(Attributes attributes, long handle) {}

    /**
     * Returns the descriptor of the file that has all bytes of an open file, so that the kernel may read and write it
     * itself; -1 if there is none. It stays the same, and open, while any handle of the inode is open.
     */
    default int backing(long handle) throws IOException {
        return -1;
    }

    /** Returns whether the bytes of an open file are on the fast tier. */
    default boolean isOnFastTier(long handle) throws IOException {
        return false;
    }

    /**
     * Reads up to {@code target.remaining()} bytes; returns fewer only at the end of the file. The buffer is direct and
     * belongs to the caller: do not keep it after the call.
     *
     * @return bytes read
     */
    int read(long handle, long offset, ByteBuffer target) throws IOException;

    /** Writes all bytes of {@code source}, a direct buffer of the caller. Do not keep it after the call. */
    void write(long handle, long offset, ByteBuffer source) throws IOException;

    /**
     * As {@link #write}, for bytes that the kernel had in its write-back cache. The kernel keeps the file's times
     * meanwhile and sets them by {@link #change}, so this call does not change them. After ENOSPC the kernel must ask
     * for the {@link #attributes(long, long) attributes} again: otherwise it tells a program only at fsync or close.
     */
    void writeBack(long handle, long offset, ByteBuffer source) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#allocate}. */
    void allocate(long handle, long offset, long length, boolean keepSize) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#zero}. */
    void zero(long handle, long offset, long length, boolean keepSize) throws IOException;

    /**
     * Returns whether the file is open for writing, by this handle or another. If it is, the kernel may have written
     * bytes in its cache that it has not sent yet.
     */
    boolean hasWriters(long handle) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#seekData}. */
    long seekData(long handle, long offset) throws IOException;

    /** As {@link org.opendedup.sar.volume.Volume#seekHole}. */
    long seekHole(long handle, long offset) throws IOException;

    /**
     * As {@link org.opendedup.sar.volume.Volume#copy}. If it fails with EOPNOTSUPP, the kernel copies the bytes by
     * reads and writes.
     */
    long copy(long source, long from, long target, long to, long length) throws IOException;

    /**
     * Called when a descriptor of the file is closed: the last chance to report the failure of an earlier write. Not a
     * sync.
     */
    void flush(long handle) throws IOException;

    /** Stores the written data of the file: the first part of fsync and fdatasync. */
    void store(long handle) throws IOException;

    /**
     * Returns whether {@link #store} and {@link #commit} may run at the same time, and the file is durable when both
     * are done. Asked before {@link #store}.
     */
    default boolean storesBesideCommit(long handle) throws IOException {
        return false;
    }

    /** Returns whether {@link #commit} is needed after {@link #store} for the file to be durable. */
    default boolean needsCommit(long handle) throws IOException {
        return true;
    }

    /** Returns whether the name of an open file is durable, and that its bytes are where {@link #backing} says. */
    default boolean isNameDurable(long handle) throws IOException {
        return false;
    }

    /** Stores the written data of all files: the first part of syncfs, and of fsync of a directory. */
    void storeAll() throws IOException;

    /**
     * Makes the stored data and all changes of names and attributes durable. Callers that wait at the same time share
     * one commit.
     */
    void commit() throws IOException;

    /** Closes a handle. */
    void close(long handle) throws IOException;

    /** Returns the value of the attribute, or null if there is none. */
    byte @Nullable [] extendedAttribute(long inode, byte[] name) throws IOException;

    void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException;

    void removeExtendedAttribute(long inode, byte[] name) throws IOException;

    List<byte[]> extendedAttributes(long inode) throws IOException;

    SpaceUse space() throws IOException;

    /** Returns the name of an inode for messages: its number, and its path if the path is known without a search. */
    default String nameOf(long inode) {
        return "inode " + inode;
    }

    /** As {@link #nameOf(long)}, for a name in a directory. The name need not exist. */
    default String nameOf(long directory, byte[] name) {
        return new String(name, StandardCharsets.UTF_8) + " in " + nameOf(directory);
    }

    /**
     * Ends the service. No further call follows. Files that the kernel still had open, and inodes that it still
     * retained, are not released by calls.
     */
    void end();
}
