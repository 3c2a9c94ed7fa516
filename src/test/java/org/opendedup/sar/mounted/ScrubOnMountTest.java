package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
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
        return MountedVolume.make(Files.createDirectory(folder.resolve(name))).mount();
    }

    private static Commands.Result cli(MountedVolume volume, String... arguments) throws IOException {
        var all = new ArrayList<>(List.of(volume.name()));
        all.addAll(List.of(arguments));
        return volume.script("sdfscli", all);
    }

    private static Map<String, Object> status(MountedVolume volume) throws IOException {
        Commands.Result result = cli(volume, "scrub", "status", "--json");
        assertEquals(0, result.exitCode(), result::output);
        return Json.read(result.output());
    }

    @Test
    void aFlippedBitIsFoundBeforeAProgramReadsIt() throws Exception {
        try (MountedVolume volume = make("flip")) {
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), Bytes.random(1, 9 * MIB));
            volume.remount();
            // The control: nothing is flipped yet.
            Commands.Result sound = cli(volume, "scrub", "start", "--wait");
            assertEquals(0, sound.exitCode(), sound::output);
            assertTrue(sound.output().contains("found nothing"), sound::output);
            volume.unmount();
            PackedContainer.largestIn(volume.data()).flipBitInFrames();
            volume.mount();

            Commands.Result found = cli(volume, "scrub", "start", "--wait");
            assertEquals(2, found.exitCode(), found::output);
            assertTrue(found.output().contains("DAMAGE FOUND"), found::output);
            assertTrue(found.output().contains("found 1 damaged frames"), found::output);
            Commands.Result known = cli(volume, "status");
            while (known.exitCode() != 2) {
                // The figures are those of a sample, which serves for a while.
                Thread.sleep(50);
                known = cli(volume, "status");
            }
            String shown = known.output();
            assertTrue(shown.contains("chunks of files are damaged"), shown);
            assertTrue(shown.contains("found 1 damaged frames"), shown);
            String log = Files.readString(volume.log());
            assertTrue(log.contains("by sdfscli: a scrub started") && log.contains("found 1 damaged frames"), log);

            volume.remount();
            Map<String, Object> last = Json.object(status(volume), "last");
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
            volume.remount();
            // The control: nothing is wrong yet.
            Map<String, Object> sound = Json.object(verified(volume), "ssd");
            long copies = Json.number(sound, "copies");
            assertTrue(copies > 0, sound::toString);
            assertEquals(0, Json.number(sound, "wrong"));
            volume.unmount();
            Path segment = Damage.files(ssd, ".segment").get(0);
            byte[] records = Files.readAllBytes(segment);
            Damage.overwrite(segment, 1000, new byte[] {(byte) ~records[1000]});
            volume.mount();

            Map<String, Object> result = verified(volume);
            assertEquals(1, Json.number(Json.object(result, "ssd"), "wrong"), result::toString);
            assertEquals(copies, Json.number(Json.object(result, "ssd"), "copies"));
            assertTrue(Json.number(Json.object(result, "index"), "entries") > 0, result::toString);
            Commands.Result shown = cli(volume, "scrub", "status");
            assertTrue(shown.output().contains("1 wrong copies on the SSD were dropped"), shown::output);
            for (int i = 0; i < 4; i++) {
                assertArrayEquals(shared, Files.readAllBytes(volume.mountPoint().resolve("file" + i)));
            }
            assertEquals(copies - 1, Json.number(Json.object(verified(volume), "ssd"), "copies"));
            volume.unmount();
        }
    }

    /** Returns the result of a whole scrub, which finds no damage. */
    private static Map<String, Object> verified(MountedVolume volume) throws IOException {
        Commands.Result result = cli(volume, "scrub", "start", "--wait", "--json");
        assertEquals(0, result.exitCode(), result::output);
        return Json.read(result.output());
    }

    @Test
    void aStoppedScrubGoesOnAfterARemount() throws Exception {
        try (MountedVolume volume = make("stop")) {
            for (int file = 0; file < 6; file++) {
                Bytes.writeAndSync(volume.mountPoint().resolve("file" + file), Bytes.random(file, 8 * MIB));
            }
            volume.remount();
            assertEquals(0, cli(volume, "scrub", "set", "--rate=2").exitCode());
            assertEquals(0, cli(volume, "scrub", "start").exitCode());
            while (Json.number(Json.object(status(volume), "current"), "containers") == 0) {
                Thread.sleep(50);
            }
            assertEquals(0, cli(volume, "scrub", "stop").exitCode());
            while (Boolean.TRUE.equals(status(volume).get("running"))) {
                Thread.sleep(50);
            }
            Map<String, Object> stopped = Json.object(status(volume), "stopped");
            assertEquals(true, stopped.get("held"));
            long done = Json.number(stopped, "bytesDone");
            assertTrue(done > 0, stopped::toString);

            volume.remount();
            assertEquals(stopped, status(volume).get("stopped"));
            Commands.Result all = cli(volume, "scrub", "start", "--wait", "--json");
            assertEquals(0, all.exitCode(), all::output);
            Map<String, Object> result = Json.read(all.output());
            assertEquals(true, result.get("continued"));
            assertEquals(done, Json.number(result, "bytesResumed"));
            assertTrue(Json.number(result, "bytesDone") > 45L * MIB, result::toString);
            // The control: the next one begins anew.
            Commands.Result anew = cli(volume, "scrub", "start", "--wait", "--json");
            assertEquals(false, Json.read(anew.output()).get("continued"));

            assertEquals(0, cli(volume, "scrub", "set", "--rate=2").exitCode());
            assertEquals(0, cli(volume, "scrub", "start").exitCode());
            volume.remount();
            Map<String, Object> unmounted = Json.object(status(volume), "stopped");
            assertFalse((Boolean) unmounted.get("held"), "an unmount holds it not");
            volume.unmount();
        }
    }
}
