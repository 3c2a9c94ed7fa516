package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.volume.AttributeChange;
import org.opendedup.sar.volume.Attributes;
import org.opendedup.sar.volume.EntryVisitor;
import org.opendedup.sar.volume.OpenFile;
import org.opendedup.sar.volume.Owner;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.Volume.RenameMode;
import org.opendedup.sar.volume.Volume.SetMode;

/**
 * A {@link Volume} as the kernel wants to see it. Adds what belongs to neither: numbers for open files, and the group a
 * setgid directory gives on. Does not own the volume.
 */
public final class FuseFileSystem implements FuseOperations {
    private final Volume volume;
    private final HandleTable<OpenFile> openFiles;

    public FuseFileSystem(Volume volume) {
        this(volume, new HandleTable<>());
    }

    FuseFileSystem(Volume volume, HandleTable<OpenFile> openFiles) {
        this.volume = volume;
        this.openFiles = openFiles;
    }

    @Override
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return volume.lookup(directory, name);
    }

    @Override
    public void forget(long inode, long references) {
        volume.forget(inode, references);
    }

    @Override
    public Attributes attributes(long inode) throws IOException {
        return volume.attributes(inode);
    }

    @Override
    public Attributes change(long inode, AttributeChange change) throws IOException {
        if (change.size() != null || change.uid() != null || change.gid() != null) {
            volume.dropCapability(inode);
        }
        return volume.change(inode, change);
    }

    @Override
    public void dropCapability(long inode) throws IOException {
        volume.dropCapability(inode);
    }

    @Override
    public byte[] readSymbolicLink(long inode) throws IOException {
        return volume.readSymbolicLink(inode);
    }

    @Override
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller) throws IOException {
        return volume.makeNode(directory, name, mode, device, ownerIn(directory, caller));
    }

    @Override
    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller) throws IOException {
        Attributes parent = volume.attributes(directory);
        return volume.makeDirectory(
                directory, name, FileMode.directoryModeIn(parent, mode), FileMode.ownerIn(parent, caller));
    }

    @Override
    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller) throws IOException {
        return volume.makeSymbolicLink(directory, name, target, ownerIn(directory, caller));
    }

    private Owner ownerIn(long directory, Owner caller) throws IOException {
        return FileMode.ownerIn(volume.attributes(directory), caller);
    }

    @Override
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        return volume.link(inode, directory, name);
    }

    @Override
    public void unlink(long directory, byte[] name) throws IOException {
        volume.unlink(directory, name);
    }

    @Override
    public void removeDirectory(long directory, byte[] name) throws IOException {
        volume.removeDirectory(directory, name);
    }

    @Override
    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        volume.rename(directory, name, newDirectory, newName, mode);
    }

    @Override
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        volume.list(directory, cookie, withAttributes, visitor);
    }

    @Override
    public long open(long inode, boolean writable, boolean truncate, Owner caller) throws IOException {
        OpenFile file = volume.open(inode, writable, caller.uid() == 0);
        try {
            long handle = openFiles.add(file);
            if (truncate) {
                truncate(inode, handle);
            }
            return handle;
        } catch (IOException | RuntimeException | Error e) {
            volume.close(file);
            throw e;
        }
    }

    /** Comes last, as it does on local file systems: an open that fails leaves the file as it was. */
    private void truncate(long inode, long handle) throws IOException {
        try {
            change(inode, AttributeChange.ofTruncation(0, Instant.now()));
        } catch (IOException | RuntimeException | Error e) {
            openFiles.remove(handle);
            throw e;
        }
    }

    @Override
    public CreatedFile create(long directory, byte[] name, int mode, boolean writable, Owner caller)
            throws IOException {
        Attributes made = makeNode(directory, name, mode, 0, caller);
        try {
            return new CreatedFile(made, open(made.inode(), writable, false, caller));
        } catch (IOException | RuntimeException | Error e) {
            volume.forget(made.inode(), 1);
            throw e;
        }
    }

    @Override
    public CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller) throws IOException {
        Attributes made = volume.makeUnnamed(directory, mode, ownerIn(directory, caller));
        try {
            return new CreatedFile(made, open(made.inode(), writable, false, caller));
        } catch (IOException | RuntimeException | Error e) {
            volume.forget(made.inode(), 1);
            throw e;
        }
    }

    @Override
    public int read(long handle, long offset, ByteBuffer target) throws IOException {
        return volume.read(openFiles.get(handle), offset, target);
    }

    @Override
    public void write(long handle, long offset, ByteBuffer source) throws IOException {
        volume.write(openFiles.get(handle), offset, source);
    }

    @Override
    public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
        volume.writeBack(openFiles.get(handle), offset, source);
    }

    @Override
    public void allocate(long handle, long offset, long length, boolean keepSize) throws IOException {
        volume.allocate(openFiles.get(handle), offset, length, keepSize);
    }

    @Override
    public void zero(long handle, long offset, long length, boolean keepSize) throws IOException {
        volume.zero(openFiles.get(handle), offset, length, keepSize);
    }

    @Override
    public boolean hasWriters(long handle) throws IOException {
        return volume.hasWriters(openFiles.get(handle));
    }

    @Override
    public long seekData(long handle, long offset) throws IOException {
        return volume.seekData(openFiles.get(handle), offset);
    }

    @Override
    public long seekHole(long handle, long offset) throws IOException {
        return volume.seekHole(openFiles.get(handle), offset);
    }

    @Override
    public long copy(long source, long from, long target, long to, long length) throws IOException {
        return volume.copy(openFiles.get(source), from, openFiles.get(target), to, length);
    }

    @Override
    public void flush(long handle) throws IOException {
        volume.flush(openFiles.get(handle));
    }

    @Override
    public void store(long handle) throws IOException {
        volume.store(openFiles.get(handle));
    }

    @Override
    public void storeAll() throws IOException {
        volume.storeAll();
    }

    @Override
    public void commit() throws IOException {
        volume.commit();
    }

    @Override
    public void close(long handle) throws IOException {
        volume.close(openFiles.remove(handle));
    }

    @Override
    public byte @Nullable [] extendedAttribute(long inode, byte[] name) throws IOException {
        ExtendedAttributeName.check(name);
        return volume.extendedAttribute(inode, name);
    }

    @Override
    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        ExtendedAttributeName.check(name);
        volume.setExtendedAttribute(inode, name, value, mode);
    }

    @Override
    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        ExtendedAttributeName.check(name);
        volume.removeExtendedAttribute(inode, name);
    }

    @Override
    public List<byte[]> extendedAttributes(long inode) throws IOException {
        return volume.extendedAttributes(inode);
    }

    @Override
    public SpaceUse space() throws IOException {
        return volume.space();
    }

    @Override
    public void end() {
        openFiles.removeAll().forEach(volume::close);
    }
}
