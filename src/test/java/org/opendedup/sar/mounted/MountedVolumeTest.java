package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        volume = MountedVolume.make(folder.resolve("everyday")).mount();
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
    void theSameBytesAreStoredOnce() throws IOException {
        byte[] bytes = Bytes.random(7, 16 * MIB);
        Bytes.writeAndSync(in.resolve("one"), bytes);
        long stored = volume.figure("stats", "storedBytes");
        Bytes.writeAndSync(in.resolve("two"), bytes);

        long grown = volume.figure("stats", "storedBytes") - stored;
        assertTrue(grown < MIB, () -> "the second copy took " + grown + " bytes");
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }
}
