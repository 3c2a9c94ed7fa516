package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Garbage collection of a mounted volume, by its own commands. */
@Timeout(300)
class GarbageCollectionOnMountTest {
    private static final int MIB = 1 << 20;
    private static final int FILES = 24;
    private static final int FILE_BYTES = 2 * MIB;

    @TempDir
    Path folder;

    private MountedVolume make(String name, String... options) throws IOException {
        return MountedVolume.makeWith(folder.resolve(name), options).mount();
    }

    /** Writes files of random bytes, each with its number as seed, so that none has a chunk of another. */
    private static void fill(MountedVolume volume) throws IOException {
        for (int file = 0; file < FILES; file++) {
            Bytes.writeAndSync(file(volume, file), Bytes.random(file, FILE_BYTES));
        }
        Commands.succeed("sync", volume.mountPoint());
    }

    private static Path file(MountedVolume volume, int number) {
        return volume.mountPoint().resolve("file" + number);
    }

    /** Deletes all files but each fourth, so that containers of several files keep some chunks. Returns the others. */
    private static List<Integer> deleteMost(MountedVolume volume) throws IOException {
        var left = new ArrayList<Integer>();
        for (int file = 0; file < FILES; file++) {
            if (file % 4 == 0) {
                left.add(file);
            } else {
                Files.delete(file(volume, file));
            }
        }
        Commands.succeed("sync", volume.mountPoint());
        return left;
    }

    private static void assertContents(MountedVolume volume, List<Integer> files) throws IOException {
        volume.dropKernelCaches();
        for (int file : files) {
            assertArrayEquals(Bytes.random(file, FILE_BYTES), Files.readAllBytes(file(volume, file)));
        }
    }

    /** Bytes that the containers take on their disk. */
    private static long diskBytes(MountedVolume volume) throws IOException {
        return Long.parseLong(Commands.succeed("du", "-s", "-B1", "--exclude=ballast", volume.data())
                .split("\\s")[0]);
    }

    private static Map<String, Object> awaitLast(MountedVolume volume) throws Exception {
        Map<String, Object> last = Json.object(volume.json("gc", "status"), "last");
        while (last.isEmpty()) {
            Thread.sleep(100);
            last = Json.object(volume.json("gc", "status"), "last");
        }
        return last;
    }

    @Test
    void theSpaceOfDeletedFilesComesBackAndTheOthersStay() throws Exception {
        try (MountedVolume volume = make("space")) {
            fill(volume);
            long full = diskBytes(volume);
            List<Integer> left = deleteMost(volume);
            long live = (long) left.size() * FILE_BYTES;
            // The control: deleting alone returns nothing, and neither do a dry run and a read-only mount.
            assertTrue(diskBytes(volume) > full - FILE_BYTES);
            volume.with("ro").remount();
            Commands.Result refused = volume.cli("gc", "--wait");
            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("mounted read-only"), refused::output);
            Map<String, Object> dryRun = volume.json("gc", "--dry-run");
            assertEquals("done", dryRun.get("state"));
            assertTrue(Json.number(dryRun, "wouldReturnBytes") > 2 * live, dryRun::toString);
            volume.with("rw").remount();
            full = diskBytes(volume);
            assertTrue(full >= FILES * FILE_BYTES, full + " bytes are less than the files had");

            try (JmxClient jmx = new JmxClient(volume)) {
                jmx.set("GarbageCollector", "RateBytesPerSecond", 500_000_000L);
                assertEquals(500_000_000, Json.number(volume.json("gc", "status"), "bytesPerSecond"));
                Map<String, Object> result = volume.json("gc", "--wait");
                assertEquals("done", result.get("state"));
                assertTrue(Json.number(result, "returnedBytes") > 2 * live, result::toString);
                assertEquals("done", jmx.get("GarbageCollector", "LastState"));
            }

            long returned = full - diskBytes(volume);
            assertTrue(returned > 2 * live, () -> returned + " bytes came back, of " + 3 * live);
            assertTrue(volume.figure("stats", "garbageBytes") < live / 10);
            assertContents(volume, left);
            volume.remount();
            assertContents(volume, left);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    @Test
    void aCollectionThatIsStoppedOrKilledLosesNothingAndTheNextOneGoesOn() throws Exception {
        try (MountedVolume volume =
                MountedVolume.make(folder.resolve("stopped")).inItsOwnProcess().mount()) {
            fill(volume);
            List<Integer> left = deleteMost(volume);
            long before = diskBytes(volume);
            // Slow enough that it is under way at the stop and at the kill.
            volume.json("gc", "set", "--rate=1");
            assertEquals(true, volume.json("gc", "--leave=0").get("started"));
            volume.json("gc", "stop");
            assertEquals("stopped", awaitLast(volume).get("state"));
            try (JmxClient jmx = new JmxClient(volume)) {
                assertEquals("stopped", jmx.get("GarbageCollector", "LastState"));
            }
            assertContents(volume, left);

            assertEquals(true, volume.json("gc", "--leave=0").get("started"));
            volume.kill();
            volume.mount();
            assertContents(volume, left);
            assertEquals("done", volume.json("gc", "--wait").get("state"));
            assertTrue(diskBytes(volume) < before - FILES * FILE_BYTES / 2);
            assertContents(volume, left);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    @Test
    void theScheduleStartsACollection() throws Exception {
        // The control: without the schedule none starts in that time.
        try (MountedVolume off = make("off", "--io-claim-chunks-schedule=off");
                MountedVolume volume = make("schedule", "--io-claim-chunks-schedule=* * * * * ?")) {
            Map<String, Object> last = awaitLast(volume);
            assertEquals("the schedule", last.get("cause"));
            assertEquals("done", last.get("state"));
            assertEquals(Map.of(), off.json("gc", "status").get("last"));
        }
    }
}
