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
    /** The functions that are ours, with their places in the header's order. libfuse answers for the others. */
    enum Slot {
        GETATTR(0),
        READLINK(1),
        MKNOD(3),
        MKDIR(4),
        UNLINK(5),
        RMDIR(6),
        SYMLINK(7),
        RENAME(8),
        LINK(9),
        CHMOD(10),
        CHOWN(11),
        TRUNCATE(12),
        OPEN(14),
        READ(15),
        WRITE(16),
        STATFS(17),
        FLUSH(18),
        RELEASE(19),
        FSYNC(20),
        SETXATTR(21),
        GETXATTR(22),
        LISTXATTR(23),
        REMOVEXATTR(24),
        OPENDIR(25),
        READDIR(26),
        RELEASEDIR(27),
        FSYNCDIR(28),
        INIT(29),
        CREATE(32),
        FTRUNCATE(33),
        FGETATTR(34),
        UTIMENS(36),
        IOCTL(39),
        FALLOCATE(44);

        private final long offset;

        Slot(int place) {
            offset = (long) Long.BYTES * place;
        }
    }

    /** The word of flags, padded to a pointer's size. */
    private static final int FLAGS_OFFSET = Long.BYTES * 38;

    static final int BYTES = Long.BYTES * 45;

    /**
     * The bits of the flags. With nullpath_ok and nopath, calls that come with a handle get no path, and so reach files that
     * have none as well; with utime_omit_ok, utimens may leave one of its times as it is.
     */
    private static final int NULLPATH_OK = 1;

    private static final int NOPATH = 1 << 1;
    private static final int UTIME_OMIT_OK = 1 << 2;

    private final Runtime runtime;
    private final Pointer memory;
    /** Native code does not keep a callback alive; this list does. */
    private final List<Object> callbacks = new ArrayList<>();

    CallbackTable(Runtime runtime) {
        this.runtime = runtime;
        this.memory = Memory.allocateDirect(runtime, BYTES, true);
        memory.putInt(FLAGS_OFFSET, NULLPATH_OK | NOPATH | UTIME_OMIT_OK);
    }

    /** Puts a callback into its slot. */
    <T> void set(Slot slot, Class<T> shape, T callback) {
        callbacks.add(callback);
        memory.putPointer(slot.offset, runtime.getClosureManager().getClosurePointer(shape, callback));
    }

    Pointer memory() {
        return memory;
    }
}
