package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;

/**
 * Each device of a volume becomes full, by the volume itself or by others: programs get ENOSPC and no other error,
 * reads and deletes work, and when there is space again, writes work without a remount.
 */
class FullDevicesTest {
    private static final int FILE_BYTES = 2 << 20;
    private static final long METADATA_BYTES = 48L << 20;
    private static final long DATA_BYTES = 96L << 20;
    /** Time limit for the daemon to detect that there is space again; many times what it needs. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** Bytes that a volume with a full device may report as available: only those freed at this moment. */
    private static final long NEXT_TO_NOTHING = 64L << 20;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"metadata", "data"})
    void aDeviceThatOthersFillRefusesWritesUntilThereIsSpace(String kind) throws IOException {
        boolean hasData = kind.equals("data");
        try (LoopDisk disk = disk(kind, hasData ? DATA_BYTES : METADATA_BYTES);
                MountedVolume volume = hasData
                        ? MountedVolume.make(
                                folder.resolve("full"), disk.folder().resolve("data"))
                        : MountedVolume.makeWith(
                                folder.resolve("full"),
                                "--dedup-db-store=" + disk.folder().resolve("ddb"))) {
            volume.withProperty("sar.commit.period.ms", 500).mount();
            List<Path> synced = writeFiles(volume, 0, 4);
            Path hog = fillToTheLastByte(disk);

            refuseUntilShort(volume);
            assertTrue(freeBytes(volume) <= NEXT_TO_NOTHING, () -> "statfs shows space: " + show(volume));
            checkFiles(volume, synced);
            Files.delete(synced.remove(0));
            if (hasData) {
                makeDirectoryOnceTheShortageEnds(volume.mountPoint().resolve("still"));
            }

            Files.delete(hog);
            synced.add(writeWhenThereIsSpace(volume, 50));
            Files.delete(synced.remove(0));
            checkSoundAfterRemount(volume, synced);
        }
    }

    @Test
    void aMetadataDeviceThatTheVolumeFillsIsToldBeforeItIsFullAndDeletesFreeIt() throws IOException {
        try (LoopDisk disk = disk("metadata", METADATA_BYTES);
                MountedVolume volume = MountedVolume.makeWith(
                        folder.resolve("names"),
                        "--dedup-db-store=" + disk.folder().resolve("ddb"))) {
            volume.withProperty("sar.commit.period.ms", 500).mount();
            List<Path> synced = writeFiles(volume, 0, 2);
            Path names = Files.createDirectory(volume.mountPoint().resolve("names"));

            Commands.Result made = Commands.run("python3", "-c", MAKE_LINKS, names, Integer.toString(400_000));

            assertTrue(made.output().contains("ENOSPC after"), made::output);
            assertTrue(usable(disk) > 0, "the device has no reserve left");
            checkFiles(volume, synced);
            // No link is omitted: each delete is a change of metadata.
            Commands.succeed("rm", "-r", names);
            Files.delete(synced.remove(0));
            checkSoundAfterRemount(volume, synced);
        }
    }

    /** Long targets, so that few of them fill a device. Returns after how many it was refused, and why. */
    private static final String MAKE_LINKS = """
            import errno, os, sys
            folder, count = sys.argv[1], int(sys.argv[2])
            for i in range(count):
                try:
                    os.symlink(os.urandom(1500).hex(), folder + '/' + str(i))
                except OSError as e:
                    print(errno.errorcode[e.errno], 'after', i)
                    sys.exit(0)
            print('never refused')
            """;

    @Test
    void aReadOnlyDataLocationIsRefusedWithAWord() throws IOException {
        try (LoopDisk disk = disk("data", DATA_BYTES);
                MountedVolume volume = MountedVolume.make(
                        folder.resolve("readonly"), disk.folder().resolve("data"))) {
            volume.mount();
            List<Path> synced = writeFiles(volume, 1, 1);
            volume.unmount();
            disk.makeReadOnly();
            Commands.Result refused = volume.tryMount(volume.mountPoint());
            assertNotEquals(0, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(disk.folder().toString()), refused::output);
            disk.makeWritable();
            volume.mount();
            checkFiles(volume, synced);
        }
    }

    /** Data accepted while the device was filled is still there when there is space, without being written again. */
    @Test
    void bytesOnTheirWayWaitForSpace() throws IOException {
        try (LoopDisk disk = disk("data", DATA_BYTES);
                MountedVolume volume = MountedVolume.make(
                        folder.resolve("waiting"), disk.folder().resolve("data"))) {
            // No commit stores the bytes before the device is full.
            volume.withoutTimedCommits().mount();
            List<Path> synced = writeFiles(volume, 0, 1);
            Path waiting = volume.mountPoint().resolve("file-1");
            // The bytes are in the daemon, or in the kernel's cache, when the device becomes full; fsync is called
            // after that.
            Path script = Files.writeString(folder.resolve("write.py"), WRITE_THEN_SYNC);
            Path bytes = Files.write(folder.resolve("bytes"), Bytes.random(1, FILE_BYTES));
            Process writer = new ProcessBuilder(Commands.words("python3", script, bytes, waiting))
                    .redirectErrorStream(true)
                    .start();
            try (var answers = writer.inputReader();
                    var requests = writer.outputWriter()) {
                assertEquals("written", answers.readLine());
                Path hog = fillToTheLastByte(disk);
                requests.write("sync\n");
                requests.flush();
                assertEquals("ENOSPC", answers.readLine());
                Files.delete(hog);
                awaitSpace(volume);
                requests.write("sync\n");
                requests.flush();
                assertEquals("synced", answers.readLine());
            } finally {
                writer.destroyForcibly().onExit().join();
            }
            synced.add(waiting);
            checkSoundAfterRemount(volume, synced);
        }
    }

    private static final String WRITE_THEN_SYNC = """
            import errno, os, sys, time
            content = open(sys.argv[1], 'rb').read()
            file = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
            import mmap
            buffer = mmap.mmap(-1, len(content))
            buffer.write(content)
            at = 0
            while at < len(content):
                at += os.pwrite(file, memoryview(buffer)[at:at + 131072], at)
            print('written', flush=True)
            for line in sys.stdin:
                try:
                    os.fsync(file)
                    print('synced', flush=True)
                except OSError as e:
                    print(errno.errorcode[e.errno], flush=True)
            """;

    @Test
    void aFullIndexDeviceCostsNothingButDeduplication() throws IOException {
        try (LoopDisk disk = disk("index", METADATA_BYTES);
                MountedVolume volume = MountedVolume.makeWithHashDb(
                                folder.resolve("full-index"), disk.folder().resolve("hdb"))
                        .inItsOwnProcess()) {
            volume.withProperty("sar.commit.period.ms", 500).mount();
            List<Path> synced = writeFiles(volume, 0, 2);
            Path hog = fillToTheLastByte(disk);

            synced.addAll(writeFiles(volume, 10, 10));
            checkFiles(volume, synced);
            volume.kill();
            // The index cannot even be opened now.
            volume.mount();
            synced.addAll(writeFiles(volume, 20, 2));
            checkFiles(volume, synced);
            Files.delete(hog);
            volume.remount();
            // The index is brought up to date in the background.
            TestWait.until(() -> volume.cli("status", "--json")
                    .output()
                    .replaceAll("\\s", "")
                    .contains("\"updating\":false,\"complete\":true"));
            Path again = volume.mountPoint().resolve("again");
            long before = volume.figure("stats", "storedBytes");
            Bytes.writeAndSync(again, Bytes.random(20, FILE_BYTES));
            long after = volume.figure("stats", "storedBytes");
            assertTrue(after - before < FILE_BYTES / 4, "what the index should know again was stored again");
            Files.delete(again);
            checkSound(volume, synced);
        }
    }

    @Test
    void aDiskThatOthersFilledCanBeMountedAndFilesDeleted() throws IOException {
        // Everything is on that disk here: containers, metadata, index, log. Ballasts are parts of a disk's size: one
        // of
        // this size has enough for two mounts.
        try (LoopDisk disk = disk("all", 2 * DATA_BYTES);
                MountedVolume volume = MountedVolume.make(disk.folder().resolve("shared"))) {
            volume.withProperty("sar.commit.period.ms", 500).mount();
            List<Path> synced = writeFiles(volume, 0, 6);
            awaitBallast(volume);
            for (int round = 0; round < 2; round++) {
                // The first time it was closed properly, the second time not: then there is a log to be replayed, and
                // containers to be sealed.
                if (round == 0) {
                    volume.unmount();
                    volume.inItsOwnProcess();
                } else {
                    Files.delete(disk.folder().resolve("hog"));
                    synced.add(writeWhenThereIsSpace(volume, 50));
                    awaitBallast(volume);
                    volume.kill();
                }
                fillToTheLastByte(disk);

                volume.mount();

                checkFiles(volume, synced);
                Files.delete(synced.remove(0));
                Commands.succeed("sync", volume.mountPoint());
                refuseUntilShort(volume);
            }
            volume.kill();
            volume.mount();
            assertFalse(Files.exists(volume.mountPoint().resolve("file-0")), "a delete that was synced is forgotten");
            Files.delete(disk.folder().resolve("hog"));
            synced.add(writeWhenThereIsSpace(volume, 51));
            checkSound(volume, synced);
        }
    }

    private LoopDisk disk(String name, long bytes) throws IOException {
        return new LoopDisk(Files.createDirectory(folder.resolve(name + "-disk")), bytes);
    }

    private static List<Path> writeFiles(MountedVolume volume, int first, int count) throws IOException {
        List<Path> files = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            Path file = volume.mountPoint().resolve("file-" + i);
            Bytes.writeAndSync(file, Bytes.random(i, FILE_BYTES));
            files.add(file);
        }
        return files;
    }

    /** Like another program, block by block at the end. */
    private static Path fillToTheLastByte(LoopDisk disk) throws IOException {
        Path hog = disk.folder().resolve("hog");
        Commands.run("fallocate", "-l", Math.max(1, usable(disk) - FILE_BYTES), hog);
        Commands.run("dd", "if=/dev/zero", "of=" + hog, "bs=1M", "oflag=append", "conv=notrunc,fsync");
        Commands.run("dd", "if=/dev/zero", "of=" + hog, "bs=512", "oflag=append", "conv=notrunc,fsync");
        return hog;
    }

    /** Writes until it is refused with ENOSPC, repeatedly; this must happen soon. */
    private static void refuseUntilShort(MountedVolume volume) throws IOException {
        int refused = 0;
        for (int i = 0; refused < 5; i++) {
            assertTrue(i < 60, "writes go on although nothing can be stored");
            Path file = volume.mountPoint().resolve("refused-" + i);
            try {
                Bytes.writeAndSync(file, Bytes.random(1000 + i, FILE_BYTES));
            } catch (IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("No space left on device"), e::toString);
                refused++;
            }
            Files.deleteIfExists(file);
        }
    }

    /** The shortage ends with the first commit after the refused bytes were dropped. */
    private static void makeDirectoryOnceTheShortageEnds(Path directory) throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                Files.createDirectory(directory);
                return;
            } catch (IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("No space left on device"), e::toString);
                assertTrue(System.nanoTime() < deadline, "a folder is refused although the metadata have space");
                pause();
            }
        }
    }

    private static Path writeWhenThereIsSpace(MountedVolume volume, int number) throws IOException {
        awaitSpace(volume);
        return writeFiles(volume, number, 1).get(0);
    }

    private static void awaitSpace(MountedVolume volume) throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        Path trial = volume.mountPoint().resolve("trial");
        while (true) {
            try {
                Bytes.writeAndSync(trial, Bytes.random(7, 100_000));
                Files.delete(trial);
                return;
            } catch (IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("No space left on device"), e::toString);
                assertTrue(System.nanoTime() < deadline, "there is space, and writes are still refused");
                Files.deleteIfExists(trial);
                pause();
            }
        }
    }

    private static void awaitBallast(MountedVolume volume) throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        Path log = volume.log();
        while (!Files.exists(volume.data().resolve("ballast"))
                || !Files.exists(volume.metadata().resolve("ballast"))) {
            assertTrue(System.nanoTime() < deadline, () -> "there is no ballast; see " + log);
            pause();
        }
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static long freeBytes(MountedVolume volume) throws IOException {
        return Files.getFileStore(volume.mountPoint()).getUsableSpace();
    }

    private static String show(MountedVolume volume) {
        try {
            return Commands.run("df", volume.mountPoint()).output();
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static long usable(LoopDisk disk) throws IOException {
        return Files.getFileStore(disk.folder()).getUsableSpace();
    }

    private static void checkFiles(MountedVolume volume, List<Path> files) throws IOException {
        volume.dropKernelCaches();
        for (Path file : files) {
            int seed = Integer.parseInt(file.getFileName().toString().substring("file-".length()));
            Bytes.Comparison found = Bytes.compare(file, Bytes.random(seed, FILE_BYTES));
            assertEquals(new Bytes.Comparison(FILE_BYTES / 4096, 0, 0), found, file::toString);
        }
    }

    private static void checkSoundAfterRemount(MountedVolume volume, List<Path> synced) throws IOException {
        volume.remount();
        checkSound(volume, synced);
    }

    private static void checkSound(MountedVolume volume, List<Path> synced) throws IOException {
        checkFiles(volume, synced);
        volume.unmount();
        assertEquals(List.of(), Recount.problems(volume));
    }
}
