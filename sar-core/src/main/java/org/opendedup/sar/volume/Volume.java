package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.LatencyBuckets;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.restore.frame.ReadLatencies;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.Evacuation;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.engine.VolumeCreation;
import org.opendedup.sar.volume.file.AttributeChanges;
import org.opendedup.sar.volume.file.FileLengths;
import org.opendedup.sar.volume.file.FileRanges;
import org.opendedup.sar.volume.file.FileReader;
import org.opendedup.sar.volume.file.OpenFiles;
import org.opendedup.sar.volume.file.RangeCopy;
import org.opendedup.sar.volume.names.AccessTimes;
import org.opendedup.sar.volume.names.Accesses;
import org.opendedup.sar.volume.names.DirectoryTree;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.names.Listing;
import org.opendedup.sar.volume.node.ExtendedAttributes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.quota.VolumeQuotas;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.raw.Reaper;
import org.opendedup.sar.volume.snapshot.VolumeRollback;
import org.opendedup.sar.volume.snapshot.VolumeSnapshots;
import org.opendedup.sar.volume.store.RemoteStatistics;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;
import org.opendedup.sar.volume.write.FileWriter;
import org.opendedup.sar.volume.write.UnsavedChangesException;

/**
 * A deduplicating volume: the entry point of this package. Its methods use inode numbers and open files, as the kernel
 * does. Every call may throw {@link PosixException} (refused, with a POSIX reason),
 * {@link org.opendedup.sar.common.NoSpaceException} or another IOException (an I/O error). Safe for use by many
 * threads.
 *
 * <p><b>References.</b> Some calls return a new reference to an inode: lookup, the make calls, link, and a listing with
 * attributes. The reference retains the inode: it stays usable, even after its last name is removed, until
 * {@link #forget} has released as many references as were returned. An open file retains its inode too.
 *
 * <p><b>Parts.</b> This class has the POSIX calls and passes them on. {@link DirectoryTree} manages the names,
 * {@link AttributeChanges} the attributes, {@link OpenFiles} the open files. {@link FileWriter} stores written bytes,
 * and {@link FileReader} reads them. {@link FileLengths}, {@link FileRanges} and {@link RangeCopy} change files without
 * moving data. {@link Committer} makes changes durable. {@link Reaper} frees inodes without a name.
 * {@link VolumeContext} opens and closes all of them.
 *
 * <p><b>Lock order.</b> A file's {@code storing} lock, the names, the change lock, a node's monitor.
 */
public final class Volume implements Closeable {
    private final VolumeContext context;
    private final NodeTable nodes;
    private final DirectoryTree tree;
    private final Listing listing;
    private final ExtendedAttributes attributes;
    private final AttributeChanges changes;
    private final OpenFiles files;
    private final Accesses accesses;
    private final Committer committer;
    private final VolumeMaintenance maintenance;
    private final VolumeQuotas quotas;
    private final @Nullable LeaseKeeper lease;
    private boolean closed;

    private Volume(VolumeConfig config, VolumeContext context) {
        this.context = context;
        nodes = context.nodes();
        tree = context.tree();
        listing = context.listing();
        attributes = context.attributes();
        committer = context.committer();
        lease = context.engine().lease();
        maintenance = new VolumeMaintenance(config, context);
        quotas = new VolumeQuotas(context);
        FileRanges ranges = new FileRanges(context);
        changes = new AttributeChanges(context, new FileLengths(context, ranges));
        files = new OpenFiles(context, ranges);
        accesses = new Accesses(nodes, committer, context.clock());
    }

    /**
     * Creates a new, empty volume: folders, databases and root directory. Every location must be empty or must not
     * exist.
     */
    public static void create(VolumeConfig config) throws IOException {
        VolumeCreation.create(config);
    }

    /** Creates a new, empty volume in an empty directory and an empty database. */
    public static void create(VolumeConfig config, Directory data, KeyValueStore database, InstantSource clock)
            throws IOException {
        VolumeCreation.create(config, VolumeCreation.newId(config), data, database, clock);
    }

    /** Opens a volume at its locations, and recovers from a crash. */
    public static Volume open(VolumeConfig config) throws IOException {
        return open(config, Verification.CHECKSUMS);
    }

    /** Opens a volume, and recovers from a crash. Checks data that is read as {@code verification} says. */
    public static Volume open(VolumeConfig config, Verification verification) throws IOException {
        return new Volume(config, VolumeContext.open(config, verification));
    }

    /**
     * Opens a volume as {@link #open(VolumeConfig, Verification)} does.
     *
     * @param rollback sees how far a rollback is that the opening finishes, and may stop it: then the next opening goes
     *     on
     */
    public static Volume open(VolumeConfig config, Verification verification, Progress rollback) throws IOException {
        return new Volume(config, VolumeContext.open(config, verification, rollback));
    }

    /** Opens a volume so that nothing of it changes: what would is refused with EROFS. First recovers from a crash. */
    public static Volume openReadOnly(VolumeConfig config, Verification verification) throws IOException {
        return new Volume(config, ReadOnlyOpening.open(config, verification));
    }

    /** Opens a volume on stores that the caller provides. Closing the volume closes them. */
    public static Volume open(VolumeConfig config, VolumeStores stores, Verification verification) throws IOException {
        return new Volume(config, VolumeContext.open(config, stores, verification));
    }

    /**
     * Makes a folder a data location of an existing volume, mounted or not. The volume uses it once its configuration
     * names it, from the next opening on, or from {@link #addDataLocation} on.
     *
     * @param first the first data location of the volume
     * @param folder missing, or empty, or made so before
     * @throws IOException if the folder is of use for something else, or there is no volume in {@code first}
     */
    public static void prepareDataLocation(Path first, Path folder) throws IOException {
        VolumeLocations.addFolder(first, folder);
    }

    /**
     * Uses a further data location from now on, which was prepared, and which the configuration for the next opening
     * names already.
     *
     * @throws IOException if it cannot be used; the next opening tries again
     */
    public void addDataLocation(Path folder) throws IOException {
        context.engine().addLocation(folder);
    }

    /** See {@link Evacuation#whenLeft}; the collector moves the containers. */
    public void whenLeft(Evacuation.Forgetting forgetting) throws IOException {
        context.engine().evacuation().whenLeft(forgetting);
    }

    /**
     * Changes the capacity of the volume until it is closed.
     *
     * @param capacityBytes most bytes that its files may have
     * @param usersPercent share of it that users other than root can take, in percent
     * @throws org.opendedup.sar.common.NoSpaceException if the files have more bytes; then nothing is changed
     */
    public void resize(long capacityBytes, int usersPercent) throws IOException {
        context.capacity().resize(capacityBytes, usersPercent);
    }

    /**
     * Returns the hot chunks on the SSD, for administration. A volume without an SSD location also has them, in state
     * NONE.
     */
    public HotChunks hot() {
        return context.hot();
    }

    public VolumeContext context() {
        return context;
    }

    /** Finds a name in a directory, and retains the inode found. ENOENT, ENOTDIR. */
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return tree.lookup(directory, name);
    }

    /** Releases {@code references} references to an inode. Never fails. */
    public void forget(long inode, long references) {
        nodes.forget(inode, references);
    }

    public Attributes attributes(long inode) throws IOException {
        return nodes.with(inode, Node::attributes);
    }

    /**
     * Returns whether a file is being truncated. Writes, allocations and further truncations wait for the end of that,
     * which may take minutes.
     */
    public boolean isBeingTruncated(long inode) {
        return nodes.isCutting(inode);
    }

    /**
     * Records that an inode's bytes, names or target are being read. The next commit makes the access time durable.
     * Never fails. The access time stays unchanged while the volume is read-only or short of space or memory.
     *
     * @return whether the access time was set
     */
    public boolean noteAccess(long inode, AccessTimes rule) {
        return rule != AccessTimes.NEVER && accesses.note(inode, rule);
    }

    /**
     * Records an access as {@link #noteAccess} does, for a file that is opened for reading. If the kernel may have the
     * file's bytes in its page cache, it may send no read. Opening the file is then treated as reading it.
     */
    public boolean noteOpened(long inode, AccessTimes rule) {
        return rule != AccessTimes.NEVER && accesses.noteOpened(inode, rule);
    }

    /** Changes attributes as {@link #change(long, AttributeChange, boolean)} does, whatever the quotas are. */
    public Attributes change(long inode, AttributeChange change) throws IOException {
        return change(inode, change, true);
    }

    /**
     * Changes attributes. EISDIR or EINVAL if the length of something other than a regular file is to change. EDQUOT if
     * the new owner's or group's quota does not admit the inode.
     *
     * @param isExempt whether quotas do not matter, as for root
     */
    public Attributes change(long inode, AttributeChange change, boolean isExempt) throws IOException {
        return changes.change(inode, change, isExempt);
    }

    /**
     * Creates a regular file, fifo, socket or device node, and retains it. EEXIST.
     *
     * @param mode file type and permissions
     */
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner owner) throws IOException {
        return tree.make(directory, name, mode, device, new byte[0], owner);
    }

    /**
     * Creates a regular file without a name, and retains it. {@link #link} can add a name. Without one, the file is
     * deleted when its last reference is released, or after a crash.
     *
     * @param directory the directory whose default access control list applies
     * @param mode permissions
     */
    public Attributes makeUnnamed(long directory, int mode, Owner owner) throws IOException {
        return tree.makeUnnamed(directory, Modes.REGULAR | mode & Modes.PERMISSIONS, owner);
    }

    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner owner) throws IOException {
        return tree.make(directory, name, Modes.DIRECTORY | mode & Modes.PERMISSIONS, 0, new byte[0], owner);
    }

    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner owner) throws IOException {
        return tree.makeSymbolicLink(directory, name, target, owner);
    }

    /** Returns the target of a symbolic link. EINVAL if the inode is not a symbolic link. */
    public byte[] readSymbolicLink(long inode) throws IOException {
        return nodes.with(inode, nodes::targetOfLink);
    }

    /** Adds a name to a file that is not a directory, and retains the file. EEXIST, EMLINK, EPERM. */
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        return tree.link(inode, directory, name);
    }

    public void unlink(long directory, byte[] name) throws IOException {
        tree.unlink(directory, name);
    }

    public void removeDirectory(long directory, byte[] name) throws IOException {
        tree.removeDirectory(directory, name);
    }

    /**
     * Renames a file or directory atomically. ENOENT, EEXIST, ENOTEMPTY, EISDIR, ENOTDIR, EINVAL (a directory into
     * itself).
     */
    public void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        tree.rename(directory, name, newDirectory, newName, mode, null);
    }

    /**
     * As {@link #rename}, and makes a whiteout under the old name in the same step: a character device 0:0, by which an
     * overlay file system hides a name of its lower layers.
     *
     * @param mode not {@link RenameMode#EXCHANGE}
     * @param owner of the whiteout
     */
    public void renameLeavingWhiteout(
            long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode, Owner owner)
            throws IOException {
        tree.rename(directory, name, newDirectory, newName, mode, owner);
    }

    /**
     * Lists a directory, with {@code .} and {@code ..} first.
     *
     * @param cookie 0 to start at the beginning, or an entry's cookie to continue after that entry
     * @param withAttributes whether to pass each entry's attributes, and to retain each inode that the visitor accepts
     *     (except {@code .} and {@code ..})
     */
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        listing.list(directory, cookie, withAttributes, visitor);
    }

    /** Returns for how many files that are open at a time there is memory. The front end refuses more. */
    public int mostOpenFiles() {
        return context.mostOpenFiles();
    }

    /** Opens a regular file for nobody in particular. EISDIR. */
    public OpenFile open(long inode, boolean writable) throws IOException {
        return open(inode, writable, OpenFiles.NOBODY);
    }

    /** Opens a regular file; root may use all of the capacity. EISDIR; ENFILE: too many raw files are open. */
    public OpenFile open(long inode, boolean writable, int user) throws IOException {
        return files.open(inode, writable, user);
    }

    /**
     * Reads into {@code target}, up to its remaining bytes, and advances its position.
     *
     * @return number of bytes read; less than requested only at the end of the file
     */
    public int read(OpenFile file, long offset, ByteBuffer target) throws IOException {
        return files.read(file, offset, target);
    }

    /**
     * Writes all of {@code source}'s remaining bytes. They are guaranteed to be durable only after
     * {@link #sync(OpenFile)}.
     */
    public void write(OpenFile file, long offset, ByteBuffer source) throws IOException {
        files.write(file, offset, source, true);
    }

    /**
     * Writes as {@link #write(OpenFile, long, ByteBuffer)} does, bytes that a write-back cache above the volume has
     * held back. Leaves the file's times unchanged: that cache knows when its user wrote, and sets the times with
     * {@link #change}, possibly before this call.
     */
    public void writeBack(OpenFile file, long offset, ByteBuffer source) throws IOException {
        files.write(file, offset, source, false);
    }

    /**
     * Implements fallocate(2): makes the file at least {@code offset + length} bytes long, unless its size is to be
     * kept. Holes stay holes. No space is reserved before bytes are written, because it is unknown which of them will
     * be duplicates. ENOSPC if the range needs more than {@link #space} reports as available.
     */
    public void allocate(OpenFile file, long offset, long length, boolean keepSize) throws IOException {
        files.allocate(file, offset, length, keepSize);
    }

    /**
     * Implements fallocate(2) with FALLOC_FL_ZERO_RANGE, and FALLOC_FL_PUNCH_HOLE with {@code keepSize}: makes a range
     * read as zeros. Frees the data of the range. Unless the size is to be kept, extends the file to the end of the
     * range if it is shorter.
     */
    public void zero(OpenFile file, long offset, long length, boolean keepSize) throws IOException {
        files.zero(file, offset, length, keepSize);
    }

    /** Returns whether the file is open for writing, by this opening or another. */
    public boolean hasWriters(OpenFile file) {
        return files.hasWriters(file);
    }

    /**
     * Returns the first offset at or after {@code offset} that may hold data, in blocks of 4096 bytes. Blocks that were
     * written as zeros may count as a hole. ENXIO if there is no such offset, or at the end of the file.
     */
    public long seekData(OpenFile file, long offset) throws IOException {
        return files.seekData(file, offset);
    }

    /**
     * Returns the first offset at or after {@code offset} whose block is a hole. The end of the file counts as a hole.
     * ENXIO at the end.
     */
    public long seekHole(OpenFile file, long offset) throws IOException {
        return files.seekHole(file, offset);
    }

    /**
     * Implements copy_file_range(2): copies bytes of a file by reference; no data moves. Source and target may be the
     * same file if the ranges do not overlap (otherwise EINVAL). EOPNOTSUPP if a chunk cannot be referenced once more,
     * or one of the files is being truncated.
     *
     * @return number of bytes copied; less than requested at the source's end, or if the caller must call again for the
     *     rest
     */
    public long copy(OpenFile source, long from, OpenFile target, long to, long length) throws IOException {
        return files.copy(source, from, target, to, length);
    }

    /**
     * Reports to a writer an accepted write that failed later, or one that waits because a disk failed. Called at each
     * close(2). Does not sync.
     */
    public void flush(OpenFile file) throws IOException {
        files.flush(file);
    }

    /** Reports what {@link #flush} reports, whoever opened the file: the last part of {@link #sync(OpenFile)}. */
    public void check(OpenFile file) throws IOException {
        files.check(file);
    }

    /**
     * Returns the descriptor of the file that has all bytes of an open file, as one of this process: the kernel may
     * read and write it itself. -1 if there is none, or the volume is nearly full. It stays the same, and open, as long
     * as the inode is open.
     */
    public int backing(OpenFile file) {
        RawFile raw = file.raw();
        return raw == null ? -1 : raw.descriptorForKernel();
    }

    /**
     * Returns whether {@link #secure} and {@link #commit} may run at the same time, and the file is durable when both
     * are done. Asked before {@link #secure}. True for a raw file with changes that a commit makes durable: its bytes
     * are not part of the commit.
     */
    public boolean securesBesideCommit(OpenFile file) {
        return file.raw() != null && files.needsCommit(file);
    }

    /** Returns whether {@link #commit} is needed after {@link #secure} for the file to be durable. */
    public boolean needsCommit(OpenFile file) {
        return files.needsCommit(file);
    }

    /** Returns whether a commit made the names of an open raw file durable, and that it is raw. */
    public boolean isNameDurable(OpenFile file) {
        return files.isNameDurable(file);
    }

    /** Implements fsync and fdatasync: returns when all bytes written to the file are durable. */
    public void sync(OpenFile file) throws IOException {
        files.sync(file);
    }

    /**
     * Makes the file's dirty bytes part of the next commit: the first part of {@link #sync(OpenFile)}. {@link #commit}
     * and {@link #check} are the other parts.
     */
    public void secure(OpenFile file) throws IOException {
        files.store(file);
    }

    /** Does what {@link #secure} does, if that waits for nothing. Returns false if nothing was done. */
    public boolean secureAtOnce(OpenFile file) throws IOException {
        return files.storeAtOnce(file);
    }

    /**
     * Stores all bytes in chunks; makes every earlier change durable. Throws, once, if bytes were given up; and if the
     * fast tier fails or does not answer, when all that is elsewhere is durable.
     */
    public void sync() throws IOException {
        Closing steps = new Closing();
        steps.run(context.raws()::sync);
        steps.run(() -> {
            context.commits().storeAll();
            commit();
        });
        steps.finish();
    }

    /** Makes the bytes of all files part of the next {@link #commit}. Throws as {@link #sync()} does. */
    public void secureAll() throws IOException {
        Closing steps = new Closing();
        steps.run(context.raws()::sync);
        steps.run(context.commits()::secureAll);
        steps.finish();
    }

    /** Makes everything durable that is stored or in the intent log. Callers at the same time share one commit. */
    public void commit() throws IOException {
        committer.commit();
    }

    /**
     * Returns when the volume may be used: at once if it is on this machine only.
     *
     * @throws IOException if it is in an object store and another machine may use it now; see {@link LeaseKeeper}
     */
    public void requireLease() throws IOException {
        if (lease != null) {
            lease.require();
        }
    }

    /** Returns what keeps other machines from using the volume; null: it is on this one only. */
    public @Nullable LeaseKeeper lease() {
        return lease;
    }

    /** Returns why the volume refuses changes, as text; null while it accepts them. */
    public @Nullable String stopped() {
        return committer.stopped();
    }

    /**
     * Accepts changes again after a disk write failed, and makes durable everything that has waited in memory since.
     * Does nothing if no write failed.
     *
     * @return whether a write had failed
     * @throws IOException if writing fails again. The volume stays read-only and keeps what it has in memory. The
     *     message says whether to retry or to mount the volume again
     */
    public boolean resume() throws IOException {
        boolean resumed = committer.resume();
        if (resumed) {
            sync();
        }
        return resumed;
    }

    /** Returns the sequential readers that are currently read ahead for. */
    public List<StreamStatus> readers() {
        return context.restore().readers();
    }

    /** Returns how long reads of files took since the volume was opened, by where their bytes came from. */
    public Map<ReadLatencies.From, LatencyBuckets.Counts> readLatencies() {
        return context.restore().latencies().counts();
    }

    /** Returns the status of the device that holds the containers, as measured by reads. */
    public DiskStatus disk() {
        return context.disk().status();
    }

    /** Closes one opening of a file. Idempotent. Never fails; {@link #flush} reports errors. */
    public void close(OpenFile file) {
        files.close(file);
    }

    /** Returns the value of an extended attribute, or null if there is none. */
    public byte @Nullable [] extendedAttribute(long inode, byte[] name) throws IOException {
        return changes.extended(inode, name);
    }

    /**
     * Sets an extended attribute. EEXIST, ENODATA, E2BIG, ERANGE (a long name), ENOSPC (too many names). Setting a
     * POSIX access control list ({@code system.posix_acl_access} and {@code _default}) also changes the mode; EINVAL if
     * the list is malformed.
     */
    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        changes.setExtended(inode, name, value, mode);
    }

    /** Removes an extended attribute. ENODATA if there is none, except for access control lists. */
    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        changes.removeExtended(inode, name);
    }

    public List<byte[]> extendedAttributes(long inode) throws IOException {
        return nodes.with(inode, attributes::names);
    }

    /**
     * Removes a program's capabilities ({@code security.capability}). Every change of the file requires this. Cheap if
     * the file has none. Directories keep theirs, because they have no effect there.
     */
    public void dropCapability(long inode) throws IOException {
        changes.dropCapability(inode);
    }

    /** Returns the fast tier's raw files, for administration. */
    public FastTier fastTier() {
        return context.fastTier();
    }

    /** Returns the snapshots. */
    public VolumeSnapshots snapshots() {
        return context.snapshots();
    }

    /** Returns what asks for a rollback of the volume to one of its snapshots. */
    public VolumeRollback rollback() {
        return context.rollback();
    }

    /** Returns the collector of the volume's garbage. */
    public SpaceCollector collector() {
        return context.collector();
    }

    /** Returns the maintenance operations on stored files that go beyond POSIX. */
    public VolumeMaintenance maintenance() {
        return maintenance;
    }

    /** Returns whether the volume receives snapshots of another one, so that programs cannot change its files. */
    public boolean isReplica() throws IOException {
        return snapshots().isReplica();
    }

    /** Returns the unique id of this volume. */
    public UUID identity() {
        return context.metadata().header().volume();
    }

    public SpaceUse space() throws IOException {
        return SpaceUse.of(context);
    }

    /** Returns the space as it is in a folder, which may have a quota. */
    public SpaceUse space(long inode) throws IOException {
        Account account = nodes.with(inode, Node::account);
        return space().within(context.metadata().quotas().leftOfProject(account));
    }

    /** Returns the limits of users, groups and folders. */
    public VolumeQuotas quotas() {
        return quotas;
    }

    /**
     * Checks that {@code bytes} bytes more could be written to an open file now by the capacity and by the quotas.
     * ENOSPC, EDQUOT.
     */
    public void checkRoom(OpenFile file, long bytes) throws IOException {
        context.capacity().check(file.node().account(), bytes, file.mayUseReserve());
    }

    public VolumeCondition condition() throws IOException {
        return context.engineInUse().condition();
    }

    /** Returns what is to be known of the volume's object store; null: it is on this machine only. */
    public @Nullable RemoteStatistics remote() {
        return context.engine().remote();
    }

    public VolumeStatistics statistics() throws IOException {
        return VolumeStatistics.of(context);
    }

    /**
     * Stores, commits and closes everything. Idempotent.
     *
     * @throws UnsavedChangesException if some accepted changes could not be made durable
     */
    @Override
    public synchronized void close() throws IOException {
        if (!closed) {
            closed = true;
            maintenance.heal().stop();
            context.close();
        }
    }
}
