package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/**
 * The file system in memory, whose files may lie in backing files instead: new ones do, and {@link #move} changes it
 * for a file that is not open. Counts the reads and writes that reach it.
 */
final class BackedFileSystem extends MemoryFileSystem implements AutoCloseable {
    private static final int FALLOC_KEEP_SIZE = 1;
    private static final int FALLOC_ZERO_RANGE = 16;

    final AtomicInteger reads = new AtomicInteger();
    final AtomicInteger writes = new AtomicInteger();
    final AtomicInteger commits = new AtomicInteger();
    final AtomicInteger stores = new AtomicInteger();
    final AtomicInteger seeks = new AtomicInteger();
    final AtomicInteger copies = new AtomicInteger();
    final AtomicInteger notedReads = new AtomicInteger();
    final AtomicInteger droppedCapabilities = new AtomicInteger();

    /** Where files go that are made from now on. */
    volatile boolean backsNewFiles = true;
    /** Whether all names are durable. */
    volatile boolean areNamesDurable;
    /** What {@link #backing} gives instead of the descriptor, if it is not -1. */
    volatile int wrongDescriptor = -1;

    private final Libc libc = new Libc();
    private final Path folder;
    private final Map<Long, Backing> backings = new ConcurrentHashMap<>();
    private final Map<Long, Long> inodes = new ConcurrentHashMap<>();

    private record Backing(Path path, FileChannel channel, int descriptor) {}

    BackedFileSystem() throws IOException {
        Path made = Files.createTempDirectory("sdfs-backing-");
        if (Files.getFileStore(made).type().equals("overlay")) {
            // The kernel refuses a backing file on a file system that is stacked itself.
            Files.delete(made);
            made = Files.createTempDirectory(Path.of("/dev/shm"), "sdfs-backing-");
        }
        folder = made;
    }

    Path folder() {
        return folder;
    }

    boolean isOpen(long inode) {
        return inodes.containsValue(inode);
    }

    Path backingOf(long inode) {
        return folder.resolve(Long.toString(inode));
    }

    /** Returns the backing file of the only file with one. */
    Path onlyBacking() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.reduce((first, second) -> {
                        throw new IllegalStateException("more than one file");
                    })
                    .orElseThrow();
        }
    }

    private Backing back(long inode) throws IOException {
        Path path = Files.createFile(backingOf(inode));
        int descriptor = libc.open(path, Libc.O_RDWR);
        if (descriptor < 0) {
            throw libc.failure("opening " + path);
        }
        Backing made = new Backing(
                path, FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE), descriptor);
        backings.put(inode, made);
        return made;
    }

    private void unback(long inode) throws IOException {
        Backing gone = backings.remove(inode);
        gone.channel().close();
        libc.functions().close(gone.descriptor());
        Files.delete(gone.path());
    }

    /** Moves the bytes of a file into a backing file or out of it, and keeps its times. The file is not open. */
    void move(long inode) throws IOException {
        if (isOpen(inode)) {
            throw new IllegalStateException("inode " + inode + " is open");
        }
        Attributes before = attributes(inode);
        Backing old = backings.get(inode);
        ByteBuffer bytes = ByteBuffer.allocate((int) before.size());
        long handle = super.open(inode, true, false, new Owner(0, 0));
        if (old == null) {
            super.read(handle, 0, bytes);
            FileChannel channel = back(inode).channel();
            channel.write(bytes.flip(), 0);
            super.change(inode, AttributeChange.ofSize(0));
        } else {
            old.channel().read(bytes, 0);
            unback(inode);
            super.write(handle, 0, bytes.flip());
        }
        super.close(handle);
        change(
                inode,
                new AttributeChange(
                        null, null, null, null, before.accessedNs(), before.modifiedNs(), before.changedNs()));
    }

    private Attributes shown(Attributes of) throws IOException {
        Backing backing = backings.get(of.inode());
        if (backing == null) {
            return of;
        }
        Map<String, Object> file = Files.readAttributes(backing.path(), "unix:size,lastModifiedTime,ctime");
        long modifiedNs = ns((FileTime) file.get("lastModifiedTime"));
        long size = (long) file.get("size");
        return new Attributes(
                of.inode(),
                of.generation(),
                of.mode(),
                of.links(),
                of.uid(),
                of.gid(),
                of.device(),
                size,
                (size + 511) / 512,
                of.accessedNs(),
                modifiedNs,
                Math.max(of.changedNs(), ns((FileTime) file.get("ctime"))),
                of.createdNs());
    }

    private static long ns(FileTime time) {
        Instant instant = time.toInstant();
        return instant.getEpochSecond() * 1_000_000_000 + instant.getNano();
    }

    @Override
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return shown(super.lookup(directory, name));
    }

    @Override
    public Attributes attributes(long inode) throws IOException {
        return shown(super.attributes(inode));
    }

    @Override
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        super.list(directory, cookie, withAttributes, (name, inode, type, next, attributes) -> {
            try {
                return visitor.visit(name, inode, type, next, attributes == null ? null : shown(attributes));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Override
    public Attributes change(long inode, AttributeChange change) throws IOException {
        Backing backing = backings.get(inode);
        if (backing == null) {
            return super.change(inode, change);
        }
        Long size = change.size();
        if (size != null && libc.functions().ftruncate(backing.descriptor(), size) != 0) {
            throw libc.failure("ftruncate");
        }
        Long modifiedNs = change.modifiedNs();
        if (modifiedNs != null) {
            Files.setLastModifiedTime(backing.path(), FileTime.from(modifiedNs, TimeUnit.NANOSECONDS));
        }
        return shown(super.change(
                inode,
                new AttributeChange(
                        change.mode(),
                        change.uid(),
                        change.gid(),
                        null,
                        change.accessedNs(),
                        modifiedNs,
                        change.changedNs())));
    }

    @Override
    public boolean noteRead(long inode) {
        notedReads.incrementAndGet();
        return false;
    }

    @Override
    public void dropCapability(long inode) {
        droppedCapabilities.incrementAndGet();
    }

    @Override
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller) throws IOException {
        Attributes made = super.makeNode(directory, name, mode, device, caller);
        if (backsNewFiles && FileMode.isRegular(mode)) {
            back(made.inode());
        }
        return shown(made);
    }

    @Override
    public CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller) throws IOException {
        CreatedFile made = super.createUnnamed(directory, mode, writable, caller);
        inodes.put(made.handle(), made.attributes().inode());
        if (backsNewFiles) {
            back(made.attributes().inode());
        }
        return new CreatedFile(shown(made.attributes()), made.handle());
    }

    @Override
    public long open(long inode, boolean writable, boolean truncate, Owner caller) throws IOException {
        long handle = super.open(inode, writable, truncate, caller);
        inodes.put(handle, inode);
        return handle;
    }

    @Override
    public void close(long handle) throws IOException {
        inodes.remove(handle);
        super.close(handle);
    }

    private Backing of(long handle) {
        return backings.get(inodes.get(handle));
    }

    @Override
    public int backing(long handle) {
        Backing backing = of(handle);
        if (backing == null) {
            return -1;
        }
        return wrongDescriptor >= 0 ? wrongDescriptor : backing.descriptor();
    }

    @Override
    public int read(long handle, long offset, ByteBuffer target) throws IOException {
        reads.incrementAndGet();
        Backing backing = of(handle);
        if (backing == null) {
            return super.read(handle, offset, target);
        }
        int count = 0;
        int step = 0;
        while (target.hasRemaining() && step >= 0) {
            step = backing.channel().read(target, offset + count);
            count += Math.max(step, 0);
        }
        return count;
    }

    @Override
    public void write(long handle, long offset, ByteBuffer source) throws IOException {
        writes.incrementAndGet();
        Backing backing = of(handle);
        if (backing == null) {
            super.write(handle, offset, source);
            return;
        }
        long position = offset;
        while (source.hasRemaining()) {
            position += backing.channel().write(source, position);
        }
    }

    @Override
    public void writeBack(long handle, long offset, ByteBuffer source) throws IOException {
        write(handle, offset, source);
    }

    @Override
    public boolean hasWriters(long handle) {
        return true;
    }

    @Override
    public void allocate(long handle, long offset, long length, boolean keepSize) throws IOException {
        Backing backing = of(handle);
        if (backing == null) {
            super.allocate(handle, offset, length, keepSize);
        } else {
            allocate(backing, keepSize ? FALLOC_KEEP_SIZE : 0, offset, length);
        }
    }

    @Override
    public void zero(long handle, long offset, long length, boolean keepSize) throws IOException {
        Backing backing = of(handle);
        if (backing == null) {
            super.zero(handle, offset, length, keepSize);
        } else {
            allocate(backing, FALLOC_ZERO_RANGE | (keepSize ? FALLOC_KEEP_SIZE : 0), offset, length);
        }
    }

    private void allocate(Backing backing, int mode, long offset, long length) throws IOException {
        if (libc.functions().fallocate(backing.descriptor(), mode, offset, length) != 0) {
            throw libc.failure("fallocate");
        }
    }

    @Override
    public long seekData(long handle, long offset) throws IOException {
        seeks.incrementAndGet();
        long size = attributes(inodes.get(handle)).size();
        if (offset < 0 || offset >= size) {
            throw new PosixException(PosixException.Reason.ENXIO, "offset " + offset);
        }
        return offset;
    }

    @Override
    public long seekHole(long handle, long offset) throws IOException {
        seekData(handle, offset);
        return attributes(inodes.get(handle)).size();
    }

    @Override
    public long copy(long source, long from, long target, long to, long length) throws IOException {
        copies.incrementAndGet();
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(length, 1 << 20));
        int count = read(source, from, bytes);
        write(target, to, bytes.flip());
        reads.decrementAndGet();
        writes.decrementAndGet();
        return count;
    }

    @Override
    public void store(long handle) throws IOException {
        stores.incrementAndGet();
        Backing backing = of(handle);
        if (backing != null) {
            backing.channel().force(false);
        }
    }

    @Override
    public boolean isNameDurable(long handle) {
        return areNamesDurable;
    }

    @Override
    public void commit() {
        commits.incrementAndGet();
    }

    @Override
    public void close() throws IOException {
        closeVolume();
        for (long inode : backings.keySet()) {
            unback(inode);
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
