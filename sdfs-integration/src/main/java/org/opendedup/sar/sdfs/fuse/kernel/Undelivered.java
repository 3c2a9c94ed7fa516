package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.DIRENT_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.ENTRY_OUT_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;

import java.io.IOException;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;

/**
 * Releases the references to inodes and the open handles in a reply that the kernel did not accept. Reads them from the
 * reply itself.
 */
final class Undelivered {
    private Undelivered() {}

    /** Closes a handle. */
    @FunctionalInterface
    interface Closing {
        void close(long handle) throws IOException;
    }

    static void takeBack(int opcode, Reply reply, FuseFileSystem operations, Closing closing) throws IOException {
        if (reply.isError()) {
            return;
        }
        switch (opcode) {
            case Opcode.LOOKUP, Opcode.MKNOD, Opcode.MKDIR, Opcode.SYMLINK, Opcode.LINK ->
                forgetAt(OUT_HEADER_BYTES, reply, operations);
            case Opcode.CREATE, Opcode.TMPFILE -> {
                closing.close(reply.getLong(OUT_HEADER_BYTES + ENTRY_OUT_BYTES));
                forgetAt(OUT_HEADER_BYTES, reply, operations);
            }
            case Opcode.OPEN -> closing.close(reply.getLong(OUT_HEADER_BYTES));
            case Opcode.READDIRPLUS -> forgetListing(reply, operations);
            default -> {
                // The reply holds no references or handles.
            }
        }
    }

    private static void forgetListing(Reply reply, FuseFileSystem operations) {
        int position = OUT_HEADER_BYTES;
        while (position < reply.length()) {
            forgetAt(position, reply, operations);
            int nameBytes = reply.getInt(position + ENTRY_OUT_BYTES + DIRENT_BYTES - 8);
            position += Reply.entryBytes(nameBytes, true);
        }
    }

    private static void forgetAt(int offset, Reply reply, FuseFileSystem operations) {
        long inode = reply.getLong(offset);
        if (inode != 0) {
            operations.forget(inode, 1);
        }
    }
}
