package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;

/**
 * A volume and an ext4 for comparison: both with set-user-ID programs and devices, open to all users, without changes
 * of access times.
 */
public final class TwoMounts implements AutoCloseable {
    private static final long EXT4_BYTES = 1L << 30;

    private final MountedVolume volume;
    private final LoopDisk disk;

    /** Makes and mounts both. Skips the test if that is not possible. */
    public TwoMounts(Path folder) throws IOException {
        assumeTrue(Commands.run("python3", "--version").exitCode() == 0, "needs python3");
        volume = MountedVolume.make(folder.resolve("ours"));
        disk = new LoopDisk(folder, EXT4_BYTES);
        try {
            mountVolume();
            leaveAccessTimes();
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void mountVolume() throws IOException {
        Commands.Result result = volume.script(
                "mount.sdfs",
                List.of(
                        "-o",
                        "allow_other,suid,dev,noatime",
                        volume.name(),
                        volume.mountPoint().toString()));
        assertEquals(0, result.exitCode(), result::output);
        volume.adopt();
    }

    private void leaveAccessTimes() throws IOException {
        Commands.succeed("mount", "-o", "remount,noatime", disk.folder());
    }

    public Path volume() {
        return volume.mountPoint();
    }

    public Path ext4() {
        return disk.folder();
    }

    /** Unmounts both and mounts them again. */
    public void remount() throws IOException {
        volume.unmount();
        disk.unmount();
        disk.mount();
        leaveAccessTimes();
        mountVolume();
    }

    /** Removes a folder from both. */
    public void remove(String folder) throws IOException {
        Commands.succeed("rm", "-rf", volume().resolve(folder), ext4().resolve(folder));
    }

    @Override
    public void close() throws IOException {
        try (disk) {
            volume.close();
        }
    }
}
