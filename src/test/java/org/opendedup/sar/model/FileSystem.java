package org.opendedup.sar.model;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * The calls of a {@link org.opendedup.sar.volume.Volume}, so that a volume and the model are interchangeable.
 * References are counted in the same way.
 */
public interface FileSystem extends Closeable {
    Attributes lookup(long directory, byte[] name) throws IOException;

    void forget(long inode, long references);

    Attributes attributes(long inode) throws IOException;

    Attributes change(long inode, AttributeChange change) throws IOException;

    Attributes makeNode(long directory, byte[] name, int mode, int device, Owner owner) throws IOException;

    Attributes makeUnnamed(long directory, int mode, Owner owner) throws IOException;

    Attributes makeDirectory(long directory, byte[] name, int mode, Owner owner) throws IOException;

    Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner owner) throws IOException;

    byte[] readSymbolicLink(long inode) throws IOException;

    Attributes link(long inode, long directory, byte[] name) throws IOException;

    void unlink(long directory, byte[] name) throws IOException;

    void removeDirectory(long directory, byte[] name) throws IOException;

    void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode) throws IOException;

    void renameLeavingWhiteout(long directory, byte[] name, long newDirectory, byte[] newName, Owner owner)
            throws IOException;

    void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException;

    Handle open(long inode, boolean writable) throws IOException;

    void sync() throws IOException;

    /** Gives a folder a quota without limits: all that lies below it is charged to it. ENOTDIR. */
    void chargeFolder(long inode) throws IOException;

    /** Returns how many inodes users, groups and folders with quotas have, while nothing is open. */
    List<String> usage() throws IOException;

    byte[] extendedAttribute(long inode, byte[] name) throws IOException;

    void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException;

    void removeExtendedAttribute(long inode, byte[] name) throws IOException;

    List<byte[]> extendedAttributes(long inode) throws IOException;

    /** Closes and opens again. No handle and no reference exists when it is called. */
    void remount() throws IOException;

    /** Errors that a checker finds in the stored form; empty if there are none. */
    List<String> problems() throws IOException;

    /** One opening of a regular file. */
    interface Handle extends Closeable {
        int read(long offset, ByteBuffer target) throws IOException;

        void write(long offset, ByteBuffer source) throws IOException;

        void allocate(long offset, long length, boolean keepSize) throws IOException;

        void zero(long offset, long length, boolean keepSize) throws IOException;

        long seekData(long offset) throws IOException;

        long seekHole(long offset) throws IOException;

        /** Copies from this opening to another of the same file system. */
        long copy(long from, Handle target, long to, long length) throws IOException;

        void flush() throws IOException;

        void sync(boolean dataOnly) throws IOException;

        @Override
        void close();
    }
}
