package org.opendedup.sar.sdfs.cli.mounts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes umount(8) call {@code /sbin/umount.fuse.sdfs}, which waits for the daemon. Given an absolute path, umount(8)
 * does not read the mount table but calls statfs(2), which reports only "fuse" without a subtype. It reads the mount
 * table if the mount has an entry in util-linux's own list of mounts ({@code /run/mount/utab}), so this class adds one
 * with mount(8). Only for root's mounts: for other users, umount(8) always reads the mount table.
 */
public final class UnmountHelper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UnmountHelper.class);

    private static final Path HELPER = Path.of("/sbin/umount.fuse.sdfs");
    private static final Path NOTES = Path.of("/run/mount/utab");
    private static final long SECONDS_MAX = 10;

    private final String volume;
    private final Path mountPoint;
    private final boolean wanted;

    private UnmountHelper(String volume, Path mountPoint, boolean wanted) {
        this.volume = volume;
        this.mountPoint = mountPoint;
        this.wanted = wanted;
    }

    /**
     * Adds the entry if the helper is installed. Without it umount also works, but returns before the daemon has ended.
     */
    public static UnmountHelper enter(String volume, Path mountPoint) throws IOException {
        var helper = new UnmountHelper(volume, mountPoint, Files.exists(HELPER) && CallingUser.isRoot());
        if (helper.wanted && !helper.isEntered()) {
            // -f: everything except the system call. The mount point is not accessed either, because this process would
            // have to answer.
            run(
                    "mount",
                    "-f",
                    "-i",
                    "--no-canonicalize",
                    "-t",
                    "fuse.sdfs",
                    "-o",
                    "helper=fuse.sdfs",
                    "--",
                    volume,
                    mountPoint);
        }
        return helper;
    }

    /** Removes the entry. After umount(8) there is none. */
    @Override
    public void close() {
        if (wanted && isEntered()) {
            run("umount", "--fake", "-i", "--no-canonicalize", "--", mountPoint);
        }
    }

    private boolean isEntered() {
        String entry = "SRC=" + volume + " TARGET=" + MountTable.field(mountPoint.toString()) + " ";
        try {
            return Files.exists(NOTES)
                    && Files.readString(NOTES, StandardCharsets.ISO_8859_1)
                            .lines()
                            .anyMatch(line -> line.contains(entry));
        } catch (IOException e) {
            LOG.info("{} cannot be read: {}", NOTES, e.toString());
            return false;
        }
    }

    /** Runs a command and only logs its failure: a mount works without the entry. */
    private static void run(Object... command) {
        List<String> words = Arrays.stream(command).map(Object::toString).toList();
        try {
            Process process = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .start();
            if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                LOG.info("{} does not end", words);
            } else if (process.exitValue() != 0) {
                String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                LOG.info("{} said {}", words, said.strip());
            }
        } catch (IOException e) {
            LOG.info("{} cannot be run: {}", words, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
