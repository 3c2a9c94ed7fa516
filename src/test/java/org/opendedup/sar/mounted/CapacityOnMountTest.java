package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** The capacity of a mounted volume, as users see it. */
@Timeout(600)
class CapacityOnMountTest {
    private static final String AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
    private static final long MIB = 1 << 20;
    private static final String NO_SPACE = "No space left on device";

    @TempDir
    Path folder;

    private static Commands.Result asNobody(Path in, String command) throws IOException {
        return Commands.run("bash", "-c", "cd " + in + " && " + AS_NOBODY + command);
    }

    private static Path folderForAll(MountedVolume volume) throws IOException {
        Path shared = Files.createDirectory(volume.mountPoint().resolve("shared"));
        Commands.succeed("chmod", "0777", shared);
        return shared;
    }

    /** Of the file system: all, free, and free for users other than root, in bytes. */
    private static long[] space(Path mountPoint) throws IOException {
        String[] words = Commands.succeed("stat", "-f", "-c", "%S %b %f %a", mountPoint)
                .strip()
                .split(" ");
        long block = Long.parseLong(words[0]);
        return new long[] {
            block * Long.parseLong(words[1]), block * Long.parseLong(words[2]), block * Long.parseLong(words[3])
        };
    }

    @Test
    void aSparseFileTakesNothingFromOthersAndALargeOneEndsAtTheCapacity() throws Exception {
        try (MountedVolume volume = make("sparse")) {
            volume.mount();
            Path shared = folderForAll(volume);
            long[] before = space(volume.mountPoint());

            assertEquals(0, asNobody(shared, "truncate -s 99G sparse").exitCode());
            assertEquals(0, asNobody(shared, "truncate -s 200G beyond").exitCode());
            assertEquals(before[2], space(volume.mountPoint())[2]);
            Bytes.writeAndSync(volume.mountPoint().resolve("of-root"), Bytes.random(1, (int) (8 * MIB)));
            // A request for more than is free is refused at once, and uses nothing.
            Commands.Result refused = asNobody(shared, "fallocate -l 1G large");
            assertNotEquals(0, refused.exitCode());
            assertTrue(refused.output().contains(NO_SPACE), refused::output);

            Path file = volume.mountPoint().resolve("large");
            Commands.Result one = Commands.run("sh", "-c", write(file, "1M", 60));
            assertNotEquals(0, one.exitCode());
            assertTrue(one.output().contains(NO_SPACE), one::output);
            Files.delete(file);
            // The kernel reports the end of a file's last use after close has returned; until then its bytes count.
            while (space(volume.mountPoint())[1] < 30 * MIB) {
                Thread.sleep(10);
            }
            Bytes.writeAndSync(volume.mountPoint().resolve("after"), Bytes.random(2, (int) (8 * MIB)));
        }
    }

    /** Writes many times what the kernel keeps in its write-back cache; prints what write(2) said, and how often. */
    private static final String WRITE_WITHOUT_CLOSING = """
            import errno, os, sys
            file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
            try:
                for i in range(3000):
                    os.write(file, os.urandom(1024) * 1024)
                print('never refused')
            except OSError as e:
                print(errno.errorcode[e.errno])
            sys.stdout.flush()
            os.kill(os.getpid(), 9)
            """;

    /** The kernel takes bytes into its cache unasked, and reports a failure of these at fsync or close only. */
    @Test
    void aProgramThatNeitherSyncsNorClosesHearsOfAFullVolume() throws Exception {
        try (MountedVolume volume = make("endless")) {
            volume.mount();
            Path file = volume.mountPoint().resolve("large");
            Commands.Result result = Commands.run("python3", "-c", WRITE_WITHOUT_CLOSING, file);
            assertEquals("ENOSPC", result.output().strip());
            Files.delete(file);
            while (space(volume.mountPoint())[1] < 30 * MIB) {
                Thread.sleep(10);
            }
            // There is space again, and the file that was refused is another one.
            Bytes.writeAndSync(file, Bytes.random(3, (int) (8 * MIB)));
        }
    }

    /** Writes until it is refused, has somebody look at the file, and writes again; prints what both writes said. */
    private static final String WRITE_BESIDE_A_LOOK = """
            import errno, os, subprocess, sys
            file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
            def refused(times):
                try:
                    for i in range(times):
                        os.write(file, os.urandom(1024) * 1024)
                    return 'never'
                except OSError as e:
                    return errno.errorcode[e.errno]
            first = refused(3000)
            subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, check=True)
            print(first, refused(1))
            sys.stdout.flush()
            os.kill(os.getpid(), 9)
            """;

    /** Whoever looks at the file has the kernel ask for its attributes, and an answer that it may keep. */
    @Test
    void aProgramHearsOfAFullVolumeAlsoIfAnotherOneLooksAtItsFile() throws Exception {
        try (MountedVolume volume = make("looks")) {
            volume.mount();
            Path file = volume.mountPoint().resolve("large");
            for (List<String> look : List.of(List.of("stat"), List.of("tail", "-c1"), List.of("ls", "-l"))) {
                List<String> command = new ArrayList<>(List.of("python3", "-c", WRITE_BESIDE_A_LOOK, file.toString()));
                command.addAll(look);
                command.add(file.toString());
                Commands.Result result = Commands.run(command.toArray());
                assertEquals("ENOSPC ENOSPC", result.output().strip(), look::toString);
            }
        }
    }

    /** A command that writes blocks and syncs them; they are the same ones, which capacity does not care about. */
    private static String write(Path file, String block, int count) {
        return "yes | dd of=" + file + " bs=" + block + " count=" + count + " iflag=fullblock status=none conv=fsync";
    }

    /** Of 40 MB, of which 2 MB are for root only. */
    private MountedVolume make(String name) throws IOException {
        return MountedVolume.makeWithCapacity(folder.resolve(name), "40MB");
    }

    @Test
    void smallWritesEndAtTheCapacityAndRootHasTheRest() throws IOException {
        try (MountedVolume volume = make("small")) {
            volume.mount();
            Path shared = folderForAll(volume);

            Commands.Result many = asNobody(
                    shared, "bash -c 'for i in {1..60}; do " + write(Path.of("f$i"), "4k", 256) + " || exit 1; done'");

            assertNotEquals(0, many.exitCode());
            assertTrue(many.output().contains(NO_SPACE), many::output);
            long[] left = space(volume.mountPoint());
            assertTrue(left[2] < 2 * MIB, () -> left[2] + " bytes are free for users");
            assertTrue(left[1] > MIB, () -> left[1] + " bytes are free for root");
            Bytes.writeAndSync(volume.mountPoint().resolve("of-root"), Bytes.random(1, (int) MIB));
            // Existing bytes can be overwritten.
            assertEquals(
                    0,
                    asNobody(shared, "sh -c '" + write(Path.of("f1"), "4k", 256) + ",notrunc'")
                            .exitCode());
            volume.remount();
            assertEquals(left[1] - MIB, space(volume.mountPoint())[1]);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    /** A capacity larger than the free space of the disk, as on any disk that others also use. */
    @Test
    void aNewVolumeOnADiskWithLessSpaceIsEmptyAndAllFiguresAgree() throws IOException {
        try (MountedVolume volume = MountedVolume.makeWithCapacity(folder.resolve("new"), "1PB")) {
            // Longer than a write takes on a busy machine: the last chunk of a file that is written for longer than a
            // period
            // is stored early, and is garbage when it grows.
            volume.withProperty("sar.commit.period.ms", 3000).mount();
            Path root = volume.mountPoint();
            long[] before = space(root);
            assertEquals(before[0], before[1], "nothing is taken");
            assertEquals("0%", df(root, "pcent"));
            assertTrue(before[2] > 0 && before[2] < before[0] / 2, () -> before[2] + " of " + before[0]);

            Path holes = root.resolve("holes");
            Commands.succeed("truncate", "-s", "10G", holes);
            Bytes.writeAndSync(root.resolve("twice"), Bytes.random(1, (int) (8 * MIB)));
            Bytes.writeAndSync(root.resolve("again"), Bytes.random(1, (int) (8 * MIB)));
            Bytes.writeAndSync(root.resolve("dead"), Bytes.random(2, (int) (4 * MIB)));
            Files.delete(root.resolve("dead"));
            Commands.succeed("sync", root);

            long used = 16 * MIB;
            // The kernel reports the end of the last use of the deleted file after the delete has returned.
            TestWait.until(() -> Long.parseLong(df(root, "used")) == used);
            assertEquals(used, volume.figure("stats", "logicalBytes"));
            assertEquals(used, volume.figure("df", "usedBytes"));
            assertEquals(
                    used + 512, // A file of holes has one block, too.
                    Long.parseLong(Commands.succeed("du", "-s", "-B1", root).split("\\s")[0]));
            // The last bytes of a file are in the intent log first.
            for (int i = 0; i < 300 && volume.figure("stats", "uniqueBytes") < 8 * MIB; i++) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            }
            assertEquals(8 * MIB, volume.figure("stats", "uniqueBytes"));
            // The last bytes of the deleted file may never have left the intent log.
            long garbage = volume.figure("stats", "garbageBytes");
            assertTrue(garbage <= 4 * MIB && garbage > 4 * MIB - (64 << 10), () -> garbage + " bytes of garbage");
            long[] after = space(root);
            assertEquals(after[1], volume.figure("df", "freeBytes") / 4096 * 4096);
            assertEquals("1%", df(root, "pcent"));
            assertEquals(1, volume.figure("df", "usePercent"));
        }
    }

    private static String df(Path mountPoint, String field) throws IOException {
        return Commands.succeed("df", "-B1", "--output=" + field, mountPoint)
                .lines()
                .skip(1)
                .findFirst()
                .orElseThrow()
                .strip();
    }
}
