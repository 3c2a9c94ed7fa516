package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
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
 * The file system operations that the package {@code kernel} calls, on a {@link Volume}. Adds what neither of them has:
 * handles for open files, names of inodes for messages, and the group that files inherit from a setgid directory. Does
 * not own the volume. Tests override methods to count calls, or to make them fail.
 *
 * <p>The operations take inode numbers (the root is 1) and handles of open files. Many threads call them at the same
 * time. Each call may fail with {@link PosixException}; any other exception reaches the calling program as EIO or
 * ENOSPC ({@link ErrorNumber}).
 *
 * <p>The kernel has already checked permissions, and has applied the umask or left it in {@link Owner}. It serializes
 * changes of one directory. It caches names, attributes and pages for an unlimited time: therefore only these calls may
 * change the file system.
 *
 * <p><b>References.</b> {@link #lookup}, the make calls, {@link #create}, {@link #link} and a listing with attributes
 * retain the inode that they return: each adds one reference. {@link #forget} releases references.
 */
public class FuseFileSystem {
    /** A new file's attributes and its open handle. */
    public record CreatedFile(Attributes attributes, long handle) {}

    private static final byte[] SNAPSHOTS = Namespace.SNAPSHOT_FOLDER.getBytes(StandardCharsets.US_ASCII);
    /** The position after the folder of the snapshots, the last entry of the root directory if it is listed. */
    private static final long SNAPSHOTS_COOKIE = Long.MAX_VALUE;

    private final Volume volume;
    private final boolean showsSnapshots;
    private final AccessRules accesses;
    private final HandleTable<OpenFile> openFiles;
    private final SeenNames names = new SeenNames();
    private final RequestFailures failures;
    private final RequestLatencies latencies = new RequestLatencies();
    /**
     * Inodes of files that are open for writing, of which bytes from the kernel's write-back cache found no space, and
     * how many bytes.
     */
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
        this.showsSnapshots = options.showsSnapshots();
        this.accesses = new AccessRules(options);
        this.openFiles = openFiles;
        this.failures = failures;
    }

    /** Returns how long requests take; who serves them records it. */
    public RequestLatencies latencies() {
        return latencies;
    }

    /**
     * Returns when a request may be served.
     *
     * @throws IOException if the volume may be in use by another machine; see {@link Volume#requireLease}
     */
    public void admit() throws IOException {
        volume.requireLease();
    }

    /**
     * Returns the numbers of the inodes that are open for writing, so that the kernel may have bytes of them. Leaves
     * out those on the fast tier, which may not answer.
     */
    public Set<Long> writtenInodes() {
        return openFiles.values().stream()
                .filter(file -> file.isWritable() && !file.isOnFastTier())
                .map(OpenFile::inode)
                .collect(Collectors.toSet());
    }

    /** Returns the numbers of the inodes of open files. */
    public Set<Long> openInodes() {
        return openFiles.values().stream().map(OpenFile::inode).collect(Collectors.toSet());
    }

    /** Finds a name and retains the inode found. Accepts {@code .} (of any inode) and {@code ..}. ENOENT, ESTALE. */
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return saw(directory, name, volume.lookup(directory, name));
    }

    private Attributes saw(long directory, byte[] name, Attributes found) {
        names.saw(directory, name, found.inode());
        return found;
    }

    /** Releases {@code references} references to an inode. Never fails. */
    public void forget(long inode, long references) {
        volume.forget(inode, references);
    }

    public Attributes attributes(long inode) throws IOException {
        return volume.attributes(inode);
    }

    /** As {@link org.opendedup.sar.volume.Volume#isBeingTruncated}. */
    public boolean isBeingTruncated(long inode) {
        return volume.isBeingTruncated(inode);
    }

    /**
     * As {@link #attributes(long)}, asked through an open file. If the kernel does not have the attributes, it asks
     * before a program writes into its write-back cache, and passes a failure on to the program. ENOSPC, or EDQUOT, if
     * bytes from that cache found no space, and there is still none.
     */
    public Attributes attributes(long inode, long handle) throws IOException {
        Integer bytes = refused.get(inode);
        if (bytes != null) {
            OpenFile file = openFiles.get(handle);
            if (file.isWritable()) {
                checkSpace(file, bytes);
                refused.remove(inode);
            }
        }
        return attributes(inode);
    }

    /** Returns whether the kernel must ask for the attributes of an inode each time, so that a writer hears of it. */
    public boolean isRefused(long inode) {
        return !refused.isEmpty() && refused.containsKey(inode);
    }

    private void checkSpace(OpenFile file, int bytes) throws IOException {
        volume.checkRoom(file, bytes);
        SpaceUse space = volume.space();
        long left =
                file.mayUseReserve() ? Math.min(space.freeBytes(), space.deviceFreeBytes()) : space.availableBytes();
        if (left < bytes) {
            throw new NoSpaceException("bytes that were written to inode " + file.inode()
                    + " found no space, and there is none for more: " + left + " bytes are left");
        }
    }

    public Attributes change(long inode, AttributeChange change) throws IOException {
        if (change.size() != null || change.uid() != null || change.gid() != null) {
            volume.dropCapability(inode);
        }
        return volume.change(inode, change);
    }

    /**
     * Changes attributes for a user. EDQUOT if the quota of a new owner or group does not admit the inode.
     *
     * @param caller number of the user who asks; quotas do not limit root
     */
    public Attributes change(long inode, AttributeChange change, int caller) throws IOException {
        if (caller == 0 || change.uid() == null && change.gid() == null) {
            return change(inode, change);
        }
        volume.dropCapability(inode);
        return volume.change(inode, change, false);
    }

    /**
     * Notes a read of a file or a symbolic link: sets the access time if the options of the mount require it. Never
     * fails.
     *
     * @return true if the access time was set
     */
    public boolean noteRead(long inode) {
        return volume.noteAccess(inode, accesses.ofFiles());
    }

    /**
     * As {@link #noteRead}, for a file that is opened for reading. If the kernel has the bytes in its cache, no read
     * request follows.
     */
    public boolean noteOpened(long inode) {
        return volume.noteOpened(inode, accesses.ofFiles());
    }

    /** As {@link #noteRead}, for the names in a directory. */
    public void noteListed(long directory) {
        volume.noteAccess(directory, accesses.ofDirectories());
    }

    /**
     * Removes the capabilities of a program file; called before a write. A truncation and a change of owner remove them
     * without this call.
     */
    public void dropCapability(long inode) throws IOException {
        volume.dropCapability(inode);
    }

    public byte[] readSymbolicLink(long inode) throws IOException {
        return volume.readSymbolicLink(inode);
    }

    /** Makes a regular file, fifo, socket or device node, and retains it. {@code mode} includes the file type. */
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller) throws IOException {
        return saw(directory, name, volume.makeNode(directory, name, mode, device, ownerIn(directory, caller)));
    }

    /** Makes a directory and retains it. */
    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller) throws IOException {
        Attributes parent = volume.attributes(directory);
        Attributes made = volume.makeDirectory(
                directory, name, FileMode.directoryModeIn(parent, mode), FileMode.ownerIn(parent, caller));
        return saw(directory, name, made);
    }

    /** Makes a symbolic link and retains it. */
    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller) throws IOException {
        return saw(directory, name, volume.makeSymbolicLink(directory, name, target, ownerIn(directory, caller)));
    }

    private Owner ownerIn(long directory, Owner caller) throws IOException {
        return FileMode.ownerIn(volume.attributes(directory), caller);
    }

    /** Adds a name to a file and retains the file. */
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        return saw(directory, name, volume.link(inode, directory, name));
    }

    public void unlink(long directory, byte[] name) throws IOException {
        volume.unlink(directory, name);
        names.removed(directory, name);
    }

    public void removeDirectory(long directory, byte[] name) throws IOException {
        volume.removeDirectory(directory, name);
        names.removed(directory, name);
    }

    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        volume.rename(directory, name, newDirectory, newName, mode);
        names.renamed(directory, name, newDirectory, newName, mode);
    }

    /** As {@link #rename}, and makes a whiteout under the old name; see {@link Volume#renameLeavingWhiteout}. */
    public void renameLeavingWhiteout(
            long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode, Owner caller)
            throws IOException {
        volume.renameLeavingWhiteout(directory, name, newDirectory, newName, mode, ownerIn(directory, caller));
        names.renamed(directory, name, newDirectory, newName, mode);
    }

    /** Lists a directory, as {@link org.opendedup.sar.volume.Volume#list}. */
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        if (cookie == SNAPSHOTS_COOKIE) {
            return;
        }
        var isTaken = new AtomicBoolean(true);
        volume.list(directory, cookie, withAttributes, (name, inode, type, next, attributes) -> {
            boolean taken = visitor.visit(name, inode, type, next, attributes);
            isTaken.set(taken);
            if (taken && attributes != null) {
                // The kernel will not send a LOOKUP for this entry.
                names.saw(directory, name, inode);
            }
            return taken;
        });
        if (directory == Inode.ROOT && showsSnapshots && isTaken.get()) {
            showSnapshots(withAttributes, visitor);
        }
    }

    private void showSnapshots(boolean withAttributes, EntryVisitor visitor) throws IOException {
        Attributes folder = lookup(Inode.ROOT, SNAPSHOTS);
        boolean taken = visitor.visit(
                SNAPSHOTS, folder.inode(), Modes.DIRECTORY, SNAPSHOTS_COOKIE, withAttributes ? folder : null);
        if (!taken || !withAttributes) {
            forget(folder.inode(), 1);
        }
    }

    /**
     * Opens a regular file. The file is readable even if it is opened for writing only: with a write-back cache, the
     * kernel reads the rest of a page that is partly written.
     *
     * @param caller the user who opens; if it is root, writes through this handle may use the capacity reserved for
     *     root, because the kernel does not report later who wrote
     * @return handle of the open file
     */
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
            reopenEmpty(handle, inode, caller);
        }
        return handle;
    }

    /**
     * Opens a file that was cut off anew, because whether it lies on the fast tier is decided when it is opened and
     * empty. It keeps its handle: another user could take the place of one that is given back, and after an open that
     * fails the kernel keeps the former length of the file.
     */
    private void reopenEmpty(long handle, long inode, Owner caller) throws IOException {
        volume.close(openFiles.get(handle));
        try {
            openFiles.replace(handle, volume.open(inode, true, caller.uid()));
        } catch (IOException | RuntimeException | Error e) {
            openFiles.remove(handle);
            names.closed(inode);
            throw e;
        }
    }

    private long open(long inode, boolean writable, Owner caller) throws IOException {
        OpenFile file = volume.open(inode, writable, caller.uid());
        if (file.takeRenewed()) {
            volume.close(file);
            // The kernel looks the name up again, and opens what it finds; the program hears nothing of it.
            throw new PosixException(Reason.ESTALE, "inode " + inode + " has lost what the fast tier had of it");
        }
        try {
            long handle = openFiles.add(file, caller.uid());
            names.opened(inode);
            return handle;
        } catch (IOException | RuntimeException | Error e) {
            volume.close(file);
            throw e;
        }
    }

    /** Makes a regular file, retains it and opens it. A file that cannot be opened is not made. */
    public CreatedFile create(long directory, byte[] name, int mode, boolean writable, Owner caller)
            throws IOException {
        Attributes made = makeNode(directory, name, mode, 0, caller);
        try {
            return new CreatedFile(made, open(made.inode(), writable, false, caller));
        } catch (IOException | RuntimeException | Error e) {
            // The kernel lets nobody else change the directory meanwhile: it is still this file's name.
            Closing.after(e, () -> unlink(directory, name));
            volume.forget(made.inode(), 1);
            throw e;
        }
    }

    /**
     * Makes a regular file without a name in {@code directory} (O_TMPFILE), retains it and opens it. {@link #link} can
     * name it.
     */
    public CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller) throws IOException {
        Attributes made = volume.makeUnnamed(directory, mode, ownerIn(directory, caller));
        try {
            return new CreatedFile(made, open(made.inode(), writable, false, caller));
        } catch (IOException | RuntimeException | Error e) {
            volume.forget(made.inode(), 1);
            throw e;
        }
    }

    /**
     * Reads up to {@code target.remaining()} bytes; returns fewer only at the end of the file. The buffer is direct and
     * belongs to the caller: do not keep it after the call.
     *
     * @return bytes read
     */
    public int read(long handle, long offset, ByteBuffer target) throws IOException {
        try {
            return volume.read(openFiles.get(handle), offset, target);
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.READ, e);
            throw e;
        }
    }

    /** Writes all bytes of {@code source}, a direct buffer of the caller. Do not keep it after the call. */
    public void write(long handle, long offset, ByteBuffer source) throws IOException {
        try {
            volume.write(openFiles.get(handle), offset, source);
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.WRITE, e);
            throw e;
        }
    }

    /**
     * As {@link #write}, for bytes that the kernel had in its write-back cache. The kernel keeps the file's times
     * meanwhile and sets them by {@link #change}, so this call does not change them. After ENOSPC or EDQUOT the kernel
     * must ask for the {@link #attributes(long, long) attributes} again: otherwise it tells a program only at fsync or
     * close.
     */
    public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
        OpenFile file = openFiles.get(handle);
        int bytes = source.remaining();
        try {
            volume.writeBack(file, offset, source);
        } catch (IOException | RuntimeException e) {
            if (isForSpace(e)) {
                refused.put(file.inode(), bytes);
            }
            failures.note(Kind.WRITE, e);
            throw e;
        }
    }

    /** Returns whether a write was refused because there is no space, or no more by a quota. */
    public static boolean isForSpace(Exception e) {
        return e instanceof NoSpaceException
                || e instanceof PosixException refusal && refusal.reason() == Reason.EDQUOT;
    }

    /** As {@link org.opendedup.sar.volume.Volume#allocate}. */
    public void allocate(long handle, long offset, long length, boolean keepSize) throws IOException {
        volume.allocate(openFiles.get(handle), offset, length, keepSize);
    }

    /** As {@link org.opendedup.sar.volume.Volume#zero}. */
    public void zero(long handle, long offset, long length, boolean keepSize) throws IOException {
        volume.zero(openFiles.get(handle), offset, length, keepSize);
    }

    /**
     * Returns whether the file is open for writing, by this handle or another. If it is, the kernel may have written
     * bytes in its cache that it has not sent yet.
     */
    public boolean hasWriters(long handle) throws IOException {
        return volume.hasWriters(openFiles.get(handle));
    }

    /** As {@link org.opendedup.sar.volume.Volume#seekData}. */
    public long seekData(long handle, long offset) throws IOException {
        return volume.seekData(openFiles.get(handle), offset);
    }

    /** As {@link org.opendedup.sar.volume.Volume#seekHole}. */
    public long seekHole(long handle, long offset) throws IOException {
        return volume.seekHole(openFiles.get(handle), offset);
    }

    /**
     * As {@link org.opendedup.sar.volume.Volume#copy}. If it fails with EOPNOTSUPP, the kernel copies the bytes by
     * reads and writes.
     */
    public long copy(long source, long from, long target, long to, long length) throws IOException {
        return volume.copy(openFiles.get(source), from, openFiles.get(target), to, length);
    }

    private void countingFailures(Closing.Step step) throws IOException {
        try {
            step.run();
        } catch (IOException | RuntimeException e) {
            failures.note(Kind.SYNC, e);
            throw e;
        }
    }

    /**
     * Called when a descriptor of the file is closed: the last chance to report the failure of an earlier write. Not a
     * sync.
     */
    public void flush(long handle) throws IOException {
        countingFailures(() -> volume.flush(openFiles.get(handle)));
    }

    /** Reports the failure of an earlier write: the last part of fsync and fdatasync. */
    public void check(long handle) throws IOException {
        countingFailures(() -> volume.check(openFiles.get(handle)));
    }

    /** Stores the written data of the file: the first part of fsync and fdatasync. */
    public void store(long handle) throws IOException {
        countingFailures(() -> volume.secure(openFiles.get(handle)));
    }

    /** Does what {@link #store} does, if that waits for nothing. Returns false if {@link #store} must be called. */
    public boolean storeAtOnce(long handle) throws IOException {
        return volume.secureAtOnce(openFiles.get(handle));
    }

    /**
     * Returns whether {@link #store} and {@link #commit} may run at the same time, and the file is durable when both
     * are done. Asked before {@link #store}.
     */
    public boolean storesBesideCommit(long handle) throws IOException {
        return volume.securesBesideCommit(openFiles.get(handle));
    }

    /** Returns whether {@link #commit} is needed after {@link #store} for the file to be durable. */
    public boolean needsCommit(long handle) throws IOException {
        return volume.needsCommit(openFiles.get(handle));
    }

    /** Returns whether the name of an open file is durable, and that its bytes are where {@link #backing} says. */
    public boolean isNameDurable(long handle) throws IOException {
        return volume.isNameDurable(openFiles.get(handle));
    }

    /**
     * Returns the descriptor of the file that has all bytes of an open file, so that the kernel may read and write it
     * itself; -1 if there is none. It stays the same, and open, while any handle of the inode is open.
     */
    public int backing(long handle) throws IOException {
        return volume.backing(openFiles.get(handle));
    }

    /** Returns whether the bytes of an open file are on the fast tier. */
    public boolean isOnFastTier(long handle) throws IOException {
        return openFiles.get(handle).isOnFastTier();
    }

    /** Stores the written data of all files: the first part of syncfs, and of fsync of a directory. */
    public void storeAll() throws IOException {
        countingFailures(() -> volume.secureAll());
    }

    /**
     * Makes the stored data and all changes of names and attributes durable. Callers that wait at the same time share
     * one commit.
     */
    public void commit() throws IOException {
        countingFailures(() -> volume.commit());
    }

    /** Returns whether any handle may write a file. */
    private boolean isWritten(long inode) {
        return openFiles.values().stream().anyMatch(file -> file.inode() == inode && file.isWritable());
    }

    /** Closes a handle. */
    public void close(long handle) throws IOException {
        OpenFile file = openFiles.remove(handle);
        names.closed(file.inode());
        if (refused.containsKey(file.inode()) && !isWritten(file.inode())) {
            refused.remove(file.inode());
        }
        volume.close(file);
    }

    /** Returns the value of the attribute, or null if there is none. */
    public byte @Nullable [] extendedAttribute(long inode, byte[] name) throws IOException {
        ExtendedAttributeName.check(name);
        return volume.extendedAttribute(inode, name);
    }

    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        ExtendedAttributeName.check(name);
        if (QuotaAttribute.is(name)) {
            throw new PosixException(PosixException.Reason.EPERM, "sdfscli VOLUME quota set changes quotas");
        }
        volume.setExtendedAttribute(inode, name, value, mode);
    }

    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        ExtendedAttributeName.check(name);
        volume.removeExtendedAttribute(inode, name);
    }

    public List<byte[]> extendedAttributes(long inode) throws IOException {
        return volume.extendedAttributes(inode);
    }

    /** Returns the number of the project that an inode is charged to; 0 if there is none. */
    public int project(long inode) throws IOException {
        return volume.quotas().project(inode);
    }

    /** Returns the value of {@link QuotaAttribute} of an inode, for a user and groups. */
    public byte[] quotas(long inode, int uid, Collection<Integer> gids) throws IOException {
        return QuotaAttribute.value(volume.quotas().statesFor(inode, uid, gids), System.currentTimeMillis());
    }

    /** Charges an inode to a project, or to none with 0. */
    public void setProject(long inode, int project) throws IOException {
        volume.quotas().setProject(inode, project);
    }

    /** Returns the space as it is in a folder, which may have a quota. */
    public SpaceUse space(long inode) throws IOException {
        return volume.space(inode);
    }

    /** Returns the name of an inode for messages: its number, and its path if the path is known without a search. */
    public String nameOf(long inode) {
        return names.of(inode);
    }

    /** As {@link #nameOf(long)}, for a name in a directory. The name need not exist. */
    public String nameOf(long directory, byte[] name) {
        return names.of(directory, name);
    }

    /**
     * Ends the service. No further call follows. Files that the kernel still had open, and inodes that it still
     * retained, are not released by calls.
     */
    public void end() {
        openFiles.removeAll().forEach(volume::close);
    }
}
