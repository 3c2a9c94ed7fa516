package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.sdfs.health.RequestFailures;
import org.opendedup.sar.sdfs.health.RequestFailures.Kind;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * Serves a {@link Volume} to the kernel. Adds what neither of them has: handles for open files, names of inodes for
 * messages, and the group that files inherit from a setgid directory. Does not own the volume.
 */
public class FuseFileSystem implements FuseOperations {
    private final Volume volume;
    private final AccessRules accesses;
    private final HandleTable<OpenFile> openFiles;
    private final SeenNames names = new SeenNames();
    private final RequestFailures failures;
    /** Inodes of open files of which bytes from the kernel's write-back cache found no space, and how many bytes. */
    private final Map<Long, Integer> refused = new ConcurrentHashMap<>();

    /** @param options the options of the mount to be made */
    public FuseFileSystem(Volume volume, MountOptions options) {
        this(volume, options, new RequestFailures(System::nanoTime));
    }

    /** @param failures counts the requests that fail */
    public FuseFileSystem(Volume volume, MountOptions options, RequestFailures failures) {
        this(volume, options, new HandleTable<>(volume.mostOpenFiles()), failures);
    }

    FuseFileSystem(Volume volume, MountOptions options, HandleTable<OpenFile> openFiles) {
        this(volume, options, openFiles, new RequestFailures(System::nanoTime));
    }

    private FuseFileSystem(
            Volume volume, MountOptions options, HandleTable<OpenFile> openFiles, RequestFailures failures) {
        this.volume = volume;
        this.accesses = new AccessRules(options);
        this.openFiles = openFiles;
        this.failures = failures;
    }

    @Override
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return saw(directory, name, volume.lookup(directory, name));
    }

    private Attributes saw(long directory, byte[] name, Attributes found) {
        names.saw(directory, name, found.inode());
        return found;
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
    public Attributes attributes(long inode, long handle) throws IOException {
        Integer bytes = refused.get(inode);
        if (bytes != null) {
            OpenFile file = openFiles.get(handle);
            if (file.isWritable()) {
                checkSpace(file, bytes);
                refused.remove(inode);
            }
        }
        return volume.attributes(inode);
    }

    private void checkSpace(OpenFile file, int bytes) throws IOException {
        SpaceUse space = volume.space();
        long left =
                file.mayUseReserve() ? Math.min(space.freeBytes(), space.deviceFreeBytes()) : space.availableBytes();
        if (left < bytes) {
            throw new NoSpaceException("bytes that were written to inode " + file.inode()
                    + " found no space, and there is none for more: " + left + " bytes are left");
        }
    }

    @Override
    public Attributes change(long inode, AttributeChange change) throws IOException {
        if (change.size() != null || change.uid() != null || change.gid() != null) {
            volume.dropCapability(inode);
        }
        return volume.change(inode, change);
    }

    @Override
    public boolean noteRead(long inode) {
        return volume.noteAccess(inode, accesses.ofFiles());
    }

    @Override
    public boolean noteOpened(long inode) {
        return volume.noteOpened(inode, accesses.ofFiles());
    }

    @Override
    public void noteListed(long directory) {
        volume.noteAccess(directory, accesses.ofDirectories());
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
        return saw(directory, name, volume.makeNode(directory, name, mode, device, ownerIn(directory, caller)));
    }

    @Override
    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller) throws IOException {
        Attributes parent = volume.attributes(directory);
        Attributes made = volume.makeDirectory(
                directory, name, FileMode.directoryModeIn(parent, mode), FileMode.ownerIn(parent, caller));
        return saw(directory, name, made);
    }

    @Override
    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller) throws IOException {
        return saw(directory, name, volume.makeSymbolicLink(directory, name, target, ownerIn(directory, caller)));
    }

    private Owner ownerIn(long directory, Owner caller) throws IOException {
        return FileMode.ownerIn(volume.attributes(directory), caller);
    }

    @Override
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        return saw(directory, name, volume.link(inode, directory, name));
    }

    @Override
    public void unlink(long directory, byte[] name) throws IOException {
        volume.unlink(directory, name);
        names.removed(directory, name);
    }

    @Override
    public void removeDirectory(long directory, byte[] name) throws IOException {
        volume.removeDirectory(directory, name);
        names.removed(directory, name);
    }

    @Override
    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        volume.rename(directory, name, newDirectory, newName, mode);
        names.renamed(directory, name, newDirectory, newName, mode);
    }

    @Override
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        volume.list(directory, cookie, withAttributes, (name, inode, type, next, attributes) -> {
            boolean taken = visitor.visit(name, inode, type, next, attributes);
            if (taken && attributes != null) {
                // The kernel will not send a LOOKUP for this entry.
                names.saw(directory, name, inode);
            }
            return taken;
        });
    }

    @Override
    public long open(long inode, boolean writable, boolean truncate, Owner caller) throws IOException {
        long handle = open(inode, writable, caller);
        if (!truncate) {
            return handle;
        }
        // After the open, as local file systems do: an open that fails leaves the file unchanged.
        try {
            change(inode, AttributeChange.ofTruncation(0, KernelClock.machine().instant()));
        } catch (IOException | RuntimeException | Error e) {
            close(handle);
            throw e;
        }
        if (writable && volume.fastTier().settings().isEnabled()) {
            // Whether a file lies on the fast tier is decided when it is opened and empty.
            close(handle);
            return open(inode, true, caller);
        }
        return handle;
    }

    private long open(long inode, boolean writable, Owner caller) throws IOException {
        OpenFile file = volume.open(inode, writable, caller.uid());
        try {
            long handle = openFiles.add(file, caller.uid());
            names.opened(inode);
            return handle;
        } catch (IOException | RuntimeException | Error e) {
            volume.close(file);
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
        try {
            return volume.read(openFiles.get(handle), offset, target);
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.READ, e);
            throw e;
        }
    }

    @Override
    public void write(long handle, long offset, ByteBuffer source) throws IOException {
        try {
            volume.write(openFiles.get(handle), offset, source);
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.WRITE, e);
            throw e;
        }
    }

    @Override
    public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
        OpenFile file = openFiles.get(handle);
        int bytes = source.remaining();
        try {
            volume.writeBack(file, offset, source);
        } catch (NoSpaceException e) {
            refused.put(file.inode(), bytes);
            failures.note(Kind.WRITE, e);
            throw e;
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.WRITE, e);
            throw e;
        }
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
        try {
            volume.flush(openFiles.get(handle));
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.SYNC, e);
            throw e;
        }
    }

    @Override
    public void store(long handle) throws IOException {
        try {
            volume.secure(openFiles.get(handle));
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.SYNC, e);
            throw e;
        }
    }

    @Override
    public boolean storesBesideCommit(long handle) throws IOException {
        return volume.securesBesideCommit(openFiles.get(handle));
    }

    @Override
    public boolean needsCommit(long handle) throws IOException {
        return volume.needsCommit(openFiles.get(handle));
    }

    @Override
    public boolean isNameDurable(long handle) throws IOException {
        return volume.isNameDurable(openFiles.get(handle));
    }

    @Override
    public int backing(long handle) throws IOException {
        return volume.backing(openFiles.get(handle));
    }

    @Override
    public boolean isOnFastTier(long handle) throws IOException {
        return openFiles.get(handle).isOnFastTier();
    }

    @Override
    public void storeAll() throws IOException {
        try {
            volume.secureAll();
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.SYNC, e);
            throw e;
        }
    }

    @Override
    public void commit() throws IOException {
        try {
            volume.commit();
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.SYNC, e);
            throw e;
        }
    }

    @Override
    public void close(long handle) throws IOException {
        OpenFile file = openFiles.remove(handle);
        names.closed(file.inode());
        refused.remove(file.inode());
        volume.close(file);
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
    public String nameOf(long inode) {
        return names.of(inode);
    }

    @Override
    public String nameOf(long directory, byte[] name) {
        return names.of(directory, name);
    }

    @Override
    public void end() {
        openFiles.removeAll().forEach(volume::close);
    }
}
