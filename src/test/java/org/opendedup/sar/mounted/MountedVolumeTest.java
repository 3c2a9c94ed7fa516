package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** The functions that copying, building, editing and backing up files need, through one mount. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MountedVolumeTest {
    private static final int MIB = 1 << 20;
    /** Folders that exist on every Debian, small enough to copy in a second. */
    private static final List<Path> REAL_TREES =
            List.of(Path.of("/usr/share/perl5"), Path.of("/usr/share/doc"), Path.of("/etc"));

    private Path folder;
    private MountedVolume volume;
    /** A folder in the mount for each test. */
    private Path in;

    @BeforeAll
    void mount(@TempDir Path folder) throws IOException {
        this.folder = folder;
        volume = MountedVolume.make(Files.createDirectory(folder.resolve("everyday")))
                .mount();
    }

    @AfterAll
    void unmount() throws IOException {
        if (volume != null) {
            volume.close();
        }
    }

    @BeforeEach
    void ownFolder(TestInfo test) throws IOException {
        in = Files.createDirectory(
                volume.mountPoint().resolve(test.getTestMethod().orElseThrow().getName()));
    }

    @Test
    void aTreeCopiedInIsTheSameNowAndAfterARemount() throws IOException {
        Path source = Files.createDirectory(folder.resolve("source"));
        Path tree = REAL_TREES.stream().filter(Files::isDirectory).findFirst().orElseThrow();
        Commands.succeed("cp", "-a", tree, source.resolve("real"));
        addOddities(source);
        Path copy = in.resolve("copy");

        Commands.succeed("cp", "-a", "--sparse=always", source, copy);

        assertSameTree(source, copy);
        volume.remount();
        assertSameTree(source, copy);
        Commands.succeed("rm", "-rf", copy);
        assertFalse(Files.exists(copy));
    }

    private static void addOddities(Path source) throws IOException {
        Path file = Files.write(source.resolve("random"), Bytes.random(1, 3 * MIB + 17));
        Files.createLink(source.resolve("hard link"), file);
        Files.createSymbolicLink(source.resolve("symlink"), Path.of("random"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("/no/such/place"));
        Files.createFile(source.resolve("empty"));
        Files.createFile(source.resolve("n".repeat(255)));
        // A name that is not UTF-8, whatever the character set of this process.
        Commands.succeed("bash", "-c", "touch \"$0\"/$'sp\\303\\244ce \\377'", source);
        Commands.succeed("mkfifo", source.resolve("fifo"));
        Commands.succeed("truncate", "-s", "64M", source.resolve("sparse"));
        Commands.succeed("chmod", "4751", source.resolve("empty"));
        Commands.succeed("chown", "-h", "12:34", source.resolve("dangling"));
        Commands.succeed("touch", "-h", "-d", "1969-12-31 23:59:58.123456789 UTC", source.resolve("symlink"));
    }

    private static void assertSameTree(Path source, Path copy) throws IOException {
        Commands.succeed("diff", "-r", "--no-dereference", "--exclude=fifo", source, copy);
        String files = "%P %y %m %U:%G %s %T@ %n %l\\n";
        String folders = "%P %m %U:%G %T@ %n\\n";
        for (String[] find : new String[][] {{"!", files}, {"-true", folders}}) {
            assertEquals(
                    sorted(Commands.succeed("find", source, find[0], "-type", "d", "-printf", find[1])),
                    sorted(Commands.succeed("find", copy, find[0], "-type", "d", "-printf", find[1])));
        }
    }

    private static String sorted(String lines) {
        return String.join("\n", lines.lines().sorted().toList());
    }

    @Test
    void aHardLinkIsTheSameFile() throws IOException {
        Path one = Files.writeString(in.resolve("one"), "first");
        Path two = Files.createLink(in.resolve("two"), one);

        Files.writeString(two, "second, and longer");

        assertEquals("second, and longer", Files.readString(one));
        assertEquals(Files.getAttribute(one, "unix:ino"), Files.getAttribute(two, "unix:ino"));
        assertEquals(2, Files.getAttribute(one, "unix:nlink"));
        Files.delete(one);
        assertEquals("second, and longer", Files.readString(two));
        assertEquals(1, Files.getAttribute(two, "unix:nlink"));
    }

    @Test
    void aHoleIsZerosAndTakesNoSpace() throws IOException {
        Path file = in.resolve("sparse");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap("end".getBytes(StandardCharsets.UTF_8)), 8L << 30);
        }

        assertEquals((8L << 30) + 3, Files.size(file));
        assertArrayEquals(new byte[MIB], read(file, 5L << 30, MIB));
        assertEquals("end", new String(read(file, 8L << 30, 3), StandardCharsets.UTF_8));
    }

    @Test
    void aMappedFileIsWrittenAndRead() throws IOException {
        Path file = in.resolve("mapped");
        byte[] bytes = Bytes.random(2, 300_000);
        Path source = Files.write(folder.resolve("map source"), bytes);
        // By another process: a page fault stops a JVM, with the threads that serve it.
        String mapping = "import mmap, sys; source = open(sys.argv[1], 'rb').read();"
                + " file = open(sys.argv[2], 'w+b'); file.truncate(len(source));"
                + " mapped = mmap.mmap(file.fileno(), len(source)); mapped[:] = source; mapped.flush()";
        Commands.succeed("python3", "-c", mapping, source, file);
        volume.dropKernelCaches();

        assertArrayEquals(bytes, Files.readAllBytes(file));
    }

    @Test
    void directIoGoesBothWays() throws IOException {
        Path source = Files.write(folder.resolve("direct source"), Bytes.random(3, 5 * MIB));
        Path file = in.resolve("direct");
        Path back = folder.resolve("direct back");

        Commands.succeed("dd", "if=" + source, "of=" + file, "bs=64k", "oflag=direct");
        Commands.succeed("dd", "if=" + file, "of=" + back, "bs=4k", "iflag=direct");

        Commands.succeed("cmp", source, back);
    }

    @Test
    void anUnlinkedFileLivesAsLongAsItIsOpen() throws IOException {
        Path file = in.resolve("unlinked");
        byte[] bytes = Bytes.random(4, MIB);
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(bytes));
            Files.delete(file);
            channel.write(ByteBuffer.wrap(bytes), MIB);

            ByteBuffer back = ByteBuffer.allocate(MIB);
            while (back.hasRemaining() && channel.read(back, MIB + back.position()) > 0) {
                // A read may return less than requested.
            }
            assertArrayEquals(bytes, back.array());
            assertEquals(2 * MIB, channel.size());
        }
        assertFalse(Files.exists(file));
        assertEquals(0, list(in).size());
    }

    @Test
    void aRenameReplacesAtOnce() throws IOException {
        Path old = Files.writeString(in.resolve("file"), "old");
        Path fresh = Files.writeString(in.resolve("file.tmp"), "fresh");

        Files.move(fresh, old, StandardCopyOption.ATOMIC_MOVE);

        assertEquals("fresh", Files.readString(old));
        assertEquals(List.of(old), list(in));
    }

    @Test
    void aDirectoryIsRenamedWithAllThatIsInIt() throws IOException {
        Path deep = Files.createDirectories(in.resolve("a/b/c"));
        Files.writeString(deep.resolve("file"), "deep");

        Commands.succeed("mv", in.resolve("a"), in.resolve("moved"));

        assertEquals("deep", Files.readString(in.resolve("moved/b/c/file")));
        assertNotEquals(
                0,
                Commands.run("mv", in.resolve("moved"), in.resolve("moved/b/c/into itself"))
                        .exitCode());
        Files.createDirectory(in.resolve("empty"));
        Commands.succeed("mv", "-T", in.resolve("moved"), in.resolve("empty"));
        assertEquals("deep", Files.readString(in.resolve("empty/b/c/file")));
    }

    @Test
    void aFileGrowsByAppendingAndByTruncation() throws IOException {
        Path file = in.resolve("log");
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            String line = "line " + i + "\n";
            expected.append(line);
            Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        assertEquals(expected.toString(), Files.readString(file));

        Commands.succeed("truncate", "-s", "100", file);
        Commands.succeed("truncate", "-s", "200000", file);

        assertEquals(expected.substring(0, 100) + "\0".repeat(199_900), Files.readString(file));
    }

    @Test
    void aLargeDirectoryListsEveryName() throws IOException {
        int count = 1500;
        for (int i = 0; i < count; i++) {
            Files.createFile(in.resolve("file-" + i));
        }
        assertEquals(count, list(in).size());
        assertThrows(FileAlreadyExistsException.class, () -> Files.createFile(in.resolve("file-7")));

        for (Path file : list(in)) {
            Files.delete(file);
        }
        Files.delete(in);
        assertFalse(Files.exists(in));
    }

    @Test
    void extendedAttributesAreKept() throws IOException {
        Path file = Files.createFile(in.resolve("file"));
        attributes(file).write("origin", ByteBuffer.wrap(Bytes.random(5, 1000)));
        attributes(file).write("empty", ByteBuffer.allocate(0));
        volume.remount();

        assertEquals(
                List.of("empty", "origin"),
                attributes(file).list().stream().sorted().toList());
        ByteBuffer value = ByteBuffer.allocate(1000);
        attributes(file).read("origin", value);
        assertArrayEquals(Bytes.random(5, 1000), value.array());
        attributes(file).delete("origin");
        assertEquals(List.of("empty"), attributes(file).list());
        assertThrows(FileSystemException.class, () -> attributes(file).size("origin"));
    }

    private static UserDefinedFileAttributeView attributes(Path file) {
        return Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    }

    @Test
    void timesAreKeptToTheNanosecond() throws IOException {
        Path file = Files.createFile(in.resolve("file"));
        FileTime time = FileTime.from(Instant.ofEpochSecond(1_111_111_111, 123_456_789));
        Files.setLastModifiedTime(file, time);
        volume.remount();

        assertEquals(time, Files.getLastModifiedTime(file));
    }

    @Test
    void aNameMayHave255BytesAndNoMore() throws IOException {
        Files.createFile(in.resolve("x".repeat(255)));
        FileSystemException refused =
                assertThrows(FileSystemException.class, () -> Files.createFile(in.resolve("x".repeat(256))));
        assertEquals("File name too long", refused.getReason());
    }

    @Test
    void dfTellsTheCapacityAndWhatIsFree() throws IOException {
        long[] before = capacityAndFree();
        long[] after = before;
        // Other programs take and give back space of the same disk meanwhile.
        for (int i = 0; i < 20 && after[1] >= before[1]; i++) {
            before = capacityAndFree();
            Bytes.writeAndSync(in.resolve("file" + i), Bytes.random(6 + i, 32 * MIB));
            after = capacityAndFree();
        }

        assertEquals(100_000_000_000.0, before[0], 10_000_000_000.0);
        assertEquals(before[0], after[0]);
        String freeBytes = before[1] + " free, then " + after[1];
        assertTrue(after[1] < before[1] && after[1] > 0, freeBytes);
    }

    private long[] capacityAndFree() throws IOException {
        String line = Commands.succeed("df", "-B1", "--output=size,avail", volume.mountPoint())
                .lines()
                .skip(1)
                .findFirst()
                .orElseThrow();
        return Stream.of(line.strip().split("\\s+")).mapToLong(Long::parseLong).toArray();
    }

    @Test
    void theSameBytesAreStoredOnce() throws IOException {
        byte[] bytes = Bytes.random(7, 16 * MIB);
        Bytes.writeAndSync(in.resolve("one"), bytes);
        long stored = volume.figure("stats", "storedBytes");
        Bytes.writeAndSync(in.resolve("two"), bytes);

        long grown = volume.figure("stats", "storedBytes") - stored;
        assertTrue(grown < MIB, () -> "the second copy took " + grown + " bytes");
    }

    @Test
    void aSecondMountIsRefusedAndTheFirstGoesOn() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));

        Commands.Result refused = volume.tryMount(elsewhere);

        assertEquals(1, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains("mounted"), refused::output);
        assertEquals(0, list(elsewhere).size());
        Files.writeString(in.resolve("file"), "still here");
        assertEquals("still here", Files.readString(in.resolve("file")));
    }

    @Test
    void sigtermUnmountsAndLosesNothing() throws IOException {
        volume.inItsOwnProcess().remount();
        Files.writeString(in.resolve("file"), "written just before");

        volume.terminate();

        assertFalse(volume.isMounted());
        volume.mount();
        assertEquals("written just before", Files.readString(in.resolve("file")));
    }

    private static byte[] read(Path file, long offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            while (target.hasRemaining() && channel.read(target, offset + target.position()) > 0) {
                // A read may return less than requested.
            }
        }
        assertFalse(target.hasRemaining());
        return target.array();
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }
}
