package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.cli.daemon.MountService.MountedVolume;
import org.opendedup.sar.sdfs.cli.mounts.MountUsers;

/** The daemon's mount as the kernel's mount table shows it. Safe for use by many threads. */
final class ServedMount {
    /** Time in which the kernel ends a mount that nothing keeps, in seconds, also on a busy machine. */
    private static final int ENDING_SECONDS = 30;
    /** Time between looks at what keeps it, in seconds: a namespace that was just made may let go of it. */
    private static final int LOOK_SECONDS = 2;

    /** Looks for the processes that keep a mount busy, as {@link MountUsers#of} does. */
    @FunctionalInterface
    interface UserSearch {
        List<String> of(MountTable.Entry mount, BooleanSupplier enough) throws IOException;
    }

    private final Path mountPoint;
    private final UserSearch search;
    private final CountDownLatch ended = new CountDownLatch(1);
    /** Entry in the mount table from the start of the mount. */
    private volatile Optional<MountTable.Entry> entry = Optional.empty();

    ServedMount(Path mountPoint) {
        this(mountPoint, MountUsers::of);
    }

    ServedMount(Path mountPoint, UserSearch search) {
        this.mountPoint = mountPoint;
        this.search = search;
    }

    /** Notes the mount, which was made just now; returns its entry, empty if there is none. */
    Optional<MountTable.Entry> begin() throws IOException {
        entry = MountTable.read().top(mountPoint);
        return entry;
    }

    /** Refuses to change containers while the volume is mounted read-only. */
    void checkWritable() throws IOException {
        Optional<MountTable.Entry> mount = entry;
        if (mount.isPresent()
                && MountTable.read()
                        .withId(mount.get().id())
                        .map(now -> now.options().contains("ro"))
                        .orElse(false)) {
            throw new IOException("the volume is mounted read-only");
        }
    }

    /** Notes that the kernel has ended the mount. */
    void ended() {
        ended.countDown();
    }

    /**
     * Unmounts. Fails if programs use the mount, which then stays; and if the file system exists afterwards, because a
     * mount namespace that was made while it was mounted has it still. What was written is durable then.
     */
    void unmount(MountedVolume volume) throws IOException {
        if (isDetached()) {
            // After umount(8), a busy daemon notices late that the mount has ended.
            if (!isKept()) {
                return;
            }
            throw new IOException("it was unmounted already; it ends when its files are closed and no other mount"
                    + " namespace has it" + usersText() + "." + howToClose());
        }
        try {
            volume.unmount();
        } catch (IOException e) {
            throw new IOException(e.getMessage() + usersText(), e);
        }
        if (isKept()) {
            throw new IOException("unmounted from " + mountPoint + ", but another mount namespace has it still"
                    + usersText() + ". " + synced(volume)
                    + ", and the volume is closed when that namespace ends." + howToClose());
        }
    }

    private static String synced(MountedVolume volume) {
        try {
            volume.sync();
            return "All that was written is durable";
        } catch (IOException e) {
            return "Not all that was written is durable (" + e.getMessage() + ")";
        }
    }

    private boolean isKept() throws IOException {
        try {
            for (int waited = 0; waited < ENDING_SECONDS; waited += LOOK_SECONDS) {
                if (ended.await(LOOK_SECONDS, TimeUnit.SECONDS)) {
                    return false;
                }
                if (!users().isEmpty()) {
                    break;
                }
            }
            // Without users: this user may not see what other processes have.
            return !hasEnded();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the mount ends");
        }
    }

    /** Returns whether it is unmounted for all but the programs with open files, as {@code umount -l} leaves it. */
    boolean isDetached() throws IOException {
        Optional<MountTable.Entry> mount = entry;
        return mount.isPresent() && !MountTable.read().contains(mount.get());
    }

    /** Returns who keeps the mount busy, as the end of a message. */
    private String usersText() throws IOException {
        List<String> users = users();
        return users.isEmpty()
                ? "; no process is seen that uses it, so it may be the kernel: its NFS server (rpc.nfsd 0 stops "
                        + "it), a loop"
                        + " device, or a mount below"
                : "; used by process " + String.join(", ", users);
    }

    private static String howToClose() {
        return " To close it now: kill " + ProcessHandle.current().pid();
    }

    /**
     * Returns the processes that keep the mount busy; empty if they cannot be seen. The search ends with the mount: who
     * waits for the end of the mount waits for no search, however many processes a busy machine has.
     */
    List<String> users() throws IOException {
        Optional<MountTable.Entry> mount = entry;
        return mount.isPresent() ? search.of(mount.get(), this::hasEnded) : List.of();
    }

    private boolean hasEnded() {
        return ended.getCount() == 0;
    }
}
