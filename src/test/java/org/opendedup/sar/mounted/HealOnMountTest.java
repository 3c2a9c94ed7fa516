package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.command.Json;

/** Damaged files of a mounted volume become whole, on request and by themselves. */
@Timeout(300)
class HealOnMountTest {
    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    private static Commands.Result cli(MountedVolume volume, String... arguments) throws IOException {
        var all = new ArrayList<>(List.of(volume.name()));
        all.addAll(List.of(arguments));
        return volume.script("sdfscli", all);
    }

    private MountedVolume damaged(String name, byte[] content) throws IOException {
        MountedVolume volume =
                MountedVolume.make(Files.createDirectory(folder.resolve(name))).mount();
        Bytes.writeAndSync(volume.mountPoint().resolve("first"), content);
        volume.unmount();
        PackedContainer.largestIn(volume.data()).flipBitInFrames();
        volume.mount();
        assertThrows(
                IOException.class, () -> Files.readAllBytes(volume.mountPoint().resolve("first")));
        return volume;
    }

    @Test
    void theSameFileUnderAnotherNameHealsTheFirstAtOnceAndAfterARemount() throws Exception {
        byte[] content = Bytes.random(1, 9 * MIB);
        try (MountedVolume volume = damaged("asked", content)) {
            Commands.Result none = cli(volume, "heal", "--wait");
            assertEquals(1, none.exitCode(), () -> "control: there is no copy yet: " + none.output());
            assertTrue(none.output().contains("STILL DAMAGED"), none::output);
            Bytes.writeAndSync(volume.mountPoint().resolve("second"), content);

            Commands.Result healed = cli(volume, "heal", "--wait", "--json");
            assertEquals(0, healed.exitCode(), healed::output);
            assertEquals(0, Json.number(Json.read(healed.output()), "unhealedChunks"), healed::output);
            assertArrayEquals(content, Files.readAllBytes(volume.mountPoint().resolve("first")));
            volume.remount();
            assertArrayEquals(content, Files.readAllBytes(volume.mountPoint().resolve("first")));
            assertTrue(cli(volume, "heal", "--wait").output().contains("No chunk is marked as damaged"));
            assertEquals(0, cli(volume, "scrub", "start", "--wait").exitCode());
            assertTrue(Files.readString(volume.log()).contains("damaged chunks are healed"));
            volume.unmount();
        }
    }

    @Test
    void whatWasInAMissingPackIsWholeWhenItIsWrittenAgain() throws Exception {
        byte[] content = Bytes.random(3, 9 * MIB);
        byte[] other = Bytes.random(4, MIB);
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("pack")))
                .mount()) {
            Path first = volume.mountPoint().resolve("first");
            Bytes.writeAndSync(first, content);
            volume.remount();
            Bytes.writeAndSync(volume.mountPoint().resolve("other"), other);
            volume.unmount();
            Path pack = PackedContainer.largestIn(volume.data()).pack();
            Files.delete(pack);
            volume.mount();
            assertThrows(IOException.class, () -> Files.readAllBytes(first), "control: it is missing");
            assertEquals(2, cli(volume, "status").exitCode());
            assertEquals(2, cli(volume, "damaged").exitCode());

            Bytes.writeAndSync(volume.mountPoint().resolve("second"), content);
            Commands.Result healed = cli(volume, "heal", "--wait");
            assertEquals(0, healed.exitCode(), healed::output);
            assertNothingIsDamaged(volume, first, content);
            volume.remount();
            assertNothingIsDamaged(volume, first, content);
            Commands.Result status = cli(volume, "status");
            assertEquals(0, status.exitCode(), status::output);
            assertArrayEquals(other, Files.readAllBytes(volume.mountPoint().resolve("other")));
            assertEquals(0, cli(volume, "scrub", "start", "--wait").exitCode());
            volume.unmount();
        }
    }

    private static void assertNothingIsDamaged(MountedVolume volume, Path file, byte[] content) throws IOException {
        assertArrayEquals(content, Files.readAllBytes(file));
        Commands.Result status = cli(volume, "status");
        // Requests that failed before the pass make it degraded for an hour.
        assertTrue(status.exitCode() < 2, status::output);
        Commands.Result damaged = cli(volume, "damaged");
        assertEquals(0, damaged.exitCode(), damaged::output);
    }

    @Test
    void itHealsByItself() throws Exception {
        byte[] content = Bytes.random(2, 9 * MIB);
        try (MountedVolume volume = damaged("alone", content)) {
            Bytes.writeAndSync(volume.mountPoint().resolve("second"), content);
            while (!Files.readString(volume.log()).contains("damaged chunks are healed")) {
                Thread.sleep(100);
            }
            assertArrayEquals(content, Files.readAllBytes(volume.mountPoint().resolve("first")));
            volume.unmount();
        }
    }
}
