package org.opendedup.sar.sdfs.fuse.jnr;

import java.util.ArrayList;
import java.util.List;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * {@code struct fuse_operations} of libfuse 2.9 in native memory: one pointer for each function, and one word of flags
 * among them. Replaces jnr-fuse's own structure, which does not fit: its functions take paths as strings, while those
 * in {@link Callbacks} take bytes, and it declares the flags as padding.
 */
final class CallbackTable {
    /**
     * The functions that this binding implements, with their positions in the order of the header. libfuse answers for
     * the others.
     */
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

    /** Offset of the word of flags in bytes. The word is padded to the size of a pointer. */
    private static final int FLAGS_OFFSET = Long.BYTES * 38;

    static final int BYTES = Long.BYTES * 45;

    /**
     * Bits of the flags. With nullpath_ok and nopath, libfuse sends no path with calls that have a handle, so these
     * calls also work for files without a name. With utime_omit_ok, utimens may leave one of the times unchanged.
     */
    private static final int NULLPATH_OK = 1;

    private static final int NOPATH = 1 << 1;
    private static final int UTIME_OMIT_OK = 1 << 2;

    private final Runtime runtime;
    private final Pointer memory;
    /** Keeps the callbacks reachable; native code does not. */
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
