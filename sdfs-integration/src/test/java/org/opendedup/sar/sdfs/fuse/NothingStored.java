package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/** One file, {@code file}, of a fixed size: what is written to it is dropped, what is read from it is anything. */
public final class NothingStored extends FuseFileSystem {
    private static final long FILE = 2;

    private final long fileBytes;

    /** Has no volume: every operation is its own. */
    public NothingStored(long fileBytes) {
        super(null, MountOptions.of(Path.of("/none"), "nothing"), new HandleTable<>(1));
        this.fileBytes = fileBytes;
    }

    @Override
    public Attributes lookup(long directory, byte[] name) throws IOException {
        if (new String(name, StandardCharsets.UTF_8).equals("file")) {
            return attributes(FILE);
        }
        throw new PosixException(Reason.ENOENT, "only 'file' exists");
    }

    @Override
    public void forget(long inode, long references) {}

    @Override
    public Attributes attributes(long inode) {
        int mode = inode == FILE ? FileMode.REGULAR | 0644 : FileMode.DIRECTORY | 0755;
        return new Attributes(inode, 1, mode, 1, 0, 0, 0, inode == FILE ? fileBytes : 0, 0, 0, 0, 0, 0);
    }

    @Override
    public boolean isBeingTruncated(long inode) {
        return false;
    }

    @Override
    public Attributes attributes(long inode, long handle) {
        return attributes(inode);
    }

    @Override
    public boolean noteRead(long inode) {
        return false;
    }

    @Override
    public boolean noteOpened(long inode) {
        return false;
    }

    @Override
    public void noteListed(long directory) {}

    @Override
    public int backing(long handle) {
        return -1;
    }

    @Override
    public boolean isOnFastTier(long handle) {
        return false;
    }

    @Override
    public boolean storesBesideCommit(long handle) {
        return false;
    }

    @Override
    public boolean needsCommit(long handle) {
        return true;
    }

    @Override
    public boolean isNameDurable(long handle) {
        return false;
    }

    @Override
    public Attributes change(long inode, AttributeChange change) {
        return attributes(inode);
    }

    @Override
    public void dropCapability(long inode) {}

    @Override
    public int read(long handle, long offset, ByteBuffer target) {
        return target.remaining();
    }

    @Override
    public void write(long handle, long offset, ByteBuffer source) {}

    @Override
    public long open(long inode, boolean writable, boolean truncate, Owner caller) {
        return 0;
    }

    @Override
    public void flush(long handle) {}

    @Override
    public void check(long handle) {}

    @Override
    public void store(long handle) {}

    @Override
    public void storeAll() {}

    @Override
    public void commit() {}

    @Override
    public void close(long handle) {}

    @Override
    public byte[] extendedAttribute(long inode, byte[] name) {
        return null;
    }

    @Override
    public List<byte[]> extendedAttributes(long inode) {
        return List.of();
    }

    @Override
    public SpaceUse space(long inode) {
        return new SpaceUse(1L << 40, 1L << 40, 1L << 40, 1L << 40, 1);
    }

    @Override
    public void end() {}

    @Override
    public byte[] readSymbolicLink(long inode) throws IOException {
        throw refused();
    }

    @Override
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller) throws IOException {
        throw refused();
    }

    @Override
    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller) throws IOException {
        throw refused();
    }

    @Override
    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller) throws IOException {
        throw refused();
    }

    @Override
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        throw refused();
    }

    @Override
    public void unlink(long directory, byte[] name) throws IOException {
        throw refused();
    }

    @Override
    public void removeDirectory(long directory, byte[] name) throws IOException {
        throw refused();
    }

    @Override
    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        throw refused();
    }

    @Override
    public void renameLeavingWhiteout(
            long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode, Owner caller)
            throws IOException {
        throw refused();
    }

    @Override
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        throw refused();
    }

    @Override
    public CreatedFile create(long directory, byte[] name, int mode, boolean writable, Owner caller)
            throws IOException {
        throw refused();
    }

    @Override
    public CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller) throws IOException {
        throw refused();
    }

    @Override
    public void writeBack(long handle, long offset, ByteBuffer source) {}

    @Override
    public void allocate(long handle, long offset, long length, boolean keepSize) throws IOException {
        throw refused();
    }

    @Override
    public void zero(long handle, long offset, long length, boolean keepSize) throws IOException {
        throw refused();
    }

    @Override
    public boolean hasWriters(long handle) {
        return false;
    }

    @Override
    public long seekData(long handle, long offset) throws IOException {
        throw refused();
    }

    @Override
    public long seekHole(long handle, long offset) throws IOException {
        throw refused();
    }

    @Override
    public long copy(long source, long from, long target, long to, long length) throws IOException {
        throw refused();
    }

    @Override
    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        throw refused();
    }

    @Override
    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        throw refused();
    }

    private static PosixException refused() {
        return new PosixException(Reason.EPERM, "nothing is stored here");
    }
}
