package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.MAX_IO_BYTES;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.opendedup.sar.sdfs.fuse.ExtendedAttributeName;
import org.opendedup.sar.sdfs.fuse.FallocateMode;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.InitFlag;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Asked;
import org.opendedup.sar.sdfs.fuse.kernel.SyncLine.Sync;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes a request, calls the file system and encodes the reply. Uses only its two buffers, so tests need no kernel.
 * Never throws: every failure becomes an error reply. For one thread.
 */
final class Dispatcher {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

    /** Result of {@link #dispatch} for a request without a reply. */
    static final int NO_REPLY = 0;

    /** Largest copy that the older 32-bit reply can report, in bytes: a signed number, rounded down to whole pages. */
    private static final long MAX_NARROW_COPY_BYTES = (1L << 31) - Protocol.PAGE_BYTES;

    /** Returned instead of an error number: another thread will answer. */
    private static final int ANSWERED_LATER = -1;

    private final FuseOperations operations;
    private final KernelCache cache;
    private final Agreement agreement;
    private final ServedRequest served;
    private final LongConsumer interrupts;
    private final SyncLine syncs;
    private final Request request;
    private final Reply reply;
    private final Privileges privileges;
    private final AccessNotes accesses;

    /**
     * @param cache receives invalidations for the kernel
     * @param served is notified of each request that may be abandoned; the caller ends it
     * @param interrupts receives the number of each request whose caller got a signal
     * @param syncs may take over requests that wait for a commit
     */
    Dispatcher(
            FuseOperations operations,
            KernelCache cache,
            Agreement agreement,
            ServedRequest served,
            LongConsumer interrupts,
            SyncLine syncs,
            ByteBuffer requestBuffer,
            ByteBuffer replyBuffer) {
        this.operations = operations;
        this.cache = cache;
        this.agreement = agreement;
        this.served = served;
        this.interrupts = interrupts;
        this.syncs = syncs;
        this.request = new Request(requestBuffer);
        this.reply = new Reply(replyBuffer);
        this.privileges = new Privileges(operations, cache, SupplementaryGroups::containNow, request);
        this.accesses = new AccessNotes(operations, cache, request);
    }

    /**
     * Serves the request in the first {@code length} bytes of the request buffer.
     *
     * @return length of the reply in the reply buffer, in bytes, or {@link #NO_REPLY}
     */
    int dispatch(int length) {
        if (!request.begin(length)) {
            LOG.error("a message of {} bytes is not a request", length);
            return NO_REPLY;
        }
        reply.begin();
        try {
            request.checkLength();
            if (mayBeAbandoned(request.opcode())) {
                served.begin(request.unique(), request.pid());
            }
            int errno = serve();
            if (!wantsReply() || errno == ANSWERED_LATER) {
                return NO_REPLY;
            }
            return errno == 0 ? reply.success(request.unique()) : reply.error(errno, request.unique());
        } catch (IOException | RuntimeException | Error e) {
            int errno = Errno.of(e, describe());
            return wantsReply() ? reply.error(errno, request.unique()) : NO_REPLY;
        }
    }

    /**
     * Undoes the effects of the last reply, which the kernel did not accept: releases the references and handles in it.
     */
    void takeBack() {
        try {
            Undelivered.takeBack(request.opcode(), reply, operations);
        } catch (IOException | RuntimeException | Error e) {
            LOG.error("{}: taking back an undelivered reply", describe(), e);
        }
    }

    private String describe() {
        byte[] name = request.firstName();
        return name == null
                ? describe(request.opcode(), request.node())
                : OperationName.of(request.opcode()) + " " + operations.nameOf(request.node(), name);
    }

    private String describe(int opcode, long node) {
        return OperationName.of(opcode) + " " + operations.nameOf(node);
    }

    private boolean wantsReply() {
        return switch (request.opcode()) {
            case Opcode.FORGET, Opcode.BATCH_FORGET, Opcode.INTERRUPT -> false;
            default -> true;
        };
    }

    /**
     * Returns whether a request may be abandoned: it does no harm if the caller gets EINTR and the request is still
     * served. Not so for requests that change the kernel's caches. For syncs, see {@link #sync(Sync)}.
     */
    private static boolean mayBeAbandoned(int opcode) {
        return switch (opcode) {
            case Opcode.READ,
                    Opcode.LOOKUP,
                    Opcode.GETATTR,
                    Opcode.STATX,
                    Opcode.READLINK,
                    Opcode.READDIR,
                    Opcode.READDIRPLUS,
                    Opcode.GETXATTR,
                    Opcode.LISTXATTR,
                    Opcode.STATFS -> true;
            default -> false;
        };
    }

    /** @return 0, or the error number of an expected error */
    private int serve() throws IOException {
        return switch (request.opcode()) {
            case Opcode.READ -> read();
            case Opcode.WRITE -> write();
            case Opcode.LOOKUP -> lookup();
            case Opcode.GETATTR -> getAttributes();
            case Opcode.FORGET -> forget();
            case Opcode.BATCH_FORGET -> forgetBatch();
            case Opcode.STATX -> getExtendedStatus();
            case Opcode.SETATTR -> setAttributes();
            case Opcode.READLINK -> readLink();
            case Opcode.SYMLINK -> symbolicLink();
            case Opcode.MKNOD -> makeNode();
            case Opcode.MKDIR -> makeDirectory();
            case Opcode.UNLINK -> unlink();
            case Opcode.RMDIR -> removeDirectory();
            case Opcode.RENAME -> rename(false);
            case Opcode.RENAME2 -> rename(true);
            case Opcode.LINK -> link();
            case Opcode.OPEN -> open();
            case Opcode.CREATE -> create();
            case Opcode.TMPFILE -> createUnnamed();
            case Opcode.RELEASE -> release();
            case Opcode.FLUSH -> flush();
            case Opcode.FSYNC -> sync();
            case Opcode.FSYNCDIR, Opcode.SYNCFS -> syncAll();
            case Opcode.READDIR -> list(false);
            case Opcode.READDIRPLUS -> list(true);
            case Opcode.SETXATTR -> setExtendedAttribute();
            case Opcode.GETXATTR -> getExtendedAttribute();
            case Opcode.LISTXATTR -> listExtendedAttributes();
            case Opcode.REMOVEXATTR -> removeExtendedAttribute();
            case Opcode.STATFS -> space();
            case Opcode.INTERRUPT -> interrupt();
            case Opcode.RELEASEDIR, Opcode.DESTROY -> 0;
            case Opcode.IOCTL -> Errno.ENOTTY;
            case Opcode.FALLOCATE -> allocate();
            case Opcode.LSEEK -> seek();
            case Opcode.COPY_FILE_RANGE -> copy(false);
            case Opcode.COPY_FILE_RANGE_64 -> copy(true);
            // INIT was already answered; a second one is an error.
            case Opcode.INIT -> Errno.EIO;
            // Includes OPENDIR: after one ENOSYS, the kernel opens and closes directories without a request. A listing
            // needs no state except its cookie.
            default -> Errno.ENOSYS;
        };
    }

    private int interrupt() throws MalformedRequestException {
        interrupts.accept(request.takeLong());
        return 0;
    }

    // ---- Files ----

    private int read() throws IOException {
        long handle = request.takeLong();
        long offset = request.takeFileOffset();
        int size = request.takeInt();
        if (size < 0 || size > MAX_IO_BYTES) {
            throw new MalformedRequestException("a read of " + Integer.toUnsignedString(size) + " bytes");
        }
        request.skip(4 + 8);
        int flags = request.takeInt();
        int count = operations.read(handle, offset, reply.room(size));
        if (count < 0 || count > size) {
            throw new IllegalStateException("a read of " + size + " bytes gave " + count);
        }
        accesses.read(flags);
        reply.advance(count);
        return 0;
    }

    private int write() throws IOException {
        long handle = request.takeLong();
        long offset = request.takeFileOffset();
        int size = request.takeInt();
        int flags = request.takeInt();
        request.skip(16);
        ByteBuffer payload = request.takePayload(size);
        if ((flags & Protocol.WRITE_KILL_SUIDGID) != 0) {
            privileges.dropForWriting(request.node());
        }
        if ((flags & Protocol.WRITE_CACHE) != 0) {
            operations.writeBack(handle, offset, payload);
        } else {
            operations.write(handle, offset, payload);
        }
        reply.putInt(size);
        reply.putInt(0);
        return 0;
    }

    private int open() throws IOException {
        int flags = request.takeInt();
        int openFlags = request.takeInt();
        boolean truncate = (flags & Protocol.O_TRUNC) != 0;
        long handle = operations.open(request.node(), isWritable(flags), truncate, request.caller());
        if (truncate && (openFlags & Protocol.OPEN_KILL_SUIDGID) != 0) {
            dropPrivilegesOfOpened(handle);
        }
        accesses.opened(flags);
        reply.putOpened(handle, Protocol.FOPEN_KEEP_CACHE);
        return 0;
    }

    private void dropPrivilegesOfOpened(long handle) throws IOException {
        try {
            privileges.dropForWriting(request.node());
        } catch (IOException | RuntimeException | Error e) {
            operations.close(handle);
            throw e;
        }
    }

    private int create() throws IOException {
        int flags = request.takeInt();
        int mode = FileMode.REGULAR | (request.takeInt() & FileMode.PERMISSIONS);
        Owner caller = takeCaller();
        request.skip(4);
        byte[] name = request.takeName();
        return created(operations.create(request.node(), name, mode, isWritable(flags), caller));
    }

    /** Makes a file without a name. The arguments are those of CREATE; the name in them has no meaning. */
    private int createUnnamed() throws IOException {
        int flags = request.takeInt();
        int mode = FileMode.REGULAR | (request.takeInt() & FileMode.PERMISSIONS);
        return created(operations.createUnnamed(request.node(), mode, isWritable(flags), takeCaller()));
    }

    private int created(FuseOperations.CreatedFile created) {
        reply.putEntry(created.attributes());
        reply.putOpened(created.handle(), Protocol.FOPEN_KEEP_CACHE);
        return 0;
    }

    /** Takes the umask and returns the caller with it. Without DONT_MASK, the kernel has already applied the umask. */
    private Owner takeCaller() throws MalformedRequestException {
        int umask = request.takeInt();
        return request.caller(agreement.has(InitFlag.DONT_MASK) ? umask : 0);
    }

    private static boolean isWritable(int openFlags) {
        return (openFlags & Protocol.O_ACCESS_MODE) != Protocol.O_RDONLY;
    }

    private int flush() throws IOException {
        operations.flush(request.takeLong());
        return 0;
    }

    /** Syncs one file. The arguments are its handle, and flags that are ignored. */
    private int sync() throws IOException {
        long handle = request.takeLong();
        return sync(new Sync() {
            @Override
            public void store() throws IOException {
                operations.store(handle);
            }

            @Override
            public void check() throws IOException {
                operations.flush(handle);
            }
        });
    }

    private int syncAll() throws IOException {
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
        Asked asked =
                new Asked(request.unique(), request.pid(), request.caller().uid(), () -> describe(opcode, node));
        if (syncs.takes(asked, sync)) {
            return ANSWERED_LATER;
        }
        served.begin(asked.unique(), asked.pid());
        try {
            sync.store();
            operations.commit();
            sync.check();
        } finally {
            syncs.served();
        }
        return 0;
    }

    // ---- Ranges ----

    /**
     * Allocates or zeroes a range. Arguments, {@code fuse_fallocate_in}: handle, offset, length, 4 bytes of mode, 4
     * unused.
     */
    private int allocate() throws IOException {
        long handle = request.takeLong();
        long offset = request.takeFileOffset();
        long length = request.takeFileOffset();
        FallocateMode mode = FallocateMode.of(request.takeInt());
        privileges.dropForWritingUnlessRoot(request.node());
        mode.apply(operations, handle, offset, length);
        return 0;
    }

    /**
     * Seeks data or a hole. Arguments, {@code fuse_lseek_in}: handle, offset, 4 bytes of whence, 4 unused. The kernel
     * sends LSEEK without writing back its write-back cache first (seen in Linux 6.18). Unsent data would then look
     * like a hole, and a copy would lose it.
     */
    private int seek() throws IOException {
        long handle = request.takeLong();
        long offset = request.takeLong();
        int whence = request.takeInt();
        if (whence != Protocol.SEEK_DATA && whence != Protocol.SEEK_HOLE) {
            return Errno.EINVAL;
        }
        if (offset >= 0 && operations.hasWriters(handle)) {
            long node = request.node();
            cache.answerAfterWriteBack(node, offset, request.unique(), () -> seekLate(node, handle, offset, whence));
            return ANSWERED_LATER;
        }
        reply.putLong(seek(handle, offset, whence));
        return 0;
    }

    private long seek(long handle, long offset, int whence) throws IOException {
        return whence == Protocol.SEEK_DATA ? operations.seekData(handle, offset) : operations.seekHole(handle, offset);
    }

    /** Seeks on another thread. The request buffer then already holds another request. */
    private long seekLate(long node, long handle, long offset, int whence) {
        try {
            return seek(handle, offset, whence);
        } catch (IOException | RuntimeException | Error e) {
            return -Errno.of(e, describe(Opcode.LSEEK, node));
        }
    }

    /**
     * Copies a range between files. Arguments, {@code fuse_copy_file_range_in}: handle and offset of the source; inode,
     * handle and offset of the target; length, flags. Replies with the number of bytes copied: in 32 bits followed by 4
     * unused bytes, or in 64 bits.
     */
    private int copy(boolean wide) throws IOException {
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
        privileges.dropForWritingUnlessRoot(inode);
        long copied = operations.copy(source, from, target, to, wide ? asked : Math.min(asked, MAX_NARROW_COPY_BYTES));
        if (wide) {
            reply.putLong(copied);
        } else {
            reply.putInt((int) copied);
            reply.putInt(0);
        }
        return 0;
    }

    private int release() throws IOException {
        operations.close(request.takeLong());
        return 0;
    }

    // ---- Inodes ----

    private int lookup() throws IOException {
        byte[] name = request.takeName();
        try {
            reply.putEntry(operations.lookup(request.node(), name));
        } catch (PosixException e) {
            if (e.reason() != PosixException.Reason.ENOENT) {
                throw e;
            }
            reply.putNoEntry();
        }
        return 0;
    }

    private int forget() throws IOException {
        forget(request.node(), request.takeLong());
        return 0;
    }

    /** Forgets several inodes. Arguments: a count, 4 unused bytes, then that number of pairs of node and references. */
    private int forgetBatch() throws IOException {
        int count = request.takeInt();
        request.skip(4);
        for (int i = 0; i < count; i++) {
            forget(request.takeLong(), request.takeLong());
        }
        return 0;
    }

    private void forget(long inode, long references) throws MalformedRequestException {
        if (references < 0) {
            throw new MalformedRequestException("forgetting " + references + " references");
        }
        operations.forget(inode, references);
    }

    private int getAttributes() throws IOException {
        reply.putAttributesAlone(operations.attributes(request.node()));
        return 0;
    }

    /** Replies with the attributes and the birth time; all fields, whatever the request selects. */
    private int getExtendedStatus() throws IOException {
        reply.putExtendedAttributes(operations.attributes(request.node()));
        return 0;
    }

    private int setAttributes() throws IOException {
        SetAttributeArguments arguments = SetAttributeArguments.take(request);
        reply.putAttributesAlone(operations.change(request.node(), privileges.apply(arguments)));
        return 0;
    }

    private int readLink() throws IOException {
        reply.putBytes(operations.readSymbolicLink(request.node()));
        operations.noteRead(request.node());
        return 0;
    }

    private int space() throws IOException {
        SpaceUse space = operations.space();
        long freeFiles = space.freeFiles(Protocol.PAGE_BYTES);
        reply.putLong(space.capacityBytes() / Protocol.PAGE_BYTES);
        reply.putLong(space.freeBytes() / Protocol.PAGE_BYTES);
        reply.putLong(space.availableBytes() / Protocol.PAGE_BYTES);
        reply.putLong(space.files() + freeFiles);
        reply.putLong(freeFiles);
        reply.putInt(Protocol.PAGE_BYTES);
        reply.putInt(Protocol.MAX_NAME_BYTES);
        reply.putInt(Protocol.PAGE_BYTES);
        reply.putZeros(28);
        return 0;
    }

    // ---- Names ----

    private int makeNode() throws IOException {
        int mode = request.takeInt();
        int device = request.takeInt();
        Owner caller = takeCaller();
        request.skip(4);
        byte[] name = request.takeName();
        return entry(operations.makeNode(request.node(), name, mode, device, caller));
    }

    private int makeDirectory() throws IOException {
        int mode = FileMode.DIRECTORY | (request.takeInt() & FileMode.PERMISSIONS);
        Owner caller = takeCaller();
        byte[] name = request.takeName();
        return entry(operations.makeDirectory(request.node(), name, mode, caller));
    }

    private int symbolicLink() throws IOException {
        byte[] name = request.takeName();
        byte[] target = request.takeString(Protocol.MAX_PATH_BYTES);
        return entry(operations.makeSymbolicLink(request.node(), name, target, request.caller()));
    }

    private int link() throws IOException {
        long inode = request.takeLong();
        return entry(operations.link(inode, request.node(), request.takeName()));
    }

    private int entry(Attributes made) {
        reply.putEntry(made);
        return 0;
    }

    private int unlink() throws IOException {
        operations.unlink(request.node(), request.takeName());
        return 0;
    }

    private int removeDirectory() throws IOException {
        operations.removeDirectory(request.node(), request.takeName());
        return 0;
    }

    private int rename(boolean withFlags) throws IOException {
        long newDirectory = request.takeLong();
        int flags = withFlags ? request.takeInt() : 0;
        if (withFlags) {
            request.skip(4);
        }
        byte[] name = request.takeName();
        byte[] newName = request.takeName();
        operations.rename(request.node(), name, newDirectory, newName, renameMode(flags));
        return 0;
    }

    private static RenameMode renameMode(int flags) throws PosixException {
        return switch (flags) {
            case 0 -> RenameMode.REPLACE;
            case Protocol.RENAME_NOREPLACE -> RenameMode.NO_REPLACE;
            case Protocol.RENAME_EXCHANGE -> RenameMode.EXCHANGE;
            default -> throw new PosixException(PosixException.Reason.EINVAL, "rename with flags " + flags);
        };
    }

    private int list(boolean withAttributes) throws IOException {
        request.skip(8);
        long cookie = request.takeLong();
        int room = Math.min(request.takeInt() & Integer.MAX_VALUE, MAX_IO_BYTES);
        try {
            operations.list(
                    request.node(),
                    cookie,
                    withAttributes,
                    (name, inode, type, next, attributes) ->
                            putListed(room, withAttributes, name, inode, type, next, attributes));
            operations.noteListed(request.node());
        } catch (IOException | RuntimeException e) {
            if (reply.put() == 0) {
                throw e;
            }
            // The entries before the failure are valid and retained. The kernel continues after them and gets the
            // failure then.
            LOG.debug("{}: listing ends early", describe(), e);
        }
        return 0;
    }

    private boolean putListed(
            int room,
            boolean withAttributes,
            byte[] name,
            long inode,
            int type,
            long cookie,
            @Nullable Attributes attributes) {
        if (reply.put() + Reply.entryBytes(name.length, withAttributes) > room) {
            return false;
        }
        reply.putListed(name, inode, type, cookie, withAttributes, attributes);
        return true;
    }

    // ---- Extended attributes ----

    private int setExtendedAttribute() throws IOException {
        int size = request.takeInt();
        SetMode mode = setMode(request.takeInt());
        int more = 0;
        if (agreement.has(InitFlag.SETXATTR_EXT)) {
            more = request.takeInt();
            request.skip(4);
        }
        byte[] name = request.takeString(Protocol.MAX_NAME_BYTES);
        if (size < 0 || size > Protocol.MAX_XATTR_BYTES) {
            return Errno.E2BIG;
        }
        byte[] value = request.takeBytes(size);
        operations.setExtendedAttribute(request.node(), name, value, mode);
        // The kernel also sets this flag for default lists, which do not change the permissions of the directory
        // itself.
        if ((more & Protocol.SETXATTR_ACL_KILL_SGID) != 0 && ExtendedAttributeName.isOwnAccessList(name)) {
            privileges.dropSetGid(request.node());
        }
        return 0;
    }

    private static SetMode setMode(int flags) throws PosixException {
        return switch (flags) {
            case 0 -> SetMode.CREATE_OR_REPLACE;
            case Protocol.XATTR_CREATE -> SetMode.CREATE;
            case Protocol.XATTR_REPLACE -> SetMode.REPLACE;
            case Protocol.XATTR_CREATE | Protocol.XATTR_REPLACE -> SetMode.CREATE_AND_REPLACE;
            default -> throw new PosixException(PosixException.Reason.EINVAL, "setxattr with flags " + flags);
        };
    }

    private int getExtendedAttribute() throws IOException {
        int room = request.takeInt();
        request.skip(4);
        byte @Nullable [] value =
                operations.extendedAttribute(request.node(), request.takeString(Protocol.MAX_NAME_BYTES));
        return value == null ? Errno.ENODATA : sized(value, room);
    }

    private int listExtendedAttributes() throws IOException {
        int room = request.takeInt();
        byte[] list = ExtendedAttributeName.listFor(request.uid(), operations.extendedAttributes(request.node()));
        return sized(list, room);
    }

    /** Replies with the value, or with its size if the caller's buffer size is 0. */
    private int sized(byte[] value, int room) {
        if (room == 0) {
            reply.putInt(value.length);
            reply.putInt(0);
            return 0;
        }
        if (value.length > Protocol.MAX_XATTR_BYTES) {
            return Errno.E2BIG;
        }
        if (Integer.compareUnsigned(value.length, room) > 0) {
            return Errno.ERANGE;
        }
        reply.putBytes(value);
        return 0;
    }

    private int removeExtendedAttribute() throws IOException {
        operations.removeExtendedAttribute(request.node(), request.takeString(Protocol.MAX_NAME_BYTES));
        return 0;
    }
}
