package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.io.UncachedRead;

/**
 * Whatever happens to the SSD of a mounted volume while files are read and written, no program gets an error, nothing
 * is lost, one warning and one notification report it, and a good SSD restores normal operation. Each test shows that
 * its fault is real: the SSD's own files return an error or other bytes.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SsdFaultTest {
    private static final long DISK_BYTES = 256L << 20;
    /** Longer than a reader waits for a few chunks from an SSD. */
    private static final long DELAY_MS = 1000;

    private Path folder;

    private MountedVolume volume;
    private SsdLoad load;
    private int places;

    @BeforeAll
    void mountWithSsd(@TempDir Path given) throws IOException {
        folder = given;
        Path made = Files.createDirectory(folder.resolve("ssdfaults"));
        volume = MountedVolume.makeWith(
                made,
                "--hash-type=SHA256",
                "--sar-ssd-location=" + made.resolve("first-ssd"),
                "--sar-ssd-capacity=200MB",
                "--sar-policy=reference-count",
                "--sar-reference-count-threshold=2");
        volume.mount();
        load = new SsdLoad(volume);
    }

    @AfterAll
    void close() throws IOException {
        if (volume != null) {
            volume.close();
        }
    }

    private Path place() throws IOException {
        return Files.createDirectory(folder.resolve("place" + places++));
    }

    @Test
    void anSsdThatIsPulledIsGivenUp() throws Exception {
        try (SlowDisk disk = new SlowDisk(place());
                SsdTrial trial = new SsdTrial(volume, load, disk.folder().resolve("ssd"))) {
            Path segment = segment(disk.folder());
            Commands.succeed("sync", "-f", disk.folder());
            trial.fault("failed", disk::pull);

            load.dropKernelCaches();
            assertThrows(IOException.class, () -> Files.readAllBytes(segment));
            trial.assertToldOnce("failed", "failed too often");
            disk.unmountLazily();
            trial.remount("detached", "its disk not mounted");
            trial.recover(place());
        }
    }

    @Test
    void anSsdWhoseWritesFailIsReadOn() throws Exception {
        try (SlowDisk disk = new SlowDisk(place());
                SsdTrial trial = new SsdTrial(volume, load, disk.folder().resolve("ssd"))) {
            Commands.succeed("sync", "-f", disk.folder());
            trial.fault("read-only", () -> {
                disk.order("error writes");
                Commands.run("sync", "-f", disk.folder());
            });

            assertThrows(IOException.class, () -> Files.write(disk.folder().resolve("more"), new byte[1]));
            trial.assertToldOnce("read-only", "accepts no writes");
            trial.remountAfter(disk::unmountLazily, "detached", "its disk not mounted");
            trial.recover(place());
        }
    }

    @Test
    void aSlowSsdIsSuspendedAndComesBackByItself() throws Exception {
        try (SlowDisk disk = new SlowDisk(place());
                SsdTrial trial = new SsdTrial(volume, load, disk.folder().resolve("ssd"))) {
            Path segment = segment(disk.folder());
            Commands.succeed("sync", "-f", disk.folder());
            trial.fault("suspended", () -> disk.order("delay_ms " + DELAY_MS));

            trial.assertToldOnce("suspended", "too slowly");
            long start = System.nanoTime();
            UncachedRead.block(segment, 0);
            assertTrue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) >= DELAY_MS);
            disk.order("delay_ms 0");
            // While no program reads.
            trial.awaitState("online");
            trial.remount("online", "");
            trial.recover(disk.folder().resolve("ssd"));
        }
    }

    @Test
    void aFullSsdIsReadOn() throws Exception {
        try (LoopDisk disk = new LoopDisk(place(), DISK_BYTES / 4);
                SsdTrial trial = new SsdTrial(volume, load, disk.folder().resolve("ssd"))) {
            Path hog = disk.folder().resolve("hog");
            trial.fault("read-only", () -> fill(hog));

            trial.assertToldOnce("read-only", "No space left on device");
            // Closing the database freed a few blocks: opening it must not need them.
            trial.remountFull(() -> fill(disk.folder().resolve("hog-2")));
            Files.delete(hog);
            trial.recover(disk.folder().resolve("ssd"));
        }
    }

    /** To the last byte. */
    private static void fill(Path hog) throws IOException {
        Commands.Result filled = Commands.run("dd", "if=/dev/zero", "of=" + hog, "bs=64K", "conv=fsync");
        assertTrue(filled.output().contains("No space left on device"), filled::output);
        Commands.run("dd", "if=/dev/zero", "of=" + hog, "bs=512", "oflag=append", "conv=notrunc,fsync");
    }

    @Test
    void anSsdThatIsWipedIsReadWhileItsFilesAreOpen() throws Exception {
        try (LoopDisk disk = new LoopDisk(place(), DISK_BYTES);
                SsdTrial trial = new SsdTrial(volume, load, disk.folder().resolve("ssd"))) {
            Path ssd = disk.folder().resolve("ssd");
            trial.fault("read-only", () -> Commands.succeed("find", ssd, "-mindepth", "1", "-delete"));

            assertEquals(List.of(), Damage.files(disk.folder(), ""));
            trial.assertToldOnce("read-only", "is gone");
            trial.remount("detached", "its disk not mounted");
            trial.recover(ssd);
        }
    }

    @Test
    void wrongBytesOfAnSsdAreNeverServed() throws Exception {
        try (LoopDisk disk = new LoopDisk(place(), DISK_BYTES);
                SsdTrial trial = new SsdTrial(volume, load, disk.folder().resolve("ssd"))) {
            Path segment = segment(disk.folder());
            byte[] before = Files.readAllBytes(segment);
            trial.faultToldOf(() -> Damage.overwrite(segment, 4096, Bytes.random(1, before.length - 4096)));

            assertFalse(Arrays.equals(before, Arrays.copyOf(Files.readAllBytes(segment), before.length)));
            trial.assertToldOnce("online", "wrong bytes");
            assertTrue(trial.figure("SsdLog", "BadRecords") > 0);
            trial.remount("online", "");
            trial.recover(place());
        }
    }

    @Test
    void anSsdThatIsNotThereAtMountIsAttachedLater() throws Exception {
        try (LoopDisk disk = new LoopDisk(place(), DISK_BYTES);
                SsdTrial trial = new SsdTrial(volume, load, disk.folder().resolve("ssd"))) {
            trial.remountAfter(disk::unmount, "detached", "its disk not mounted");
            trial.assertServedFromHome();

            disk.mount();
            trial.attach(disk.folder().resolve("ssd"));
            trial.assertKnowsItsCopies();
            trial.recover(disk.folder().resolve("ssd"));
        }
    }

    @Test
    void theSsdOfAnotherVolumeIsNotTouched() throws Exception {
        Path mine = place();
        Path others = place();
        HotChunks.create(others, Timeline.beginning(UUID.randomUUID(), 0));
        try (SsdTrial trial = new SsdTrial(volume, load, mine)) {
            Map<Path, Long> before = Damage.checksums(others);
            Commands.Result refused = volume.cli("sar", "attach", others.toString());
            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("belongs to volume"), refused::output);
            trial.remountAfter(() -> Damage.copyTree(others, mine), "failed", "belongs to volume");
            assertEquals(before, Damage.checksums(others));
            trial.recover(place());
        }
    }

    private static Path segment(Path disk) throws IOException {
        List<Path> segments = Damage.files(disk, ".segment");
        assertTrue(!segments.isEmpty(), () -> "no segment in " + disk);
        return segments.get(0);
    }
}
