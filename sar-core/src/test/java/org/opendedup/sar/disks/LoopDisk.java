package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A small ext4 in a file, mounted through a loop device, which the unmount removes. */
public final class LoopDisk implements AutoCloseable {
    private final Path image;
    private final Path mountPoint;

    public LoopDisk(Path folder, long bytes) throws IOException {
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount a loop device");
        image = folder.resolve("disk.img");
        mountPoint = Files.createDirectories(folder.resolve("disk"));
        Commands.succeed("truncate", "-s", bytes, image);
        Commands.succeed("mkfs.ext4", "-q", "-m", "0", image);
        Commands.Result mounted = tryMount();
        assumeTrue(mounted.exitCode() == 0, () -> "needs a loop device: " + mounted.output());
        Commands.succeed("rmdir", mountPoint.resolve("lost+found"));
    }

    private Commands.Result tryMount() throws IOException {
        return Commands.run("mount", "-o", "loop", image, mountPoint);
    }

    public Path folder() {
        return mountPoint;
    }

    public void makeReadOnly() throws IOException {
        Commands.succeed("mount", "-o", "remount,ro", mountPoint);
    }

    public void makeWritable() throws IOException {
        Commands.succeed("mount", "-o", "remount,rw", mountPoint);
    }

    /**
     * Makes the file system detect an error of its own, after which it refuses writes, although files are open for
     * writing.
     */
    public void failIntoReadOnly() throws IOException {
        Commands.succeed("mount", "-o", "remount,errors=remount-ro", mountPoint);
        Files.writeString(Path.of("/sys/fs/ext4", device(), "trigger_fs_error"), "1");
    }

    private String device() throws IOException {
        return Path.of(Commands.succeed("findmnt", "-no", "SOURCE", mountPoint).strip())
                .getFileName()
                .toString();
    }

    /** Sets how far the kernel reads ahead of whoever reads in sequence, in KiB. */
    public void setReadAhead(int kib) throws IOException {
        Files.writeString(Path.of("/sys/block", device(), "queue/read_ahead_kb"), Integer.toString(kib));
    }

    /** Returns the bytes that were read from the disk since it was made. */
    public long readBytes() throws IOException {
        String[] figures = Files.readString(Path.of("/sys/block", device(), "stat"))
                .strip()
                .split(" +");
        // The third figure is in sectors of 512 bytes, whatever the device has.
        return 512 * Long.parseLong(figures[2]);
    }

    public void unmount() throws IOException {
        Commands.succeed("umount", mountPoint);
    }

    /** Mounts it again, with its contents. */
    public void mount() throws IOException {
        Commands.Result mounted = tryMount();
        assertEquals(0, mounted.exitCode(), mounted::output);
    }

    @Override
    public void close() throws IOException {
        Commands.run("umount", "-l", mountPoint);
    }
}
