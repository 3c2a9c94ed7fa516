package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.DIRENT_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.ENTRY_OUT_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.sdfs.fuse.AccessLists;
import org.opendedup.sar.sdfs.fuse.ErrorNumber;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.RequestLatencies;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.Asker;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.LateReply;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes a request, calls the file system and encodes the reply: finds the method for each kind of request, and makes
 * an error reply of every failure. Never throws. Uses only its two buffers, so tests need no kernel. For one thread.
 */
final class Dispatcher {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

    /** Result of {@link #dispatch} for a request without a reply. */
    static final int NO_REPLY = 0;

    /** More than the longest reply to a request that is handed over: attributes. */
    private static final int LATE_REPLY_BYTES = 256;

    private final Exchange exchange;
    private final Request request;
    private final Reply reply;
    private final ServedRequest served;
    private final RequestLatencies latencies;
    private final LongConsumer interrupts;
    private final SyncLine syncs;
    private final FileRequests files;
    private final NameRequests names;
    private final AttributeRequests attributes;
    private final ProjectRequests projects;
    /** Whether this serves a request that a worker handed over. */
    private boolean isInTurn;

    /**
     * @param cache receives invalidations for the kernel
     * @param served is notified of each request that may be abandoned; the caller ends it
     * @param interrupts receives the number of each request whose caller got a signal
     * @param syncs may take over requests that wait for a commit
     * @param backings the open files that the kernel reads and writes itself
     */
    Dispatcher(
            FuseFileSystem operations,
            KernelCache cache,
            Agreement agreement,
            ServedRequest served,
            LongConsumer interrupts,
            SyncLine syncs,
            PassedThroughFiles backings,
            ByteBuffer requestBuffer,
            ByteBuffer replyBuffer) {
        this.request = new Request(requestBuffer);
        this.reply = new Reply(replyBuffer, inode -> operations.isRefused(inode) ? 0 : backings.secondsOf(inode));
        AccessLists unenforced = agreement.requests().enforceAccessLists() ? null : new AccessLists(operations);
        this.syncs = syncs;
        this.exchange =
                new Exchange(operations, cache, agreement, request, reply, backings, unenforced, this::serveInTurn);
        this.served = served;
        this.latencies = operations.latencies();
        this.interrupts = interrupts;
        var privileges = new Privileges(operations, cache, ThreadStatus::hasGroup, request);
        this.files = new FileRequests(exchange, privileges, served, syncs);
        this.names = new NameRequests(exchange, privileges);
        this.attributes = new AttributeRequests(exchange, privileges);
        this.projects = new ProjectRequests(exchange);
    }

    /**
     * Serves the request in the first {@code length} bytes of the request buffer.
     *
     * @return length of the reply in the reply buffer, in bytes, or {@link #NO_REPLY}
     */
    int dispatch(int length) {
        long beganNanos = System.nanoTime();
        int replyLength = answer(length);
        if (replyLength != NO_REPLY) {
            latencies.record(RequestKinds.of(request.opcode()), beganNanos);
        }
        return replyLength;
    }

    private int answer(int length) {
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
            if (usesVolume(request.opcode())) {
                exchange.operations().admit();
            }
            int errno = serve();
            if (!wantsReply() || errno == Exchange.ANSWERED_LATER) {
                return NO_REPLY;
            }
            return errno == 0 ? reply.success(request.unique()) : reply.error(errno, request.unique());
        } catch (IOException | RuntimeException | Error e) {
            int errno = ErrorNumber.of(e, exchange.describe());
            return wantsReply() ? reply.error(errno, request.unique()) : NO_REPLY;
        }
    }

    /**
     * Has another thread serve the current request when its user has a turn: a copy of it, because the request buffer
     * holds another one by then.
     *
     * @param takesMinutes as in {@link Exchange.InTurn}
     * @return false if this is that thread
     */
    private boolean serveInTurn(boolean takesMinutes) {
        if (isInTurn) {
            return false;
        }
        ByteBuffer message = request.message();
        ByteBuffer room = ByteBuffer.allocateDirect(LATE_REPLY_BYTES);
        Dispatcher other = new Dispatcher(
                exchange.operations(),
                exchange.cache(),
                exchange.agreement(),
                new ServedRequest(unique -> {}),
                unique -> {},
                syncs,
                exchange.backings(),
                message,
                room);
        other.isInTurn = true;
        exchange.cache().replyInTurn(new Asker(request.uid(), request.unique()), takesMinutes, new LateReply() {
            @Override
            public ByteBuffer get() {
                return room.limit(other.dispatch(message.capacity()));
            }

            @Override
            public void takeBack() {
                other.takeBack();
            }
        });
        return true;
    }

    /**
     * Undoes the effects of the last reply, which the kernel did not accept: releases the references and handles in it.
     */
    void takeBack() {
        try {
            if (!reply.isError()) {
                takeBackSuccess();
            }
        } catch (IOException | RuntimeException | Error e) {
            LOG.error("{}: an undelivered reply could not be undone", exchange.describe(), e);
        }
    }

    private void takeBackSuccess() throws IOException {
        switch (request.opcode()) {
            case Opcode.LOOKUP, Opcode.MKNOD, Opcode.MKDIR, Opcode.SYMLINK, Opcode.LINK -> forgetAt(OUT_HEADER_BYTES);
            case Opcode.CREATE, Opcode.TMPFILE -> {
                files.close(reply.getLong(OUT_HEADER_BYTES + ENTRY_OUT_BYTES));
                forgetAt(OUT_HEADER_BYTES);
            }
            case Opcode.OPEN -> files.close(reply.getLong(OUT_HEADER_BYTES));
            case Opcode.READDIRPLUS -> {
                for (int at = OUT_HEADER_BYTES; at < reply.length(); ) {
                    forgetAt(at);
                    at += Reply.entryBytes(reply.getInt(at + ENTRY_OUT_BYTES + DIRENT_BYTES - 8), true);
                }
            }
            default -> {
                // The reply holds no references or handles.
            }
        }
    }

    private void forgetAt(int offset) {
        long inode = reply.getLong(offset);
        if (inode != 0) {
            exchange.operations().forget(inode, 1);
        }
    }

    /**
     * Returns whether a request shows or changes what another machine may have changed. Others are served at any time:
     * what releases something, and the space, for which no program should wait.
     */
    private static boolean usesVolume(int opcode) {
        return switch (opcode) {
            case Opcode.FORGET,
                    Opcode.BATCH_FORGET,
                    Opcode.INTERRUPT,
                    Opcode.RELEASE,
                    Opcode.RELEASEDIR,
                    Opcode.STATFS,
                    Opcode.DESTROY -> false;
            default -> true;
        };
    }

    private boolean wantsReply() {
        return switch (request.opcode()) {
            case Opcode.FORGET, Opcode.BATCH_FORGET, Opcode.INTERRUPT -> false;
            default -> true;
        };
    }

    /**
     * Returns whether a request may be abandoned: it does no harm if the caller gets EINTR and the request is still
     * served. Not so for requests that change the kernel's caches. For syncs, see {@link FileRequests#sync}.
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
            case Opcode.READ -> files.read();
            case Opcode.WRITE -> files.write();
            case Opcode.LOOKUP -> names.lookup();
            case Opcode.GETATTR -> attributes.getAttributes();
            case Opcode.FORGET -> names.forget();
            case Opcode.BATCH_FORGET -> names.forgetBatch();
            case Opcode.STATX -> attributes.getExtendedStatus();
            case Opcode.SETATTR -> attributes.setAttributes();
            case Opcode.READLINK -> names.readLink();
            case Opcode.SYMLINK -> names.symbolicLink();
            case Opcode.MKNOD -> names.makeNode();
            case Opcode.MKDIR -> names.makeDirectory();
            case Opcode.UNLINK -> names.unlink();
            case Opcode.RMDIR -> names.removeDirectory();
            case Opcode.RENAME -> names.rename(false);
            case Opcode.RENAME2 -> names.rename(true);
            case Opcode.LINK -> names.link();
            case Opcode.OPEN -> files.open();
            case Opcode.CREATE -> files.create();
            case Opcode.TMPFILE -> files.createUnnamed();
            case Opcode.RELEASE -> files.release();
            case Opcode.FLUSH -> files.flush();
            case Opcode.FSYNC -> files.sync();
            case Opcode.FSYNCDIR, Opcode.SYNCFS -> files.syncAll();
            case Opcode.READDIR -> names.list(false);
            case Opcode.READDIRPLUS -> names.list(true);
            case Opcode.SETXATTR -> attributes.setExtendedAttribute();
            case Opcode.GETXATTR -> attributes.getExtendedAttribute();
            case Opcode.LISTXATTR -> attributes.listExtendedAttributes();
            case Opcode.REMOVEXATTR -> attributes.removeExtendedAttribute();
            case Opcode.STATFS -> attributes.space();
            case Opcode.INTERRUPT -> interrupt();
            case Opcode.RELEASEDIR, Opcode.DESTROY -> 0;
            case Opcode.IOCTL -> projects.control();
            case Opcode.FALLOCATE -> files.allocate();
            case Opcode.LSEEK -> files.seek();
            case Opcode.COPY_FILE_RANGE -> files.copy(false);
            case Opcode.COPY_FILE_RANGE_64 -> files.copy(true);
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
}
