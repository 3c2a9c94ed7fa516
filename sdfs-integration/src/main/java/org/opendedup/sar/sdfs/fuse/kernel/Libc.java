package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.ByteBuffer;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;
import jnr.ffi.types.u_int64_t;
import jnr.ffi.types.uintptr_t;
import org.jspecify.annotations.Nullable;

/**
 * The functions of the C library that this package calls. The functions on the hot path take raw addresses, so that a
 * call allocates no object. {@link #errno()} returns the error number of this thread's last failed call.
 */
class Libc {
    static final int O_RDONLY = 0;
    static final int O_RDWR = 2;
    static final int O_CLOEXEC = 02000000;

    private final Functions functions;
    private final Runtime runtime;
    private final SixNumbers syscall = new SixNumbers("syscall");

    Libc() {
        functions = LibraryLoader.create(Functions.class).load("c");
        runtime = Runtime.getRuntime(functions);
    }

    Functions functions() {
        return functions;
    }

    Runtime runtime() {
        return runtime;
    }

    /** Calls a system call that has no function of its own in the C library, with at most five arguments. */
    long systemCall(long number, long first, long second, long third, long fourth, long fifth) {
        return syscall.call(number, first, second, third, fourth, fifth);
    }

    int errno() {
        return runtime.getLastError();
    }

    /**
     * Returns the address of the first byte of a direct buffer. The caller sees to it that the buffer stays reachable
     * while the address is used: a local variable that is not used any more does not keep it.
     */
    long address(ByteBuffer direct) {
        return Pointer.wrap(runtime, direct).address();
    }

    /** Returns an exception that names the failed action and the reason from the C library. */
    IOException failure(String what) {
        int errno = errno();
        return new IOException(what + ": " + functions.strerror(errno) + " (error " + errno + ")");
    }

    /** The functions as in the manual pages. */
    public interface Functions {
        int open(@In String path, int flags);

        int close(int fd);

        @ssize_t
        long read(int fd, @uintptr_t long buffer, @size_t long bytes);

        @ssize_t
        long write(int fd, @uintptr_t long buffer, @size_t long bytes);

        int fcntl(int fd, int command, @ssize_t long argument);

        int gettid();

        int ioctl(int fd, @size_t long request, @uintptr_t long argument);

        int mount(@In String source, @In String target, @In String type, @u_int64_t long flags, @In String data);

        int umount2(@In String target, int flags);

        int syncfs(int fd);

        void sync();

        int geteuid();

        int getegid();

        String strerror(int errno);

        int socketpair(int domain, int type, int protocol, @Out int[] fds);

        @ssize_t
        long recvmsg(int fd, Pointer message, int flags);

        int posix_spawnp(
                @Out int[] pid,
                @In String file,
                Pointer fileActions,
                @Nullable Pointer attributes,
                Pointer arguments,
                Pointer environment);

        int posix_spawn_file_actions_init(Pointer fileActions);

        int posix_spawn_file_actions_adddup2(Pointer fileActions, int fd, int newFd);

        int posix_spawn_file_actions_destroy(Pointer fileActions);

        int waitpid(int pid, @Out int[] status, int options);
    }
}
