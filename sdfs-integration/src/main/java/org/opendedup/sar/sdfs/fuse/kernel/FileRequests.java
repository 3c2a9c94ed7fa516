package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Exchange.ANSWERED_LATER;
import static org.opendedup.sar.sdfs.fuse.kernel.Exchange.SHORT_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Exchange.SHORT_REMOVAL_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.MAX_IO_BYTES;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.sdfs.fuse.ErrorNumber;
import org.opendedup.sar.sdfs.fuse.FallocateMode;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.Asker;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.LateAnswer;
import org.opendedup.sar.sdfs.fuse.kernel.PassedThroughFiles.Opened;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Asked;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Sync;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Requests that open files, and those on the bytes of open files. Each method serves the current request and returns 0,
 * the number of an expected error, or {@link Exchange#ANSWERED_LATER}.
 */
final class FileRequests {
    /** Largest copy that the older 32-bit reply can report, in bytes: a signed number, rounded down to whole pages. */
    private static final long MAX_NARROW_COPY_BYTES = (1L << 31) - Protocol.PAGE_BYTES;

    private final Exchange exchange;
    private final FuseFileSystem operations;
    private final Request request;
    private final Reply reply;
    private final KernelCache cache;
    private final Privileges privileges;
    private final AccessNotes accesses;
    private final PassedThroughFiles backings;
    private final ServedRequest served;
    private final SyncLine syncs;

    /**
     * @param served is notified of each sync that this thread serves
     * @param syncs may take over requests that wait for a commit
     */
    FileRequests(Exchange exchange, Privileges privileges, ServedRequest served, SyncLine syncs) {
        this.exchange = exchange;
        this.operations = exchange.operations();
        this.request = exchange.request();
        this.reply = exchange.reply();
        this.cache = exchange.cache();
        this.privileges = privileges;
        this.accesses = new AccessNotes(operations, cache, request);
        this.backings = exchange.backings();
        this.served = served;
        this.syncs = syncs;
    }

    /**
     * Reads. The kernel sends a READ of a file that it reads itself only for a program that asks it to read ahead. The
     * bytes would go into a cache that it does not use meanwhile, and would be old when it uses that cache again.
     */
    int read() throws IOException {
        long handle = request.takeLong();
        long offset = request.takeFileOffset();
        int size = request.takeInt();
        if (size < 0 || size > MAX_IO_BYTES) {
            throw new MalformedRequestException("a read of " + Integer.toUnsignedString(size) + " bytes");
        }
        request.skip(4 + 8);
        int flags = request.takeInt();
        if (backings.passThrough(handle)) {
            return Errno.EIO;
        }
        int count = operations.read(handle, offset, reply.room(size));
        if (count < 0 || count > size) {
            throw new IllegalStateException("a read of " + size + " bytes gave " + count);
        }
        accesses.read(flags);
        reply.advance(count);
        return 0;
    }

    int write() throws IOException {
        if (exchange.waitsInTurn()) {
            return ANSWERED_LATER;
        }
        long handle = request.takeLong();
        long offset = request.takeFileOffset();
        int size = request.takeInt();
        int flags = request.takeInt();
        request.skip(16);
        ByteBuffer payload = request.takePayload(size);
        dropCapabilityUnknownToTheKernel(request.node());
        if ((flags & Protocol.WRITE_KILL_SUIDGID) != 0) {
            privileges.dropForWriting(request.node());
        }
        if ((flags & Protocol.WRITE_CACHE) != 0 && exchange.agreement().keepsWrites()) {
            writeBack(handle, offset, payload);
        } else {
            operations.write(handle, offset, payload);
        }
        reply.putInt(size);
        reply.putInt(0);
        return 0;
    }

    private void writeBack(long handle, long offset, ByteBuffer payload) throws IOException {
        try {
            operations.writeBack(handle, offset, payload);
        } catch (IOException e) {
            if (FuseFileSystem.isForSpace(e)) {
                // It asks for the attributes before the next write(2), which then hears of it.
                cache.invalidate(request.node());
            }
            throw e;
        }
    }

    /**
     * Removes the capabilities of a program that is about to be changed, if the kernel cannot: it removes those that it
     * reads, and without extended attributes it reads none.
     */
    private void dropCapabilityUnknownToTheKernel(long inode) throws IOException {
        if (!exchange.agreement().requests().extendedAttributes()) {
            operations.dropCapability(inode);
        }
    }

    int open() throws IOException {
        int flags = request.takeInt();
        int openFlags = request.takeInt();
        boolean truncate = (flags & Protocol.O_TRUNC) != 0;
        if (truncate && exchange.isCutInTurn(0)) {
            return ANSWERED_LATER;
        }
        long handle = operations.open(request.node(), isWritable(flags), truncate, request.caller());
        try {
            if (truncate && (openFlags & Protocol.OPEN_KILL_SUIDGID) != 0) {
                privileges.dropForWriting(request.node());
            }
            Opened opened = opened(request.node(), handle, flags);
            if (opened.firstMappable()) {
                // From now on it asks for them each time. A reply that is under way does not undo this.
                cache.invalidate(request.node());
            }
            reply.putOpened(handle, opened.flags(), opened.number());
        } catch (IOException | RuntimeException | Error e) {
            close(handle);
            throw e;
        }
        return 0;
    }

    /**
     * Decides who reads and writes an opened file. If it is the kernel, does now what is otherwise done at each read
     * and write.
     *
     * @param flags as in open(2)
     */
    private Opened opened(long inode, long handle, int flags) throws IOException {
        Opened opened = backings.opened(inode, handle, backings.areServed() ? operations.backing(handle) : -1, flags);
        accesses.opened(flags, opened.isPassedThrough());
        if (!opened.isPassedThrough()) {
            return opened;
        }
        if (isWritable(flags)) {
            dropCapabilityUnknownToTheKernel(inode);
        }
        commitName(handle, flags);
        return opened;
    }

    /**
     * Makes durable what leads to the bytes of a file that the kernel writes, if the kernel may make these durable
     * without telling: writes with O_DSYNC, and msync(2) of a mapping.
     */
    private void commitName(long handle, int flags) throws IOException {
        boolean isTold = (flags & Protocol.O_DSYNC) == 0 && !PassedThroughFiles.isMappable(flags);
        if (isWritable(flags) && !isTold && !operations.isNameDurable(handle)) {
            operations.commit();
        }
    }

    int create() throws IOException {
        int flags = request.takeInt();
        int mode = takeModeOfNew();
        Owner caller = exchange.takeCaller();
        request.skip(4);
        byte[] name = request.takeName();
        return created(operations.create(request.node(), name, mode, isWritable(flags), caller), flags);
    }

    private int takeModeOfNew() throws IOException {
        int permissions = request.takeInt() & FileMode.PERMISSIONS;
        return FileMode.REGULAR | privileges.modeOfNew(request.node(), permissions);
    }

    /** Makes a file without a name. The arguments are those of CREATE; the name in them has no meaning. */
    int createUnnamed() throws IOException {
        int flags = request.takeInt();
        int mode = takeModeOfNew();
        return created(operations.createUnnamed(request.node(), mode, isWritable(flags), exchange.takeCaller()), flags);
    }

    private int created(FuseFileSystem.CreatedFile created, int flags) throws IOException {
        long inode = created.attributes().inode();
        try {
            // First, because it decides how long the attributes are valid.
            Opened opened = openedNew(inode, created.handle(), flags);
            reply.putEntry(exchange.shown(created.attributes()));
            reply.putOpened(created.handle(), opened.flags(), opened.number());
        } catch (IOException | RuntimeException | Error e) {
            close(created.handle());
            operations.forget(inode, 1);
            throw e;
        }
        return 0;
    }

    /** As {@link #opened}, for a file without bytes, capabilities or earlier reads. */
    private Opened openedNew(long inode, long handle, int flags) throws IOException {
        Opened opened = backings.opened(inode, handle, backings.areServed() ? operations.backing(handle) : -1, flags);
        if (opened.isPassedThrough()) {
            commitName(handle, flags);
        }
        return opened;
    }

    private static boolean isWritable(int openFlags) {
        return (openFlags & Protocol.O_ACCESS_MODE) != Protocol.O_RDONLY;
    }

    int flush() throws IOException {
        if (!exchange.agreement().servesFlush()) {
            return Errno.ENOSYS;
        }
        operations.flush(request.takeLong());
        return 0;
    }

    int release() throws IOException {
        close(request.takeLong());
        return 0;
    }

    /** Closes a handle that the kernel does not use any more, or never got. */
    void close(long handle) throws IOException {
        backings.closed(handle);
        operations.close(handle);
    }

    /** Syncs one file. The arguments are its handle, and flags that are ignored. */
    int sync() throws IOException {
        long handle = request.takeLong();
        boolean isOnFastTier = operations.isOnFastTier(handle);
        return sync(new Sync() {
            @Override
            public boolean isOnFastTier() {
                return isOnFastTier;
            }

            @Override
            public void store() throws IOException {
                operations.store(handle);
            }

            @Override
            public boolean storeAtOnce() throws IOException {
                return operations.storeAtOnce(handle);
            }

            @Override
            public boolean storesBesideCommit() throws IOException {
                return operations.storesBesideCommit(handle);
            }

            @Override
            public boolean needsCommit() throws IOException {
                return operations.needsCommit(handle);
            }

            @Override
            public void check() throws IOException {
                operations.check(handle);
            }
        });
    }

    int syncAll() throws IOException {
        return sync(new Sync() {
            @Override
            public void store() throws IOException {
                operations.storeAll();
            }

            @Override
            public void check() {}
        });
    }

    private int sync(Sync sync) throws IOException {
        int opcode = request.opcode();
        long node = request.node();
        Asked asked = new Asked(
                request.unique(), request.pid(), request.caller().uid(), () -> exchange.describe(opcode, node));
        if (syncs.takes(asked, sync)) {
            return ANSWERED_LATER;
        }
        served.begin(asked.unique(), asked.pid());
        syncs.serve(sync);
        return 0;
    }

    /**
     * Allocates or zeroes a range. Arguments, {@code fuse_fallocate_in}: handle, offset, length, 4 bytes of mode, 4
     * unused.
     */
    int allocate() throws IOException {
        if (exchange.waitsInTurn()) {
            return ANSWERED_LATER;
        }
        long handle = request.takeLong();
        long offset = request.takeFileOffset();
        long length = request.takeFileOffset();
        FallocateMode mode = FallocateMode.of(request.takeInt());
        dropCapabilityUnknownToTheKernel(request.node());
        privileges.dropForWritingUnlessRoot(request.node());
        Late whole = () -> {
            mode.apply(operations, handle, offset, length);
            return LateAnswer.DONE;
        };
        if (length > SHORT_REMOVAL_BYTES && !operations.isBeingTruncated(request.node())) {
            return mode.zeroes() ? answerOrDropPages(offset, whole) : answerInTurn(whole);
        }
        try {
            whole.answer();
            return 0;
        } catch (IOException e) {
            if (!mode.zeroes()) {
                throw e;
            }
            return answerOrDropPages(offset, () -> {
                throw e;
            });
        }
    }

    /**
     * Answers a request that zeroes a range from an offset on, in steps of which the first ones may have been made if
     * it fails. The kernel drops its pages of the range only after a success, and would go on to show their former
     * bytes.
     */
    private int answerOrDropPages(long offset, Late zeroing) {
        cache.answerOrDropPages(asker(), request.node(), offset, late(zeroing));
        return ANSWERED_LATER;
    }

    /** A request that another thread serves. The request buffer then already holds another one. */
    @FunctionalInterface
    private interface Late {
        long answer() throws IOException;
    }

    private LateAnswer late(Late work) {
        int opcode = request.opcode();
        long node = request.node();
        long beganNanos = System.nanoTime();
        return () -> {
            try {
                return work.answer();
            } catch (IOException | RuntimeException | Error e) {
                return -ErrorNumber.of(e, exchange.describe(opcode, node));
            } finally {
                operations.latencies().record(RequestKinds.of(opcode), beganNanos);
            }
        };
    }

    private Asker asker() {
        return new Asker(request.uid(), request.unique());
    }

    private int answerInTurn(Late late) {
        cache.answerInTurn(asker(), late(late));
        return ANSWERED_LATER;
    }

    /** Returns whether a search of the file of the current request from an offset on may take long. */
    private boolean isLongAfter(long offset) throws IOException {
        return operations.attributes(request.node()).size() - offset > SHORT_BYTES;
    }

    /**
     * Seeks data or a hole. Arguments, {@code fuse_lseek_in}: handle, offset, 4 bytes of whence, 4 unused. The kernel
     * sends LSEEK without writing back its write-back cache first (seen in Linux 6.18). Unsent data would then look
     * like a hole, and a copy would lose it.
     */
    int seek() throws IOException {
        long handle = request.takeLong();
        long offset = request.takeLong();
        int whence = request.takeInt();
        if (whence != Protocol.SEEK_DATA && whence != Protocol.SEEK_HOLE) {
            return Errno.EINVAL;
        }
        if (offset >= 0 && !backings.passThrough(handle) && operations.hasWriters(handle)) {
            cache.answerAfterWriteBack(asker(), request.node(), offset, late(() -> seek(handle, offset, whence)));
            return ANSWERED_LATER;
        }
        if (offset >= 0 && isLongAfter(offset)) {
            return answerInTurn(() -> seek(handle, offset, whence));
        }
        reply.putLong(seek(handle, offset, whence));
        return 0;
    }

    private long seek(long handle, long offset, int whence) throws IOException {
        return whence == Protocol.SEEK_DATA ? operations.seekData(handle, offset) : operations.seekHole(handle, offset);
    }

    /**
     * Copies a range between files. Arguments, {@code fuse_copy_file_range_in}: handle and offset of the source; inode,
     * handle and offset of the target; length, flags. Replies with the number of bytes copied: in 32 bits followed by 4
     * unused bytes, or in 64 bits.
     */
    int copy(boolean wide) throws IOException {
        long source = request.takeLong();
        long from = request.takeFileOffset();
        long inode = request.takeLong();
        long target = request.takeLong();
        long to = request.takeFileOffset();
        long asked = request.takeFileOffset();
        long flags = request.takeLong();
        if (flags != 0) {
            return Errno.EINVAL;
        }
        dropCapabilityUnknownToTheKernel(inode);
        privileges.dropForWritingUnlessRoot(inode);
        long length = wide ? asked : Math.min(asked, MAX_NARROW_COPY_BYTES);
        if (length > SHORT_BYTES && isLongAfter(from)) {
            return answerInTurn(() -> copied(operations.copy(source, from, target, to, length), wide));
        }
        reply.putLong(copied(operations.copy(source, from, target, to, length), wide));
        return 0;
    }

    /** Returns the body of a reply: 64 bits, or 32 and as many unused ones. */
    private static long copied(long bytes, boolean wide) {
        return wide || ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? bytes : bytes << Integer.SIZE;
    }
}
