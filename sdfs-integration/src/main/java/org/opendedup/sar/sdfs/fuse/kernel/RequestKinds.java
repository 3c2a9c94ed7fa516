package org.opendedup.sar.sdfs.fuse.kernel;

import org.opendedup.sar.sdfs.fuse.RequestLatencies.Kind;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;

/** Under which kinds requests are counted. */
final class RequestKinds {
    private RequestKinds() {}

    /** Returns as what a request is counted. */
    static Kind of(int opcode) {
        return switch (opcode) {
            case Opcode.READ -> Kind.READ;
            case Opcode.WRITE -> Kind.WRITE;
            case Opcode.LOOKUP -> Kind.LOOKUP;
            case Opcode.GETATTR, Opcode.STATX -> Kind.GETATTR;
            case Opcode.SETATTR -> Kind.SETATTR;
            case Opcode.OPEN -> Kind.OPEN;
            case Opcode.RELEASE -> Kind.RELEASE;
            case Opcode.FLUSH -> Kind.FLUSH;
            case Opcode.FSYNC, Opcode.FSYNCDIR, Opcode.SYNCFS -> Kind.FSYNC;
            case Opcode.READDIR, Opcode.READDIRPLUS -> Kind.READDIR;
            case Opcode.CREATE, Opcode.TMPFILE, Opcode.MKNOD, Opcode.MKDIR, Opcode.SYMLINK, Opcode.LINK -> Kind.CREATE;
            case Opcode.UNLINK, Opcode.RMDIR -> Kind.UNLINK;
            case Opcode.RENAME, Opcode.RENAME2 -> Kind.RENAME;
            case Opcode.SETXATTR, Opcode.GETXATTR, Opcode.LISTXATTR, Opcode.REMOVEXATTR -> Kind.XATTR;
            case Opcode.FALLOCATE, Opcode.LSEEK, Opcode.COPY_FILE_RANGE, Opcode.COPY_FILE_RANGE_64 -> Kind.RANGE;
            default -> Kind.OTHER;
        };
    }
}
