package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** A mount with {@code ro} changes nothing where the volume lies, whatever is asked of it, also past the kernel. */
class ReadOnlyMountTest {
    @TempDir
    Path folder;

    /** All that the volume has: names, lengths, times and modes of its files and folders, and all bytes. */
    private String state(MountedVolume volume) throws IOException {
        String all = "cd \"$0\" && find base data hashdb ssd \\( -path base/log -o -path base/run \\) -prune"
                + " -o -printf '%p %s %T+ %m\\n' | sort && find base data hashdb ssd"
                + " \\( -path base/log -o -path base/run \\) -prune -o -type f -print0 | sort -z | xargs -0 md5sum";
        return Commands.succeed("bash", "-c", all, volume.configFolder().getParent());
    }

    @Test
    void nothingChangesWhateverIsAsked() throws Exception {
        Path place = Files.createDirectory(folder.resolve("still"));
        byte[] raw = Bytes.random(1, 300_000);
        byte[] stored = Bytes.random(2, 300_000);
        try (MountedVolume volume = MountedVolume.makeWith(
                place,
                "--sar-ssd-location=" + place.resolve("ssd"),
                "--sar-ssd-capacity=1GB",
                "--tier-mode=tddfs",
                "--tddfs-unprotected")) {
            volume.mount();
            Path first = volume.mountPoint().resolve("stored");
            Path second = volume.mountPoint().resolve("raw");
            Files.write(first, stored);
            assertEquals(0, volume.cli("tier", "migrate", "stored", "--wait").exitCode());
            Files.write(second, raw);
            volume.unmount();
            // Other users' permissions, which a mount takes away.
            Commands.succeed("chmod", "755", volume.metadata());
            String before = state(volume);

            volume.with("ro").mount();
            assertArrayEquals(stored, Files.readAllBytes(first));
            assertArrayEquals(raw, Files.readAllBytes(second));
            for (String command : List.of(
                    "gc --wait",
                    "heal --wait",
                    "scrub start --wait",
                    "check",
                    "index join --wait",
                    "metadata-backup " + folder.resolve("backup"),
                    "tier pin raw",
                    "tier migrate raw")) {
                Commands.Result refused = volume.cli(command.split(" "));
                assertEquals(1, refused.exitCode(), command + ": " + refused.output());
                assertTrue(refused.output().contains("mounted read-only"), command + ": " + refused.output());
            }
            for (String command : List.of("status", "gc --dry-run", "gc set --recompress=zstd:9", "damaged")) {
                assertEquals(0, volume.cli(command.split(" ")).exitCode(), command);
            }
            // The kernel alone would let writers in now.
            Commands.succeed("mount", "-i", "-o", "remount,rw", volume.mountPoint());
            for (String change : List.of("echo >> raw", "truncate -s 1 raw", "echo >> stored", "mkdir new", "rm raw")) {
                Commands.Result refused = Commands.run("bash", "-c", "cd \"$0\" && " + change, volume.mountPoint());
                assertTrue(refused.output().contains("Read-only file system"), change + ": " + refused.output());
            }
            volume.unmount();
            assertEquals(before, state(volume));

            volume.with("rw").mount();
            volume.unmount();
            assertNotEquals(before, state(volume), "the control: a mount that may write does");
        }
    }
}
