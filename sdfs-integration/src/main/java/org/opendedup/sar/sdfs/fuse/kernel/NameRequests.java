package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.AccessLists;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests that look up, list, make, rename and remove names, and forget what was looked up. Each method serves the
 * current request and returns 0 or the number of an expected error.
 */
final class NameRequests {
    private static final Logger LOG = LoggerFactory.getLogger(NameRequests.class);

    /** Most bytes of a listing in one reply: some 300 names with attributes, each of which may have to be read. */
    private static final int MAX_LIST_BYTES = 64 << 10;

    private final Exchange exchange;
    private final FuseFileSystem operations;
    private final Request request;
    private final Reply reply;
    private final Privileges privileges;

    NameRequests(Exchange exchange, Privileges privileges) {
        this.exchange = exchange;
        this.privileges = privileges;
        this.operations = exchange.operations();
        this.request = exchange.request();
        this.reply = exchange.reply();
    }

    int lookup() throws IOException {
        byte[] name = request.takeName();
        Attributes found;
        try {
            found = operations.lookup(request.node(), name);
        } catch (PosixException e) {
            if (e.reason() != PosixException.Reason.ENOENT) {
                throw e;
            }
            reply.putNoEntry(request.node());
            return 0;
        }
        return entry(found);
    }

    int forget() throws IOException {
        forget(request.node(), request.takeLong());
        return 0;
    }

    /** Forgets several inodes. Arguments: a count, 4 unused bytes, then that number of pairs of node and references. */
    int forgetBatch() throws IOException {
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

    int readLink() throws IOException {
        reply.putBytes(operations.readSymbolicLink(request.node()));
        operations.noteRead(request.node());
        return 0;
    }

    int makeNode() throws IOException {
        int mode = privileges.modeOfNew(request.node(), request.takeInt());
        int device = request.takeInt();
        Owner caller = exchange.takeCaller();
        request.skip(4);
        byte[] name = request.takeName();
        return entry(operations.makeNode(request.node(), name, mode, device, caller));
    }

    int makeDirectory() throws IOException {
        int mode = FileMode.DIRECTORY | (request.takeInt() & FileMode.PERMISSIONS);
        Owner caller = exchange.takeCaller();
        byte[] name = request.takeName();
        return entry(operations.makeDirectory(request.node(), name, mode, caller));
    }

    int symbolicLink() throws IOException {
        byte[] name = request.takeName();
        byte[] target = request.takeString(Protocol.MAX_PATH_BYTES);
        return entry(operations.makeSymbolicLink(request.node(), name, target, request.caller()));
    }

    int link() throws IOException {
        long inode = request.takeLong();
        Attributes linked = operations.link(inode, request.node(), request.takeName());
        try {
            if (exchange.backings().hasMappable(inode)) {
                // It may be the first name of a file whose bytes the kernel makes durable without telling.
                operations.commit();
            }
        } catch (IOException | RuntimeException | Error e) {
            operations.forget(inode, 1);
            throw e;
        }
        return entry(linked);
    }

    /** Puts an inode that is retained for the kernel. If that fails the kernel does not get it, and it is released. */
    private int entry(Attributes retained) throws IOException {
        try {
            reply.putEntry(exchange.shown(retained));
            return 0;
        } catch (IOException | RuntimeException | Error e) {
            operations.forget(retained.inode(), 1);
            throw e;
        }
    }

    int unlink() throws IOException {
        operations.unlink(request.node(), request.takeName());
        return 0;
    }

    int removeDirectory() throws IOException {
        operations.removeDirectory(request.node(), request.takeName());
        return 0;
    }

    int rename(boolean withFlags) throws IOException {
        long newDirectory = request.takeLong();
        int flags = withFlags ? request.takeInt() : 0;
        if (withFlags) {
            request.skip(4);
        }
        byte[] name = request.takeName();
        byte[] newName = request.takeName();
        RenameMode mode = renameMode(flags & ~Protocol.RENAME_WHITEOUT);
        if ((flags & Protocol.RENAME_WHITEOUT) == 0) {
            operations.rename(request.node(), name, newDirectory, newName, mode);
            return 0;
        }
        if (mode == RenameMode.EXCHANGE) {
            return Errno.EINVAL;
        }
        operations.renameLeavingWhiteout(request.node(), name, newDirectory, newName, mode, request.caller());
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

    int list(boolean withAttributes) throws IOException {
        request.skip(8);
        long cookie = request.takeLong();
        int room = Math.min(request.takeInt() & Integer.MAX_VALUE, MAX_LIST_BYTES);
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
            LOG.debug("{}: listing ends early", exchange.describe(), e);
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
        AccessLists unenforced = exchange.unenforced();
        Attributes shown = attributes == null || unenforced == null ? attributes : unenforced.shownOrClosed(attributes);
        reply.putListed(name, inode, type, cookie, withAttributes, shown);
        return true;
    }
}
