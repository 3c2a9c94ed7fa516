package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.Passthrough;

/**
 * Registers backing files with the kernel, through a descriptor of the FUSE device of its own. The kernel holds a
 * registered file open until its number is given back and no open file uses it.
 */
final class BackingDevice implements PassedThroughFiles.Registry, Closeable {
    /** {@code _IOW(229, 1, struct fuse_backing_map)}. */
    private static final long FUSE_DEV_IOC_BACKING_OPEN = 0x4010e501L;
    /** {@code _IOW(229, 2, uint32_t)}. */
    private static final long FUSE_DEV_IOC_BACKING_CLOSE = 0x4004e502L;

    private static final int F_DUPFD_CLOEXEC = 1030;

    /** {@code CAP_SYS_ADMIN}, which the kernel requires of each call that registers a file. */
    private static final int CAP_SYS_ADMIN = 21;

    private static final Pattern EVERY_USER = Pattern.compile("\\s*0\\s+0\\s+4294967295\\s*");

    private final Libc libc;
    private final int device;
    /** {@code struct fuse_backing_map}: 4 bytes of descriptor, 4 of flags, 8 unused. Guarded by this. */
    private final ByteBuffer argument = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());

    private final long address;

    /** @param device a descriptor of the FUSE device, which is duplicated */
    BackingDevice(Libc libc, int device) throws IOException {
        this.libc = libc;
        this.address = Libc.address(argument);
        this.device = libc.functions().fcntl(device, F_DUPFD_CLOEXEC, 0);
        if (this.device < 0) {
            throw libc.failure("duplicating the descriptor of the FUSE device");
        }
    }

    /**
     * Returns what can be known before the kernel is asked: whether a mount with these options may have passthrough.
     */
    static Passthrough wanted(Libc libc, MountOptions options) {
        if (!options.passthrough()) {
            return Passthrough.NOT_WANTED;
        }
        if (options.synchronous()) {
            // The kernel makes writes durable because of the mount's flag only where it does not pass them through.
            return Passthrough.off("each write is to be durable");
        }
        return mayRegister(libc)
                ? Passthrough.ON
                : Passthrough.off("this process lacks CAP_SYS_ADMIN in the first user namespace");
    }

    private static boolean mayRegister(Libc libc) {
        return ThreadStatus.hasCapability(libc.functions().gettid(), CAP_SYS_ADMIN) && isInFirstUserNamespace();
    }

    /** Returns whether users have the same numbers here as in the kernel. In a container they may differ. */
    private static boolean isInFirstUserNamespace() {
        try {
            return EVERY_USER
                    .matcher(Files.readString(Path.of("/proc/self/uid_map")))
                    .matches();
        } catch (NoSuchFileException e) {
            // A kernel without user namespaces.
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public synchronized int register(int descriptor) throws IOException {
        argument.putInt(0, descriptor).putInt(4, 0).putLong(8, 0);
        int number = libc.functions().ioctl(device, FUSE_DEV_IOC_BACKING_OPEN, address);
        if (number <= 0) {
            throw libc.failure("registering a backing file");
        }
        return number;
    }

    @Override
    public synchronized void release(int number) throws IOException {
        argument.putInt(0, number);
        if (libc.functions().ioctl(device, FUSE_DEV_IOC_BACKING_CLOSE, address) != 0) {
            throw libc.failure("giving back backing file " + number);
        }
    }

    /** No thread may serve any more. The kernel gives back all numbers when the last descriptor is closed. */
    @Override
    public void close() {
        libc.functions().close(device);
    }
}
