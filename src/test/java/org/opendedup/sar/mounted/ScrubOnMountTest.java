package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Scrubs of a mounted volume, by their own commands. */
@Timeout(300)
class ScrubOnMountTest {
    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    private MountedVolume make(String name) throws IOException {
        return MountedVolume.make(folder.resolve(name)).mount();
    }

    @Test
    void aFlippedBitIsFoundBeforeAProgramReadsIt() throws Exception {
        try (MountedVolume volume = make("flip")) {
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), Bytes.random(1, 9 * MIB));
            volume.remount();
            // The control: nothing is flipped yet.
            Commands.Result sound = volume.cli("scrub", "start", "--wait");
            assertEquals(0, sound.exitCode(), sound::output);
            assertTrue(sound.output().contains("found nothing"), sound::output);
            volume.unmount();
            PackedContainer.largestIn(volume.data()).flipBitInFrames();
            volume.mount();

            Commands.Result found = volume.cli("scrub", "start", "--wait");
            assertEquals(2, found.exitCode(), found::output);
            assertTrue(found.output().contains("DAMAGE FOUND"), found::output);
            assertTrue(found.output().contains("found 1 damaged frames"), found::output);
            Commands.Result known = volume.cli("status");
            while (known.exitCode() != 2) {
                // The figures are those of a sample, which serves for a while.
                Thread.sleep(50);
                known = volume.cli("status");
            }
            String shown = known.output();
            assertTrue(shown.contains("chunks of files are damaged"), shown);
            assertTrue(shown.contains("found 1 damaged frames"), shown);
            String log = Files.readString(volume.log());
            assertTrue(log.contains("by sdfscli: a scrub started") && log.contains("found 1 damaged frames"), log);

            volume.remount();
            Map<String, Object> last = Json.object(volume.json("scrub", "status"), "last");
            assertEquals(1, Json.number(last, "damagedFrames"), last::toString);
            volume.unmount();
        }
    }

    @Test
    void aWrongCopyOnTheSsdIsDroppedAndTheFilesStayWhole() throws Exception {
        Path place = Files.createDirectory(folder.resolve("ssd"));
        Path ssd = place.resolve("copies");
        try (MountedVolume volume = MountedVolume.makeWith(
                place,
                "--hash-type=SHA256",
                "--sar-ssd-location=" + ssd,
                "--sar-ssd-capacity=200MB",
                "--sar-policy=reference-count",
                "--sar-reference-count-threshold=2")) {
            volume.mount();
            byte[] shared = Bytes.random(7, 64 << 10);
            for (int i = 0; i < 4; i++) {
                Bytes.writeAndSync(volume.mountPoint().resolve("file" + i), shared);
            }
            // Copies are made in the background, and an unmount does not wait for all of them.
            try (JmxClient jmx = new JmxClient(volume)) {
                TestWait.until(() -> (long) jmx.get("MapTable", "Entries") > 0);
            }
            volume.remount();
            // The control: nothing is wrong yet.
            Map<String, Object> sound = Json.object(volume.json("scrub", "start", "--wait"), "ssd");
            long copies = Json.number(sound, "copies");
            assertTrue(copies > 0, sound::toString);
            assertEquals(0, Json.number(sound, "wrong"));
            volume.unmount();
            Path segment = Damage.files(ssd, ".segment").get(0);
            byte[] records = Files.readAllBytes(segment);
            Damage.overwrite(segment, 1000, new byte[] {(byte) ~records[1000]});
            volume.mount();

            Map<String, Object> result = volume.json("scrub", "start", "--wait");
            assertEquals(1, Json.number(Json.object(result, "ssd"), "wrong"), result::toString);
            assertEquals(copies, Json.number(Json.object(result, "ssd"), "copies"));
            assertTrue(Json.number(Json.object(result, "index"), "entries") > 0, result::toString);
            Commands.Result shown = volume.cli("scrub", "status");
            assertTrue(shown.output().contains("1 wrong copies on the SSD were dropped"), shown::output);
            assertEquals(
                    copies - 1, Json.number(Json.object(volume.json("scrub", "start", "--wait"), "ssd"), "copies"));
            for (int i = 0; i < 4; i++) {
                assertArrayEquals(shared, Files.readAllBytes(volume.mountPoint().resolve("file" + i)));
            }
            volume.unmount();
        }
    }
}
