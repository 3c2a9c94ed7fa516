package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;

/**
 * Runs a helper program that passes a file descriptor back over a Unix socket (SCM_RIGHTS). The fusermount3 helper does
 * this over the socket whose number is in {@code _FUSE_COMMFD}. Uses posix_spawn(3), because processes started by Java
 * inherit no descriptors.
 */
final class DescriptorFromHelper {
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 02000000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;

    /** Descriptor number of the socket in the helper. */
    private static final int HELPER_FD = 3;

    /** Bytes reserved for {@code posix_spawn_file_actions_t}: more than its size in glibc (80) and musl. */
    private static final int FILE_ACTIONS_BYTES = 256;

    // Layout in bytes, 64-bit: struct msghdr, followed by one struct iovec, its data and a struct cmsghdr.
    private static final int MSG_BYTES = 56;
    private static final int VECTOR = MSG_BYTES;
    private static final int DATA = VECTOR + 16;
    private static final int CONTROL = DATA + 8;
    private static final int MSG_VECTOR = 16;
    private static final int MSG_VECTOR_LENGTH = 24;
    private static final int MSG_CONTROL = 32;
    private static final int MSG_CONTROL_LENGTH = 40;
    private static final int CONTROL_BYTES = 24;
    private static final int CONTROL_LEVEL = 8;
    private static final int CONTROL_TYPE = 12;
    private static final int CONTROL_DATA = 16;

    private final Libc libc;
    private final Runtime runtime = Runtime.getSystemRuntime();

    DescriptorFromHelper(Libc libc) {
        this.libc = libc;
    }

    /** @return the descriptor, close-on-exec; the caller closes it */
    int run(List<String> command) throws IOException {
        int[] sockets = new int[2];
        if (libc.functions().socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
            throw libc.failure("socketpair");
        }
        int pid;
        try {
            pid = spawn(command, sockets[1]);
        } catch (IOException e) {
            libc.functions().close(sockets[0]);
            throw e;
        } finally {
            // Without this close, the other socket would not report the end of the helper.
            libc.functions().close(sockets[1]);
        }
        int descriptor = receive(sockets[0]);
        libc.functions().close(sockets[0]);
        int status = await(pid);
        if (descriptor < 0) {
            throw new IOException(command.get(0) + " did not mount (status " + (status >> 8 & 0xff)
                    + "); it says why on the standard error output");
        }
        return descriptor;
    }

    private int spawn(List<String> command, int socket) throws IOException {
        String program = command.get(0);
        Pointer actions = Memory.allocateDirect(runtime, FILE_ACTIONS_BYTES, true);
        check(libc.functions().posix_spawn_file_actions_init(actions), program);
        try {
            check(libc.functions().posix_spawn_file_actions_adddup2(actions, socket, HELPER_FD), program);
            String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
            List<String> environment = List.of("_FUSE_COMMFD=" + HELPER_FD, "PATH=" + path);
            int[] pid = new int[1];
            NativeStrings arguments = new NativeStrings(runtime, command);
            NativeStrings variables = new NativeStrings(runtime, environment);
            try {
                check(
                        libc.functions()
                                .posix_spawnp(pid, program, actions, null, arguments.array(), variables.array()),
                        program);
            } finally {
                Reference.reachabilityFence(arguments);
                Reference.reachabilityFence(variables);
            }
            return pid[0];
        } finally {
            libc.functions().posix_spawn_file_actions_destroy(actions);
        }
    }

    /** Throws if a posix_spawn function failed: they return the error number instead of setting errno. */
    private void check(int errno, String program) throws IOException {
        if (errno != 0) {
            throw new IOException("starting " + program + " (package fuse3): "
                    + libc.functions().strerror(errno));
        }
    }

    private int receive(int socket) {
        // One block of memory, referenced until the last line: a block known only by its address could be freed.
        Pointer message = Memory.allocateDirect(runtime, CONTROL + CONTROL_BYTES, true);
        message.putAddress(VECTOR, message.address() + DATA);
        message.putLong(VECTOR + 8, 1);
        message.putAddress(MSG_VECTOR, message.address() + VECTOR);
        message.putLong(MSG_VECTOR_LENGTH, 1);
        message.putAddress(MSG_CONTROL, message.address() + CONTROL);
        message.putLong(MSG_CONTROL_LENGTH, CONTROL_BYTES);
        long bytes;
        do {
            bytes = libc.functions().recvmsg(socket, message, MSG_CMSG_CLOEXEC);
        } while (bytes < 0 && Libc.errno() == Errno.EINTR);
        boolean carriesDescriptor = bytes > 0
                && message.getLong(MSG_CONTROL_LENGTH) >= CONTROL_DATA + 4
                && message.getInt(CONTROL + CONTROL_LEVEL) == SOL_SOCKET
                && message.getInt(CONTROL + CONTROL_TYPE) == SCM_RIGHTS;
        return carriesDescriptor ? message.getInt(CONTROL + CONTROL_DATA) : -1;
    }

    private int await(int pid) throws IOException {
        int[] status = new int[1];
        while (libc.functions().waitpid(pid, status, 0) < 0) {
            if (Libc.errno() != Errno.EINTR) {
                throw libc.failure("waiting for the mount helper");
            }
        }
        return status[0];
    }

    /** A null-terminated array of C strings in native memory; valid while this object is reachable. */
    private static final class NativeStrings {
        private final Pointer array;
        /** Keeps the memory of the strings reachable. */
        private final List<Pointer> strings = new ArrayList<>();

        NativeStrings(Runtime runtime, List<String> values) {
            array = Memory.allocateDirect(runtime, 8 * (values.size() + 1), true);
            for (String value : values) {
                byte[] bytes = value.getBytes(Charset.defaultCharset());
                Pointer string = Memory.allocateDirect(runtime, bytes.length + 1, true);
                string.put(0, bytes, 0, bytes.length);
                array.putAddress(8L * strings.size(), string.address());
                strings.add(string);
            }
        }

        Pointer array() {
            return array;
        }
    }
}
