package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.ArrayList;
import java.util.List;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * {@code struct fuse_operations} of libfuse 2.9 in native memory: a pointer for each function, and one word of flags among
 * them. jnr-fuse's own structure fits neither the functions here ({@link Callbacks}), whose paths are bytes, nor the flags,
 * which it declares as padding.
 */
final class CallbackTable {
    /** The pointers, in the header's order. A function that is left out is one that libfuse answers for. */
    enum Slot {
        GETATTR,
        READLINK,
        GETDIR,
        MKNOD,
        MKDIR,
        UNLINK,
        RMDIR,
        SYMLINK,
        RENAME,
        LINK,
        CHMOD,
        CHOWN,
        TRUNCATE,
        UTIME,
        OPEN,
        READ,
        WRITE,
        STATFS,
        FLUSH,
        RELEASE,
        FSYNC,
        SETXATTR,
        GETXATTR,
        LISTXATTR,
        REMOVEXATTR,
        OPENDIR,
        READDIR,
        RELEASEDIR,
        FSYNCDIR,
        INIT,
        DESTROY,
        ACCESS,
        CREATE,
        FTRUNCATE,
        FGETATTR,
        LOCK,
        UTIMENS,
        BMAP,
        /** The word of flags, padded to a pointer's size. */
        FLAGS,
        IOCTL,
        POLL,
        WRITE_BUF,
        READ_BUF,
        FLOCK,
        FALLOCATE;

        private long offset() {
            return (long) Long.BYTES * ordinal();
        }
    }

    /**
     * The bits of the flags. With nullpath_ok and nopath, calls that come with a handle get no path, and so reach files that
     * have none as well; with utime_omit_ok, utimens may leave one of its times as it is.
     */
    private static final int NULLPATH_OK = 1;

    private static final int NOPATH = 1 << 1;
    private static final int UTIME_OMIT_OK = 1 << 2;

    static final int BYTES = Long.BYTES * Slot.values().length;

    private final Runtime runtime;
    private final Pointer memory;
    /** Native code does not keep a callback alive; this list does. */
    private final List<Object> callbacks = new ArrayList<>();

    CallbackTable(Runtime runtime) {
        this.runtime = runtime;
        this.memory = Memory.allocateDirect(runtime, BYTES, true);
        memory.putInt(Slot.FLAGS.offset(), NULLPATH_OK | NOPATH | UTIME_OMIT_OK);
    }

    /** Puts a callback into its slot. */
    <T> void set(Slot slot, Class<T> shape, T callback) {
        callbacks.add(callback);
        memory.putPointer(slot.offset(), runtime.getClosureManager().getClosurePointer(shape, callback));
    }

    Pointer memory() {
        return memory;
    }
}
