package org.opendedup.sar.sdfs.fuse.jnr;

import jnr.ffi.Pointer;
import jnr.ffi.annotations.Delegate;
import jnr.ffi.types.mode_t;
import jnr.ffi.types.off_t;
import jnr.ffi.types.size_t;
import jnr.ffi.types.u_int64_t;
import jnr.ffi.types.uintptr_t;
import org.jspecify.annotations.Nullable;

/**
 * The signatures of the functions in {@code fuse_operations}. jnr-fuse's own signatures take paths as strings, which
 * loses the bytes of a name that is not text in the encoding of the process. Here a path is its C string. Where libfuse
 * may pass no path ({@code flag_nopath}), the path is an ignored address. File data is passed as a bare address, so
 * that a call allocates no object for it.
 */
final class Callbacks {
    private Callbacks() {}

    public interface Init {
        @Delegate
        @Nullable
        Pointer call(Pointer connection);
    }

    /** unlink, rmdir. */
    public interface OnPath {
        @Delegate
        int call(Pointer path);
    }

    /**
     * rename and link; symlink, whose first path is the target; removexattr, whose second argument is the name of the
     * attribute.
     */
    public interface OnTwoPaths {
        @Delegate
        int call(Pointer first, Pointer second);
    }

    /**
     * getattr, statfs and utimens, with a structure to fill or to read; open and opendir, with the structure of the
     * open file.
     */
    public interface OnPathWithStructure {
        @Delegate
        int call(Pointer path, Pointer structure);
    }

    public interface OnPathWithMode {
        @Delegate
        int call(Pointer path, @mode_t long mode);
    }

    public interface MakeNode {
        @Delegate
        int call(Pointer path, @mode_t long mode, @u_int64_t long device);
    }

    public interface ChangeOwner {
        @Delegate
        int call(Pointer path, int uid, int gid);
    }

    public interface Truncate {
        @Delegate
        int call(Pointer path, @off_t long size);
    }

    /** readlink, listxattr. */
    public interface FillBuffer {
        @Delegate
        int call(Pointer path, Pointer buffer, @size_t long size);
    }

    public interface Create {
        @Delegate
        int call(Pointer path, @mode_t long mode, Pointer file);
    }

    /** read, write. */
    public interface Transfer {
        @Delegate
        int call(@uintptr_t long path, @uintptr_t long buffer, @size_t long size, @off_t long offset, Pointer file);
    }

    /** flush, release, releasedir. */
    public interface OnHandle {
        @Delegate
        int call(@uintptr_t long path, Pointer file);
    }

    /** fsync, fsyncdir. */
    public interface Sync {
        @Delegate
        int call(@uintptr_t long path, int dataOnly, Pointer file);
    }

    public interface TruncateOpen {
        @Delegate
        int call(@uintptr_t long path, @off_t long size, Pointer file);
    }

    public interface Fallocate {
        @Delegate
        int call(@uintptr_t long path, int mode, @off_t long offset, @off_t long length, Pointer file);
    }

    public interface AttributesOfOpen {
        @Delegate
        int call(@uintptr_t long path, Pointer stat, Pointer file);
    }

    public interface SetExtendedAttribute {
        @Delegate
        int call(Pointer path, Pointer name, Pointer value, @size_t long size, int flags);
    }

    public interface GetExtendedAttribute {
        @Delegate
        int call(Pointer path, Pointer name, Pointer buffer, @size_t long size);
    }

    public interface ReadDirectory {
        @Delegate
        int call(@uintptr_t long path, Pointer buffer, Pointer filler, @off_t long cookie, Pointer file);
    }

    public interface Ioctl {
        @Delegate
        int call(
                @uintptr_t long path,
                int command,
                @uintptr_t long argument,
                @uintptr_t long file,
                int flags,
                @uintptr_t long data);
    }
}
