package org.opendedup.sar.sdfs.fuse.kernel;

import java.lang.reflect.Field;

/**
 * Constants of the FUSE protocol ({@code linux/fuse.h}, version 7.42): device, versions, sizes of structures in bytes,
 * flags.
 */
final class Protocol {
    /** The device over which the kernel and this program speak. */
    static final String DEVICE = "/dev/fuse";

    static final int MAJOR = 7;
    /** Newest minor version that this program was written for. */
    static final int NEWEST_MINOR = 42;
    /**
     * Oldest minor version, of Linux 5.4: the first with FUSE_MAX_PAGES, FUSE_CACHE_SYMLINKS and directories opened
     * without a message.
     */
    static final int OLDEST_MINOR = 31;

    /** Number of the inode on which a file system is mounted. */
    static final long ROOT = 1;

    static final int IN_HEADER_BYTES = 40;
    static final int OUT_HEADER_BYTES = 16;
    static final int ATTR_BYTES = 88;
    static final int ENTRY_OUT_BYTES = 40 + ATTR_BYTES;
    static final int DIRENT_BYTES = 24;
    static final int WRITE_IN_BYTES = 40;
    static final int INIT_OUT_BYTES = 64;
    static final int STATX_OUT_BYTES = 32 + 256;

    /** Largest read or write in bytes: 256 pages, the kernel's own limit. */
    static final int MAX_IO_BYTES = 1 << 20;

    static final int PAGE_BYTES = 4096;

    static final int MAX_NAME_BYTES = 255;
    static final int MAX_PATH_BYTES = 4095;
    static final int MAX_XATTR_BYTES = 65536;

    private Protocol() {}

    /** {@code enum fuse_opcode}. */
    static final class Opcode {
        static final int LOOKUP = 1;
        static final int FORGET = 2;
        static final int GETATTR = 3;
        static final int SETATTR = 4;
        static final int READLINK = 5;
        static final int SYMLINK = 6;
        static final int MKNOD = 8;
        static final int MKDIR = 9;
        static final int UNLINK = 10;
        static final int RMDIR = 11;
        static final int RENAME = 12;
        static final int LINK = 13;
        static final int OPEN = 14;
        static final int READ = 15;
        static final int WRITE = 16;
        static final int STATFS = 17;
        static final int RELEASE = 18;
        static final int FSYNC = 20;
        static final int SETXATTR = 21;
        static final int GETXATTR = 22;
        static final int LISTXATTR = 23;
        static final int REMOVEXATTR = 24;
        static final int FLUSH = 25;
        static final int INIT = 26;
        static final int OPENDIR = 27;
        static final int READDIR = 28;
        static final int RELEASEDIR = 29;
        static final int FSYNCDIR = 30;
        static final int CREATE = 35;
        static final int INTERRUPT = 36;
        static final int DESTROY = 38;
        static final int IOCTL = 39;
        static final int BATCH_FORGET = 42;
        static final int FALLOCATE = 43;
        static final int READDIRPLUS = 44;
        static final int RENAME2 = 45;
        static final int LSEEK = 46;
        static final int COPY_FILE_RANGE = 47;
        static final int SYNCFS = 50;
        static final int TMPFILE = 51;
        static final int STATX = 52;
        /** Since protocol 7.45 (Linux 6.18): the reply has 64 bits for the number of bytes copied. */
        static final int COPY_FILE_RANGE_64 = 53;

        private Opcode() {}

        /** Returns the name of a request for messages: that of its constant here. */
        static String name(int opcode) {
            try {
                for (Field constant : Opcode.class.getDeclaredFields()) {
                    if (constant.getInt(null) == opcode) {
                        return constant.getName();
                    }
                }
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
            return "request " + opcode;
        }
    }

    /** {@code FUSE_*}: features that the two sides of INIT offer and accept. */
    static final class InitFlag {
        static final int ASYNC_READ = 1;
        static final int ATOMIC_O_TRUNC = 1 << 3;
        static final int EXPORT_SUPPORT = 1 << 4;
        static final int BIG_WRITES = 1 << 5;
        static final int DONT_MASK = 1 << 6;
        static final int DO_READDIRPLUS = 1 << 13;
        static final int READDIRPLUS_AUTO = 1 << 14;
        static final int WRITEBACK_CACHE = 1 << 16;
        static final int PARALLEL_DIROPS = 1 << 18;
        static final int POSIX_ACL = 1 << 20;
        static final int ABORT_ERROR = 1 << 21;
        static final int MAX_PAGES = 1 << 22;
        static final int CACHE_SYMLINKS = 1 << 23;
        static final int NO_OPENDIR_SUPPORT = 1 << 24;
        static final int HANDLE_KILLPRIV_V2 = 1 << 28;
        static final int SETXATTR_EXT = 1 << 29;
        /** The message has a second word of flags. */
        static final int INIT_EXT = 1 << 30;
        /** In the second word. Since protocol 7.40 (Linux 6.9). The kernel refuses it together with WRITEBACK_CACHE. */
        static final int PASSTHROUGH = 1 << 5;

        private InitFlag() {}
    }

    /** {@code FATTR_*}: fields of a SETATTR that are valid. */
    static final class SetAttribute {
        static final int MODE = 1;
        static final int UID = 1 << 1;
        static final int GID = 1 << 2;
        static final int SIZE = 1 << 3;
        static final int ATIME = 1 << 4;
        static final int MTIME = 1 << 5;
        static final int HANDLE = 1 << 6;
        static final int ATIME_NOW = 1 << 7;
        static final int MTIME_NOW = 1 << 8;
        static final int LOCK_OWNER = 1 << 9;
        static final int CTIME = 1 << 10;
        static final int KILL_SUIDGID = 1 << 11;

        private SetAttribute() {}
    }

    /** {@code FOPEN_KEEP_CACHE}: pages cached by an earlier open stay valid. */
    static final int FOPEN_KEEP_CACHE = 1 << 1;

    /** {@code FOPEN_PASSTHROUGH}: the kernel reads and writes the backing file whose number the reply has. */
    static final int FOPEN_PASSTHROUGH = 1 << 7;

    /** {@code FUSE_OPEN_KILL_SUIDGID}, for an open that truncates. */
    static final int OPEN_KILL_SUIDGID = 1;

    /** {@code STATX_BASIC_STATS} and {@code STATX_BTIME} of statx(2): all fields that this service has. */
    static final int STATX_FIELDS = 0x07ff | 0x0800;

    /** {@code FUSE_SETXATTR_ACL_KILL_SGID}: the caller who sets an access list may not keep setgid. */
    static final int SETXATTR_ACL_KILL_SGID = 1;

    /** {@code FUSE_GETATTR_FH}: through an open file. */
    static final int GETATTR_HANDLE = 1;

    /** {@code FUSE_WRITE_CACHE}: a write-back from the kernel's cache. */
    static final int WRITE_CACHE = 1;

    /** {@code FUSE_WRITE_KILL_SUIDGID}. */
    static final int WRITE_KILL_SUIDGID = 1 << 2;

    /** {@code O_*} of open(2). */
    static final int O_ACCESS_MODE = 3;

    static final int O_RDONLY = 0;
    static final int O_WRONLY = 1;
    static final int O_TRUNC = 01000;
    /** Each write is durable. O_SYNC contains this bit. */
    static final int O_DSYNC = 010000;

    static final int O_NOATIME = 01000000;

    /** {@code SEEK_*} of lseek(2): the values that the kernel sends. */
    static final int SEEK_DATA = 3;

    static final int SEEK_HOLE = 4;

    /** {@code RENAME_*} of renameat2(2). */
    static final int RENAME_NOREPLACE = 1;

    static final int RENAME_EXCHANGE = 2;

    static final int RENAME_WHITEOUT = 4;

    /** {@code XATTR_*} of setxattr(2). */
    static final int XATTR_CREATE = 1;

    static final int XATTR_REPLACE = 2;
}
