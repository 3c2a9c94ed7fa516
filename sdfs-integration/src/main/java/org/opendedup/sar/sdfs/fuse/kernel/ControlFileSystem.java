package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.DeviceNumber;

/**
 * The kernel's FUSE control file system, which has a folder for each connection. Where it is not mounted, as in most
 * containers, root gets a mount of it that lies at no path, and that closing removes.
 *
 * @param mount holds the mount; -1 if it is the usual one
 */
record ControlFileSystem(Libc libc, Path root, int mount) implements Closeable {
    private static final Path USUAL = Path.of("/sys/fs/fuse/connections");
    private static final String TYPE = "fusectl";

    /** Numbers of system calls, the same on all architectures. */
    private static final int FSOPEN = 430;

    private static final int FSCONFIG = 431;
    private static final int FSMOUNT = 432;
    private static final int CREATE = 6;
    private static final int CLOSE_ON_EXEC = 1;

    static ControlFileSystem open(Libc libc) throws IOException {
        boolean isMounted = DeviceNumber.of(USUAL) != DeviceNumber.of(USUAL.resolve(".."));
        return isMounted ? new ControlFileSystem(libc, USUAL, -1) : mount(libc);
    }

    /** Mounts it at no path. For root only. */
    static ControlFileSystem mount(Libc libc) throws IOException {
        SixNumbers syscall = new SixNumbers("syscall");
        byte[] type = (TYPE + '\0').getBytes(StandardCharsets.US_ASCII);
        ByteBuffer name = ByteBuffer.allocateDirect(type.length).put(type).flip();
        int context = (int) syscall.call(FSOPEN, Libc.address(name), CLOSE_ON_EXEC, 0, 0, 0);
        // Keeps the buffer until here.
        name.clear();
        if (context < 0) {
            throw libc.failure("opening the file system " + TYPE);
        }
        try {
            if (syscall.call(FSCONFIG, context, CREATE, 0, 0, 0) != 0) {
                throw libc.failure("making a mount of " + TYPE);
            }
            int mount = (int) syscall.call(FSMOUNT, context, CLOSE_ON_EXEC, 0, 0, 0);
            if (mount < 0) {
                throw libc.failure("mounting " + TYPE);
            }
            return new ControlFileSystem(libc, Path.of("/proc/self/fd", String.valueOf(mount)), mount);
        } finally {
            libc.functions().close(context);
        }
    }

    @Override
    public void close() {
        if (mount >= 0) {
            libc.functions().close(mount);
        }
    }
}
