package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/**
 * All of a volume on one disk that refuses writes for a while: the results on a mount, how it resumes, and the report
 * of losses.
 */
@Timeout(300)
class FailingDiskTest {
    private static final int BYTES = 2 << 20;

    @TempDir
    Path folder;

    private static byte[] random(long seed) {
        byte[] data = new byte[BYTES];
        new Random(seed).nextBytes(data);
        return data;
    }

    private static Commands.Result sync(Path file) throws IOException {
        return Commands.run("sync", file);
    }

    private static Commands.Result remountWritable(MountedVolume volume) throws IOException {
        return volume.script(
                "mount-helper",
                List.of(volume.name(), volume.mountPoint().toString(), "-o", "rw,remount,user_id=0,group_id=0"));
    }

    /**
     * From the daemon, whatever the kernel has cached of the file. Other caches stay: pages dropped from the disk's
     * file system, which has no journal, are lost for good.
     */
    private byte[] readPastCaches(Path file) throws IOException {
        Path copy = folder.resolve("copy");
        Commands.succeed("dd", "if=" + file, "iflag=direct", "bs=256k", "of=" + copy);
        return Files.readAllBytes(copy);
    }

    /** Writes, makes the disk fail, and then writes data that is not durable. */
    private static Path failing(SlowDisk disk, MountedVolume volume) throws IOException {
        Path safe = volume.mountPoint().resolve("safe");
        Files.write(safe, random(1));
        assertEquals(0, sync(safe).exitCode());
        disk.order("error writes");
        Path late = volume.mountPoint().resolve("late.bin");
        Files.write(late, random(2));
        assertTrue(sync(late).exitCode() != 0, "an fsync succeeded on a disk that takes no writes");
        return late;
    }

    @Test
    void readsGoOnAndARemountTakesChangesAgain() throws Exception {
        try (SlowDisk disk = SlowDisk.withoutJournal(folder);
                MountedVolume volume = MountedVolume.make(disk.folder().resolve("pool"))) {
            // A timed commit that fails too early makes the volume refuse what is written late.
            volume.withoutTimedCommits().mount();
            Commands.Result well = volume.cli("status");
            while (well.exitCode() != 0) {
                Thread.sleep(50);
                well = volume.cli("status");
            }
            assertTrue(well.output().startsWith("pool: well"), well::output);
            assertTrue(well.output().lines().count() <= 24, well::output);
            Path late = failing(disk, volume);
            Commands.Result degraded = volume.cli("status");
            assertEquals(1, degraded.exitCode(), degraded::output);
            assertTrue(degraded.output().contains("sdfscli pool resume"), degraded::output);
            Path safe = volume.mountPoint().resolve("safe");
            assertArrayEquals(random(1), readPastCaches(safe));
            assertThrows(
                    IOException.class,
                    () -> Files.createDirectory(volume.mountPoint().resolve("no")));
            Commands.Result tooEarly = remountWritable(volume);
            assertEquals(32, tooEarly.exitCode(), tooEarly::output);
            assertTrue(tooEarly.output().contains("stays read-only"), tooEarly::output);
            assertEquals(1, volume.cli("resume").exitCode());
            assertTrue(volume.cli("info").output().contains("stopped"));
            assertArrayEquals(random(1), Files.readAllBytes(safe));

            disk.order("error off");
            assertArrayEquals(random(1), readPastCaches(safe));
            Commands.Result remounted = remountWritable(volume);
            assertEquals(0, remounted.exitCode(), remounted::output);
            Files.createDirectory(volume.mountPoint().resolve("yes"));
            assertArrayEquals(random(2), Files.readAllBytes(late));
            assertEquals(0, sync(late).exitCode());
            assertFalse(volume.cli("info").output().contains("stopped"));
            assertEquals(0, volume.cli("status").exitCode());
            Commands.Result unmounted = volume.cli("unmount");
            assertEquals(0, unmounted.exitCode(), unmounted::output);

            volume.mount();
            assertArrayEquals(random(1), Files.readAllBytes(safe));
            assertArrayEquals(random(2), Files.readAllBytes(late));
            assertTrue(Files.isDirectory(volume.mountPoint().resolve("yes")));
            volume.unmount();
        }
    }

    @Test
    void whatIsLostAtTheUnmountIsToldThereAndAtTheNextMount() throws Exception {
        try (SlowDisk disk = SlowDisk.withoutJournal(folder);
                MountedVolume volume = MountedVolume.make(disk.folder().resolve("pool"))) {
            // A timed commit that fails too early makes the volume refuse what is written late.
            volume.withoutTimedCommits().mount();
            failing(disk, volume);
            Commands.Result unmounted = volume.cli("unmount");
            assertEquals(1, unmounted.exitCode(), unmounted::output);
            assertTrue(unmounted.output().contains("lost: 1 file"), unmounted::output);
            assertTrue(unmounted.output().contains("late.bin: up to "), unmounted::output);

            disk.order("error off");
            Commands.Result mounted = volume.tryMount(volume.mountPoint());
            assertEquals(0, mounted.exitCode(), mounted::output);
            assertTrue(mounted.output().contains("last"), mounted::output);
            volume.adopt();
            assertArrayEquals(random(1), Files.readAllBytes(volume.mountPoint().resolve("safe")));
            assertEquals(0, volume.cli("unmount").exitCode());

            Commands.Result again = volume.tryMount(volume.mountPoint());
            assertFalse(again.output().contains("last"), () -> "the control: " + again.output());
            volume.adopt();
            disk.order("error writes");
            Path third = volume.mountPoint().resolve("third");
            assertThrows(IOException.class, () -> Bytes.writeAndSync(third, random(3)));
            disk.order("error off");
            assertEquals(0, volume.cli("resume").exitCode());
            assertEquals(0, volume.cli("status").exitCode());
            assertEquals(0, volume.cli("unmount").exitCode());
        }
    }
}
