package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.KeyValueStore;
import org.opendedup.sar.metadata.MetadataHeader;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Totals;
import org.opendedup.sar.restore.ContainerOrderRestore;
import org.opendedup.sar.restore.DiskModel;
import org.opendedup.sar.restore.DiskStatus;
import org.opendedup.sar.restore.FileFragmentation;
import org.opendedup.sar.restore.FragmentationAnalyzer;
import org.opendedup.sar.restore.SparseContainer;
import org.opendedup.sar.restore.StopCheck;
import org.opendedup.sar.restore.StreamStatus;
import org.opendedup.sar.tier.FileExplainer;
import org.opendedup.sar.tier.FileExplanation;
import org.opendedup.sar.tier.FileExplanation.ChunkVisitor;
import org.opendedup.sar.tier.SsdTier;

/**
 * A deduplicating volume. Speaks inode numbers and open files, as the kernel does. Every call may fail with {@link
 * PosixException} (refused, with a POSIX reason), {@link org.opendedup.sar.common.NoSpaceException} or another IOException
 * (an I/O error). Safe for use by many threads.
 *
 * <p><b>References.</b> A call that hands out a new reference to an inode (lookup, the make calls, link, a listing with
 * attributes) retains it: the inode stays usable, also when its last name goes, until {@link #forget} has been called as
 * often. An open file retains its inode too.
 *
 * <p><b>Inside.</b> {@link Tree} has the names, {@link FileWriter} the bytes on their way in, {@link FileReader} those on
 * their way out; {@link FileLengths}, {@link FileRanges} and {@link RangeCopy} change files without data; {@link Committer}
 * makes changes durable, {@link Reaper} frees what no name leads to. Locks are taken in this order: a file's {@code storing}
 * lock, the lock of the names, the change lock, a node's monitor.
 */
public final class Volume implements Closeable {
    private static final int MAX_TARGET_BYTES = 4095;
    /** No file is longer; offsets stay far from overflowing. */
    private static final long MAX_FILE_BYTES = 1L << 60;
    /**
     * Containers of up to four MiB: long enough for a disk to stream, short enough to be rewritten at once. What the last frames
     * and the directory add must not carry a file beyond that: ext4 gives space in pieces of 2 MiB to files of up to 4 MiB, of 4 MiB to
     * larger ones, and what they do not fill lies fallow between them. A disk then seeks from each container to the next.
     */
    public static final int CONTAINER_BYTES = (4 << 20) - (384 << 10);

    /** A restore looks so many times its memory ahead in the file, and keeps what it will want again. */
    public static final int WINDOWS_OF_CACHE = 8;

    private final VolumeConfig config;
    private final VolumeParts parts;
    private final InstantSource clock;
    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final Tree tree;
    private final Listing listing;
    private final ExtendedAttributes attributes;
    private final FileReader reader;
    private final FileWriter writer;
    private final FileLengths lengths;
    private final FileRanges ranges;
    private final RangeCopy copies;
    private final Committer committer;
    private boolean closed;

    private Volume(VolumeConfig config, VolumeParts parts, InstantSource clock) {
        this.config = config;
        this.parts = parts;
        this.clock = clock;
        metadata = parts.metadata();
        nodes = parts.nodes();
        tree = parts.tree();
        listing = parts.listing();
        attributes = parts.attributes();
        writer = parts.writer();
        committer = parts.committer();
        reader = new FileReader();
        ranges = new FileRanges(parts);
        lengths = new FileLengths(parts, ranges);
        copies = new RangeCopy(parts);
    }

    /** Makes a new, empty volume: folders, databases, root directory. Every location must be empty or not exist. */
    public static void create(VolumeConfig config) throws IOException {
        VolumeLocations.create(config.locations());
        UUID volume = UUID.randomUUID();
        Path ssd = config.locations().ssd();
        if (ssd != null) {
            SsdTier.create(ssd, Timeline.beginning(volume, 0));
        }
        try (KeyValueStore database = VolumeLocations.createMetadata(config)) {
            Directory data = FileDirectory.open(config.locations().data());
            create(config, volume, data, database, InstantSource.system());
        }
    }

    /** Makes a new, empty volume in an empty directory and an empty database. */
    public static void create(VolumeConfig config, Directory data, KeyValueStore database, InstantSource clock)
            throws IOException {
        create(config, UUID.randomUUID(), data, database, clock);
    }

    private static void create(
            VolumeConfig config, UUID volume, Directory data, KeyValueStore database, InstantSource clock)
            throws IOException {
        long now = TimeStamps.now(clock);
        MetadataHeader header = new MetadataHeader(volume, config.pageBytes(), now, MetadataHeader.FORMAT_VERSION);
        MetadataStore metadata = MetadataStore.format(database, header);
        VolumeIdentity.write(data, metadata.epochs().current());
        metadata.namespace()
                .put(new Inode(
                        Inode.ROOT,
                        1,
                        Modes.DIRECTORY | config.rootMode(),
                        2,
                        config.rootUid(),
                        config.rootGid(),
                        0,
                        0,
                        0,
                        Inode.ROOT,
                        now,
                        now,
                        now,
                        now,
                        new byte[0]));
        metadata.addToTotals(0, 1, 0, 0);
        metadata.commit(metadata.freeze());
    }

    /** Opens a volume at its locations, recovering what a crash left. */
    public static Volume open(VolumeConfig config) throws IOException {
        return open(config, Verification.CHECKSUMS);
    }

    /** As {@link #open(VolumeConfig)}, with a choice of what is checked when it is read. */
    public static Volume open(VolumeConfig config, Verification verification) throws IOException {
        Ballasts ballasts = Ballasts.of(config.locations());
        try {
            return open(config, verification, ballasts);
        } catch (IOException e) {
            if (!Device.isFull(e) || !ballasts.free("open the volume")) {
                throw e;
            }
            return open(config, verification, ballasts);
        }
    }

    private static Volume open(VolumeConfig config, Verification verification, Ballasts ballasts) throws IOException {
        VolumeStores stores = VolumeLocations.open(config, ballasts);
        try {
            return open(config, stores, verification);
        } catch (IOException | RuntimeException e) {
            Closing closing = new Closing();
            closing.run(stores.index()::close);
            closing.run(stores.metadata()::close);
            closing.suppressedBy(e);
            throw e;
        }
    }

    /** Opens a volume on stores of the caller's; closing the volume closes them. */
    public static Volume open(VolumeConfig config, VolumeStores stores, Verification verification) throws IOException {
        return new Volume(config, VolumeParts.open(config, stores, verification), stores.clock());
    }

    /** The SSD of this volume, for its administration. One without an SSD location has a tier too, of the state NONE. */
    public SsdTier tier() {
        return parts.tier();
    }

    /** The parts of this volume; for the checker. */
    VolumeParts parts() {
        return parts;
    }

    /** Finds a name in a directory; retains what it finds. ENOENT, ENOTDIR. */
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return tree.lookup(directory, name);
    }

    /** Gives back {@code references} references to an inode. Never fails. */
    public void forget(long inode, long references) {
        nodes.forget(inode, references);
    }

    public Attributes attributes(long inode) throws IOException {
        Node node = nodes.pin(inode);
        try {
            return node.attributes();
        } finally {
            nodes.unpin(node);
        }
    }

    /** Changes attributes. EISDIR, EINVAL for a length of what is not a regular file. */
    public Attributes change(long inode, AttributeChange change) throws IOException {
        committer.checkWritable();
        Node node = nodes.pin(inode);
        try {
            long now = TimeStamps.now(clock);
            Long size = change.size();
            if (size != null) {
                checkRange(0, size);
                if (!lengths.change(node, size, now) && change.isOfSizeAlone()) {
                    return node.attributes();
                }
            }
            Integer mode = change.mode();
            if (mode != null) {
                // Its access list changes with it, and may be changed by others.
                return tree.alone(() -> {
                    attributes.changeMode(node, mode);
                    return apply(node, change, now);
                });
            }
            committer.changes().lock();
            try {
                return apply(node, change, now);
            } finally {
                committer.changes().unlock();
            }
        } finally {
            nodes.unpin(node);
        }
    }

    /** Returns what the attributes are then. */
    private Attributes apply(Node node, AttributeChange change, long now) {
        synchronized (node) {
            applyLocked(node, change, now);
            nodes.markDirty(node);
            return node.attributes();
        }
    }

    private static void applyLocked(Node node, AttributeChange change, long now) {
        if (change.mode() != null) {
            node.mode = node.type | change.mode() & Modes.PERMISSIONS;
        }
        node.uid = change.uid() == null ? node.uid : change.uid();
        node.gid = change.gid() == null ? node.gid : change.gid();
        node.accessedNs = change.accessedNs() == null ? node.accessedNs : change.accessedNs();
        node.modifiedNs = change.modifiedNs() == null ? node.modifiedNs : change.modifiedNs();
        node.changedNs = change.changedNs() == null ? now : change.changedNs();
    }

    /** Makes a regular file, fifo, socket or device node; {@code mode} holds type and permissions. Retains it. EEXIST. */
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner owner) throws IOException {
        return tree.make(directory, name, mode, device, new byte[0], owner);
    }

    /**
     * Makes a regular file that has no name yet; retains it. {@link #link} can give it one; else it goes with the last
     * reference, and in a crash.
     *
     * @param directory where it would lie: its default access list holds
     * @param mode permissions
     */
    public Attributes makeUnnamed(long directory, int mode, Owner owner) throws IOException {
        return tree.makeUnnamed(directory, Modes.REGULAR | mode & Modes.PERMISSIONS, owner);
    }

    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner owner) throws IOException {
        return tree.make(directory, name, Modes.DIRECTORY | mode & Modes.PERMISSIONS, 0, new byte[0], owner);
    }

    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner owner) throws IOException {
        if (target.length == 0 || target.length > MAX_TARGET_BYTES) {
            throw new PosixException(
                    target.length == 0 ? Reason.ENOENT : Reason.ENAMETOOLONG, "target of " + target.length + " bytes");
        }
        return tree.make(directory, name, Modes.SYMBOLIC_LINK | 0777, 0, target, owner);
    }

    /** EINVAL if it is no symbolic link. */
    public byte[] readSymbolicLink(long inode) throws IOException {
        Node node = nodes.pin(inode);
        try {
            if (!node.isSymbolicLink()) {
                throw new PosixException(Reason.EINVAL, "inode " + inode + " is no symbolic link");
            }
            return nodes.target(node);
        } finally {
            nodes.unpin(node);
        }
    }

    /** Gives a file that is not a directory another name; retains it. EEXIST, EMLINK, EPERM. */
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        return tree.link(inode, directory, name);
    }

    public void unlink(long directory, byte[] name) throws IOException {
        tree.unlink(directory, name);
    }

    public void removeDirectory(long directory, byte[] name) throws IOException {
        tree.removeDirectory(directory, name);
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
        tree.rename(directory, name, newDirectory, newName, mode);
    }

    /**
     * Lists a directory, {@code .} and {@code ..} first.
     *
     * @param cookie 0 for the beginning, else an entry's cookie, to continue behind it
     * @param withAttributes also gives each entry's attributes, and retains each inode that the visitor takes (but {@code
     *     .} and {@code ..})
     */
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        listing.list(directory, cookie, withAttributes, visitor);
    }

    /** Opens a regular file for somebody else than root. EISDIR. */
    public OpenFile open(long inode, boolean writable) throws IOException {
        return open(inode, writable, false);
    }

    /**
     * Opens a regular file. EISDIR.
     *
     * @param mayUseReserve whether what is written may take what of the capacity is kept for root
     */
    public OpenFile open(long inode, boolean writable, boolean mayUseReserve) throws IOException {
        Node node = nodes.pin(inode);
        if (!node.isRegular()) {
            nodes.unpin(node);
            throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + inode);
        }
        node.use(parts.dirtyBudget(), parts.capacity());
        int told;
        synchronized (node) {
            node.contents().writers += writable ? 1 : 0;
            told = node.failuresTold;
        }
        return new OpenFile(node, writable, mayUseReserve, told, parts.restore().stream(inode));
    }

    /**
     * Reads into {@code target}, up to its remaining bytes, and moves its position.
     *
     * @return bytes read; fewer than asked for only at the end of the file
     */
    public int read(OpenFile file, long offset, ByteBuffer target) throws IOException {
        file.begin();
        try {
            int length = reader.read(file, offset, target);
            parts.readBytes().add(length);
            return length;
        } finally {
            end(file);
        }
    }

    /** Writes all of {@code source}'s remaining bytes; they may be durable only after {@link #sync(OpenFile, boolean)}. */
    public void write(OpenFile file, long offset, ByteBuffer source) throws IOException {
        write(file, offset, source, true);
    }

    /**
     * As {@link #write(OpenFile, long, ByteBuffer)}, of bytes that a cache above has held back: the times stay, as that cache
     * knows when its user wrote, and says so by {@link #change}, perhaps before this call.
     */
    public void writeBack(OpenFile file, long offset, ByteBuffer source) throws IOException {
        write(file, offset, source, false);
    }

    private void write(OpenFile file, long offset, ByteBuffer source, boolean touch) throws IOException {
        checkWritable(file);
        int length = source.remaining();
        checkRange(offset, length);
        if (length == 0) {
            return;
        }
        parts.devices().admitData(length, parts.underWayBytes());
        writer.write(new FileWriter.Write(file, offset, source, TimeStamps.now(clock), file.mayUseReserve(), touch));
        parts.writtenBytes().add(length);
    }

    /**
     * fallocate(2): makes sure that the file is {@code offset + length} bytes long, unless its size is to be kept. Holes stay
     * holes: space is no one's before it is written, as nobody knows what will be a duplicate. ENOSPC for more than is free.
     */
    public void allocate(OpenFile file, long offset, long length, boolean keepSize) throws IOException {
        checkChange(file, offset, length);
        ranges.allocate(file.node(), offset, offset + length, keepSize, file.mayUseReserve(), TimeStamps.now(clock));
    }

    /**
     * fallocate(2), FALLOC_FL_ZERO_RANGE, and FALLOC_FL_PUNCH_HOLE with {@code keepSize}: makes a range read as zeros. What
     * it held is freed; unless the size is to be kept, the file grows to the range's end.
     */
    public void zero(OpenFile file, long offset, long length, boolean keepSize) throws IOException {
        checkChange(file, offset, length);
        ranges.zero(file.node(), offset, offset + length, keepSize, TimeStamps.now(clock));
    }

    private void checkChange(OpenFile file, long offset, long length) throws IOException {
        checkRange(offset, length);
        if (length == 0) {
            throw new PosixException(Reason.EINVAL, "a range of no bytes");
        }
        checkWritable(file);
    }

    private void checkWritable(OpenFile file) throws IOException {
        if (!file.isWritable()) {
            throw new PosixException(Reason.EBADF, "inode " + file.inode() + " was opened for reading");
        }
        committer.checkWritable();
        writer.checkNotFailed(file.node(), file);
        parts.reaper().checkTail(file.inode());
    }

    /** Whether the file is open for writing, by this opening or another. */
    public boolean hasWriters(OpenFile file) {
        synchronized (file.node()) {
            return file.node().contents().writers > 0;
        }
    }

    /**
     * The first offset from {@code offset} on that may hold data, in blocks of 4096 bytes. Blocks that were written as zeros may
     * count as a hole. ENXIO if there is none, or at the end.
     */
    public long seekData(OpenFile file, long offset) throws IOException {
        return ranges.seekData(file.node(), offset);
    }

    /** The first offset from {@code offset} on whose block is a hole; the end of the file is one. ENXIO at the end. */
    public long seekHole(OpenFile file, long offset) throws IOException {
        return ranges.seekHole(file.node(), offset);
    }

    /**
     * copy_file_range(2): copies bytes of a file by their references; no data moves. Both files may be the same one if the
     * ranges do not overlap (EINVAL). EOPNOTSUPP if a chunk cannot be referenced once more.
     *
     * @return bytes copied; fewer than asked for at the source's end, or if the caller is to ask again for the rest
     */
    public long copy(OpenFile source, long from, OpenFile target, long to, long length) throws IOException {
        // A length may reach far behind the source's end.
        long possible = Math.min(length, Math.max(0, MAX_FILE_BYTES - Math.max(from, to)));
        checkRange(from, possible);
        checkRange(to, possible);
        checkWritable(target);
        parts.reaper().checkTail(source.inode());
        return copies.copy(source.node(), from, target, to, possible, TimeStamps.now(clock));
    }

    private static void checkRange(long offset, long length) throws PosixException {
        if (offset < 0 || length < 0) {
            throw new PosixException(Reason.EINVAL, "offset " + offset + ", length " + length);
        }
        if (offset > MAX_FILE_BYTES - length) {
            throw new PosixException(Reason.EFBIG, "a file has at most " + MAX_FILE_BYTES + " bytes");
        }
    }

    /** Reports a write that failed after it was accepted; called at each close(2). Not a sync. */
    public void flush(OpenFile file) throws IOException {
        writer.checkNotFailed(file.node(), file);
    }

    /** fsync, or with {@code dataOnly} fdatasync: returns when all that was written to the file is durable. */
    public void sync(OpenFile file, boolean dataOnly) throws IOException {
        file.begin();
        try {
            store(file);
            commit();
            flush(file);
        } finally {
            end(file);
        }
    }

    /** The first part of {@link #sync(OpenFile, boolean)}: {@link #commit} and {@link #flush} are the others. */
    public void store(OpenFile file) throws IOException {
        file.begin();
        try {
            writer.checkNotFailed(file.node(), file);
            committer.retryIfShort();
            writer.storeAll(file.node());
        } finally {
            end(file);
        }
    }

    /** Makes every change made so far durable (fsync of a directory, syncfs). */
    public void sync() throws IOException {
        storeAll();
        commit();
    }

    /** The first part of {@link #sync()}: {@link #commit} is the other. */
    public void storeAll() throws IOException {
        committer.retryIfShort();
        writer.storeEverything();
    }

    /** Makes durable what is stored. Callers that wait together share one commit. */
    public void commit() throws IOException {
        committer.commit();
    }

    /** The readers in sequence that are read ahead for now. */
    public List<StreamStatus> readers() {
        return parts.restore().readers();
    }

    /** The device that has the containers, as reading finds it. */
    public DiskStatus disk() {
        return parts.disk().status();
    }

    /** The memory that readers in sequence take: at most what the settings of the restore give them, and a fifth of it. */
    public ByteGauge readAheadMemory() {
        return parts.restore().memory();
    }

    /** Ends one opening. Idempotent; never fails (errors are told by {@link #flush}). */
    public void close(OpenFile file) {
        file.reader().close();
        if (file.markClosed()) {
            letGo(file);
        }
    }

    private void end(OpenFile file) {
        if (file.end()) {
            letGo(file);
        }
    }

    private void letGo(OpenFile file) {
        synchronized (file.node()) {
            file.node().contents().writers -= file.isWritable() ? 1 : 0;
        }
        file.node().leave();
        nodes.unpin(file.node());
    }

    /** The value of an extended attribute, or null. */
    public byte @Nullable [] extendedAttribute(long inode, byte[] name) throws IOException {
        Node node = nodes.pin(inode);
        try {
            return attributes.get(node, name);
        } finally {
            nodes.unpin(node);
        }
    }

    /** How {@link #setExtendedAttribute} treats an existing value. */
    public enum SetMode {
        CREATE_OR_REPLACE,
        CREATE,
        REPLACE,
        /** Both flags of setxattr(2) together: refused for one reason or the other. */
        CREATE_AND_REPLACE
    }

    /**
     * EEXIST, ENODATA, E2BIG, ERANGE (a long name), ENOSPC (too many names). POSIX access control lists ({@code
     * system.posix_acl_access} and {@code _default}) also change the mode, and are EINVAL where malformed.
     */
    public void setExtendedAttribute(long inode, byte[] name, byte[] value, SetMode mode) throws IOException {
        Node node = nodes.pin(inode);
        try {
            committer.checkRoom((long) name.length + value.length);
            tree.change(node, () -> attributes.set(node, name, value, mode));
        } finally {
            nodes.unpin(node);
        }
    }

    /** ENODATA, but for access control lists. */
    public void removeExtendedAttribute(long inode, byte[] name) throws IOException {
        Node node = nodes.pin(inode);
        try {
            tree.change(node, () -> attributes.remove(node, name));
        } finally {
            nodes.unpin(node);
        }
    }

    public List<byte[]> extendedAttributes(long inode) throws IOException {
        Node node = nodes.pin(inode);
        try {
            return attributes.names(node);
        } finally {
            nodes.unpin(node);
        }
    }

    /**
     * Takes a program's capabilities ({@code security.capability}) away, as whoever changes the file must; cheap if it has
     * none. Directories keep theirs, which mean nothing.
     */
    public void dropCapability(long inode) throws IOException {
        Node node = nodes.pin(inode);
        try {
            if (!node.isDirectory() && attributes.hasCapability(node)) {
                tree.change(node, () -> attributes.dropCapability(node));
            }
        } finally {
            nodes.unpin(node);
        }
    }

    /**
     * Explains what the SSD does for a file, of what of it is stored by now. EISDIR, EINVAL.
     *
     * @param from as in {@link FileExplainer#explain}
     * @param rules by what its chunks are judged
     */
    public FileExplanation explain(long inode, long from, FileExplainer.Rules rules, ChunkVisitor visitor)
            throws IOException {
        return withRegularFile(inode, node -> {
            FileExplainer explainer = new FileExplainer(
                    metadata.recipes(),
                    config.pageBytes(),
                    parts.containers()::frameTable,
                    metadata.counts()::count,
                    rules);
            return explainer.explain(inode, from, visitor);
        });
    }

    /**
     * Looks how a file's chunks are spread over containers; of what was written to it by now. EISDIR, EINVAL.
     *
     * @param disk what the prediction is for
     */
    public FileFragmentation fragmentation(long inode, DiskModel disk) throws IOException {
        return withRegularFile(inode, node -> {
            storeAndCommit(node);
            return analyzer(disk).analyze(node.id, StopCheck.NEVER);
        });
    }

    private FragmentationAnalyzer analyzer(DiskModel disk) {
        return new FragmentationAnalyzer(
                metadata.recipes(),
                config.pageBytes(),
                parts.containers()::frameTable,
                disk,
                WINDOWS_OF_CACHE * MemoryPlan.of(config).restoreCache());
    }

    /** The file's chunks then lie in frames that are in their file, and so in the frame tables. */
    private void storeAndCommit(Node node) throws IOException {
        committer.retryIfShort();
        writer.storeAll(node);
        committer.commit();
    }

    /**
     * Makes a fragmented file faster to read: stores those of its chunks that lie in sparse containers once more, next to each
     * other. What was rewritten is durable when it returns. The file may be used meanwhile; a crash loses nothing. EISDIR, EINVAL.
     *
     * @throws java.io.InterruptedIOException if it was stopped while the file was looked at, before or after
     */
    public Defragmentation defragment(
            long inode, DiskModel disk, Defragmentation.Limits limits, Defragmentation.Progress progress)
            throws IOException {
        return withRegularFile(inode, node -> {
            storeAndCommit(node);
            FragmentationAnalyzer analyzer = analyzer(disk);
            FileFragmentation before = analyzer.analyze(inode, progress::checkStopped);
            // One that is still appended to may be full of the file yet, and the copies may go there.
            List<SparseContainer> candidates = analyzer.sparseContainers().stream()
                    .filter(container -> parts.containers().isSealed(container.container()))
                    .toList();
            Set<Long> sparse = SparseContainer.worstOf(candidates, (long) (limits.share() * before.bytes()));
            long wanted = candidates.stream()
                    .filter(container -> sparse.contains(container.container()))
                    .mapToLong(SparseContainer::wantedBytes)
                    .sum();
            Defragmenter defragmenter = new Defragmenter(parts, node, sparse);
            FileFragmentation after = before;
            if (!limits.dryRun() && !sparse.isEmpty()) {
                defragmenter.run(progress, wanted);
                storeAndCommit(node);
                after = analyzer(disk).analyze(inode, progress::checkStopped);
            }
            return defragmenter.result(before, after, wanted);
        });
    }

    /** Takes a file's references one by one. */
    @FunctionalInterface
    public interface ReferenceVisitor {
        /** @param check first four bytes of the chunk's fingerprint */
        void visit(long fileOffset, long chunkId, int chunkOffset, int length, int check) throws IOException;
    }

    /**
     * Visits the chunk references of a file's first {@code size} bytes, as its recipe has them now; not of holes, zero runs and
     * bytes that are still dirty. EISDIR, EINVAL.
     *
     * @return bytes of these references
     */
    public long forEachReference(long inode, long size, ReferenceVisitor visitor) throws IOException {
        RecipeWalk walk = new RecipeWalk(metadata.recipes(), config.pageBytes());
        return withRegularFile(inode, node -> walk.walk(inode, size, visitor));
    }

    /** Restores chunks of many files in the order of the containers, all of them verified by their fingerprints. */
    public ContainerOrderRestore restorer(DiskModel disk) {
        return parts.restore().inContainerOrder(disk);
    }

    /** The number by which volumes are told apart. */
    public UUID identity() {
        return metadata.header().volume();
    }

    /** What is done with a file while it is in use. */
    @FunctionalInterface
    private interface FileUse<T> {
        T with(Node node) throws IOException;
    }

    private <T> T withRegularFile(long inode, FileUse<T> use) throws IOException {
        Node node = nodes.pin(inode);
        try {
            if (!node.isRegular()) {
                throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + inode);
            }
            return use.with(node);
        } finally {
            nodes.unpin(node);
        }
    }

    public SpaceUse space() throws IOException {
        long onDisk = parts.devices().freeBytes();
        return new SpaceUse(
                config.capacityBytes(),
                Math.min(onDisk, parts.capacity().freeBytes(true)),
                Math.min(onDisk, parts.capacity().freeBytes(false)),
                metadata.totals().files());
    }

    public VolumeStatistics statistics() throws IOException {
        Totals totals = metadata.totals();
        ContainerStore containers = parts.containers();
        return new VolumeStatistics(
                parts.capacity().takenBytes(),
                totals.uniqueBytes(),
                containers.storedBytes(),
                totals.chunks(),
                containers.containers(),
                totals.files(),
                parts.readBytes().sum(),
                parts.writtenBytes().sum(),
                parts.ingest().statistics().duplicateBytes(),
                parts.ingest().statistics().zeroBytes(),
                containers.readStatistics().diskReads(),
                containers.readStatistics().diskReadBytes(),
                parts.restore().cacheHits(),
                parts.restore().cacheMisses(),
                parts.dirtyBudget().usedBytes(),
                committer.commits(),
                config.memoryBudgetBytes(),
                nodes.inUse());
    }

    /** Stores, commits and closes everything. Idempotent. */
    @Override
    public synchronized void close() throws IOException {
        if (!closed) {
            closed = true;
            parts.close();
        }
    }
}
