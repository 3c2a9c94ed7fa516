package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.volume.names.AccessTimes;

/**
 * Mounts with mount(2), for root. Without {@code allow_other}, the kernel admits root only. With it, the kernel admits
 * every user to whom the file permissions allow access, as on a local file system.
 */
final class DirectMounter implements Mounter {
    private static final long MS_RDONLY = 1;
    private static final long MS_NOSUID = 1 << 1;
    private static final long MS_NODEV = 1 << 2;
    private static final long MS_NOEXEC = 1 << 3;
    private static final long MS_SYNCHRONOUS = 1 << 4;
    private static final long MS_REMOUNT = 1 << 5;
    private static final long MS_NOATIME = 1 << 10;
    private static final long MS_NODIRATIME = 2048;
    private static final long MS_STRICTATIME = 1 << 24;

    private static final int MNT_FORCE = 1;
    private static final int MNT_DETACH = 2;
    private static final int UMOUNT_NOFOLLOW = 8;

    private static final int ROOT_MODE = 0040000;

    private final Libc libc;

    DirectMounter(Libc libc) {
        this.libc = libc;
    }

    @Override
    public int mount(MountOptions options) throws IOException {
        int device = libc.open(Path.of(Protocol.DEVICE), Libc.O_RDWR);
        if (device < 0) {
            throw libc.failure("opening " + Protocol.DEVICE + " (is the kernel's fuse module loaded?)");
        }
        String data = "fd=" + device
                + ",rootmode=" + Integer.toOctalString(ROOT_MODE)
                + ",user_id=" + libc.functions().geteuid()
                + ",group_id=" + libc.functions().getegid()
                + ",default_permissions,max_read=" + Protocol.MAX_IO_BYTES
                + (options.allowOther() ? ",allow_other" : "");
        try {
            mount(options, data);
        } catch (IOException e) {
            libc.functions().close(device);
            throw e;
        }
        return device;
    }

    /**
     * Mounts on the folder that has this path, and on no other: the kernel would follow a link that another user puts
     * there in the meantime.
     */
    private void mount(MountOptions options, String data) throws IOException {
        Path mountPoint = options.mountPoint();
        // Without O_DIRECTORY, for which autofs would mount there first. Over a link the kernel mounts nothing.
        int folder = libc.open(mountPoint, Libc.O_PATH | Libc.O_NOFOLLOW);
        if (folder < 0) {
            throw libc.failure("opening " + mountPoint);
        }
        try {
            Path opened = Path.of("/proc/self/fd", Integer.toString(folder));
            Path real = Files.readSymbolicLink(opened);
            if (!real.equals(mountPoint)) {
                throw new IOException("mounting on " + mountPoint + ": it leads to " + real + " by a symbolic link");
            }
            int result = libc.functions()
                    .mount(options.source(), opened.toString(), "fuse." + SUBTYPE, flags(options), data);
            if (result != 0) {
                throw libc.failure("mounting on " + mountPoint);
            }
        } finally {
            libc.functions().close(folder);
        }
    }

    /** Changes a mount that exists; see {@link KernelMount#remount}. */
    void remount(MountOptions options) throws IOException {
        // The kernel uses only the flags here: no device and no data are needed.
        int result = libc.functions()
                .mount(options.source(), options.mountPoint().toString(), "", flags(options) | MS_REMOUNT, "");
        if (result != 0) {
            throw Libc.errno() == Errno.EBUSY && options.readOnly()
                    ? new IOException(options.mountPoint() + " is busy: files in it are open for writing")
                    : libc.failure("remounting " + options.mountPoint());
        }
    }

    private static long flags(MountOptions options) {
        return (options.readOnly() ? MS_RDONLY : 0)
                | (options.noSuid() ? MS_NOSUID : 0)
                | (options.noDev() ? MS_NODEV : 0)
                | (options.noExec() ? MS_NOEXEC : 0)
                | (options.synchronous() ? MS_SYNCHRONOUS : 0)
                | (options.noAccessTime() ? MS_NOATIME : 0)
                | (options.accessTimes() == AccessTimes.ALWAYS ? MS_STRICTATIME : 0)
                | (options.noDirectoryAccessTime() ? MS_NODIRATIME : 0);
    }

    @Override
    public boolean unmount(Path mountPoint) throws IOException {
        if (libc.functions().umount2(mountPoint.toString(), UMOUNT_NOFOLLOW) == 0) {
            return true;
        }
        return switch (Libc.errno()) {
            case Errno.EBUSY -> false;
            // Not a mount point: another process has detached it.
            case Errno.EINVAL -> true;
            default -> throw libc.failure("unmounting " + mountPoint);
        };
    }

    @Override
    public void detach(Path mountPoint) throws IOException {
        if (libc.functions().umount2(mountPoint.toString(), UMOUNT_NOFOLLOW | MNT_FORCE | MNT_DETACH) != 0) {
            throw libc.failure("detaching " + mountPoint);
        }
    }
}
