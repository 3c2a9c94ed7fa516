package org.opendedup.sar.sdfs.fuse.kernel;

import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;

/** Converts opcodes to the names of requests, for messages: {@code FUSE_READ} is {@code READ}. */
final class OperationName {
    private OperationName() {}

    static String of(int opcode) {
        return switch (opcode) {
            case Opcode.LOOKUP -> "LOOKUP";
            case Opcode.FORGET -> "FORGET";
            case Opcode.GETATTR -> "GETATTR";
            case Opcode.SETATTR -> "SETATTR";
            case Opcode.READLINK -> "READLINK";
            case Opcode.SYMLINK -> "SYMLINK";
            case Opcode.MKNOD -> "MKNOD";
            case Opcode.MKDIR -> "MKDIR";
            case Opcode.UNLINK -> "UNLINK";
            case Opcode.RMDIR -> "RMDIR";
            case Opcode.RENAME -> "RENAME";
            case Opcode.LINK -> "LINK";
            case Opcode.OPEN -> "OPEN";
            case Opcode.READ -> "READ";
            case Opcode.WRITE -> "WRITE";
            case Opcode.STATFS -> "STATFS";
            case Opcode.RELEASE -> "RELEASE";
            case Opcode.FSYNC -> "FSYNC";
            case Opcode.SETXATTR -> "SETXATTR";
            case Opcode.GETXATTR -> "GETXATTR";
            case Opcode.LISTXATTR -> "LISTXATTR";
            case Opcode.REMOVEXATTR -> "REMOVEXATTR";
            case Opcode.FLUSH -> "FLUSH";
            case Opcode.INIT -> "INIT";
            case Opcode.OPENDIR -> "OPENDIR";
            case Opcode.READDIR -> "READDIR";
            case Opcode.RELEASEDIR -> "RELEASEDIR";
            case Opcode.FSYNCDIR -> "FSYNCDIR";
            case Opcode.CREATE -> "CREATE";
            case Opcode.INTERRUPT -> "INTERRUPT";
            case Opcode.DESTROY -> "DESTROY";
            case Opcode.IOCTL -> "IOCTL";
            case Opcode.BATCH_FORGET -> "BATCH_FORGET";
            case Opcode.FALLOCATE -> "FALLOCATE";
            case Opcode.READDIRPLUS -> "READDIRPLUS";
            case Opcode.RENAME2 -> "RENAME2";
            case Opcode.LSEEK -> "LSEEK";
            case Opcode.COPY_FILE_RANGE -> "COPY_FILE_RANGE";
            case Opcode.SYNCFS -> "SYNCFS";
            case Opcode.TMPFILE -> "TMPFILE";
            case Opcode.STATX -> "STATX";
            case Opcode.COPY_FILE_RANGE_64 -> "COPY_FILE_RANGE_64";
            default -> "request " + opcode;
        };
    }
}
