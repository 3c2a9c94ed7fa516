package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;

/**
 * The requests that read and set the project of an inode: FS_IOC_FSGETXATTR and FS_IOC_FSSETXATTR, with a {@code struct
 * fsxattr} ({@code linux/fs.h}). Of its flags only one exists: a folder passes its project on, which each folder with a
 * project does. Other ioctls are refused with ENOTTY.
 */
final class ProjectRequests {
    /** FS_IOC_FSGETXATTR. */
    static final int GET = 0x801c581f;
    /** FS_IOC_FSSETXATTR. */
    static final int SET = 0x401c5820;

    /** FS_XFLAG_PROJINHERIT. */
    private static final int INHERITED = 0x200;

    private static final int XATTR_BYTES = 28;
    private static final int ROOT = 0;

    private final FuseFileSystem operations;
    private final Request request;
    private final Reply reply;

    ProjectRequests(Exchange exchange) {
        operations = exchange.operations();
        request = exchange.request();
        reply = exchange.reply();
    }

    /** Arguments, {@code fuse_ioctl_in}: handle, flags, command, address, bytes given and bytes wanted; then those. */
    int control() throws IOException {
        request.skip(12);
        int command = request.takeInt();
        request.skip(8);
        int given = request.takeInt();
        int wanted = request.takeInt();
        return switch (command) {
            case GET -> wanted == XATTR_BYTES ? get() : Errno.EINVAL;
            case SET -> given == XATTR_BYTES ? set() : Errno.EINVAL;
            default -> Errno.ENOTTY;
        };
    }

    /** Begins the reply, {@code fuse_ioctl_out}: result 0, and no further data to be asked for. */
    private void done() {
        reply.putZeros(16);
    }

    private int get() throws IOException {
        int project = operations.project(request.node());
        int mode = operations.attributes(request.node()).mode();
        done();
        reply.putInt(project != 0 && FileMode.isDirectory(mode) ? INHERITED : 0);
        reply.putZeros(8); // size and number of extents
        reply.putInt(project);
        reply.putZeros(12);
        return 0;
    }

    /** Sets the project. Only root may: the quota of a folder limits its users. */
    private int set() throws IOException {
        if ((request.takeInt() & ~INHERITED) != 0) {
            return Errno.EOPNOTSUPP;
        }
        request.skip(8);
        int project = request.takeInt();
        if (project != operations.project(request.node())) {
            if (request.uid() != ROOT) {
                return Errno.EPERM;
            }
            operations.setProject(request.node(), project);
        }
        done();
        return 0;
    }
}
