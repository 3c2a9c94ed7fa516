package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.OUT_HEADER_BYTES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;

/**
 * Sends {@code fuse_notify_inval_inode_out}: the kernel drops the attributes of an inode, and on request its pages.
 * Sends {@code fuse_notify_inval_entry_out}: it drops a name. The unique number of a notification is 0; the field that
 * holds the error in a reply holds the kind of the notification. For one thread at a time.
 */
final class Invalidation {
    /** Value of {@code from} with which the kernel keeps all pages. */
    static final long NO_PAGES = -1;

    private static final int BYTES = OUT_HEADER_BYTES + 24;
    private static final int NAME_OFFSET = OUT_HEADER_BYTES + 16;
    private static final int MAX_NAME_BYTES = 1024;
    private static final int FUSE_NOTIFY_INVAL_INODE = 2;
    private static final int FUSE_NOTIFY_INVAL_ENTRY = 3;

    private final Libc libc;
    private final ByteBuffer note =
            ByteBuffer.allocateDirect(NAME_OFFSET + MAX_NAME_BYTES).order(ByteOrder.nativeOrder());
    private final long address;

    Invalidation(Libc libc) {
        this.libc = libc;
        this.address = Libc.address(note);
    }

    /**
     * Sends the notification.
     *
     * @param from file offset in bytes from which the kernel drops pages too, up to the end of the file; it sends pages
     *     that it has not sent yet and then drops them. {@link #NO_PAGES}: no pages
     * @return false if the kernel refused it, as {@link Libc#errno} says; true if it does not know the inode any more
     */
    boolean send(int fd, long inode, long from) {
        note.putInt(0, BYTES).putInt(4, FUSE_NOTIFY_INVAL_INODE).putLong(8, 0);
        note.putLong(16, inode).putLong(24, from).putLong(32, 0);
        return libc.functions().write(fd, address, BYTES) == BYTES || Libc.errno() == Errno.ENOENT;
    }

    /**
     * Sends the notification about a name in a directory: that it exists, or that it does not. The kernel waits for the
     * end of the calls that change the directory, so do not send it from a thread that serves requests.
     *
     * @return false if the kernel refused it, as {@link Libc#errno} says; true if it does not know the directory or the
     *     name
     */
    boolean sendName(int fd, long directory, byte[] name) {
        int bytes = NAME_OFFSET + name.length + 1;
        note.putInt(0, bytes).putInt(4, FUSE_NOTIFY_INVAL_ENTRY).putLong(8, 0);
        note.putLong(16, directory).putInt(24, name.length).putInt(28, 0);
        note.put(NAME_OFFSET, name).put(NAME_OFFSET + name.length, (byte) 0);
        return libc.functions().write(fd, address, bytes) == bytes || Libc.errno() == Errno.ENOENT;
    }
}
