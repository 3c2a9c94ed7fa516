package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** {@code sdfscli VOLUME clone} of a mounted volume, next to {@code cp -a}. */
class CloneOnMountTest {
    @TempDir
    Path folder;

    @Test
    void aCloneIsWhatCpMakes() throws IOException {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("cloned")).mount()) {
            Path mount = volume.mountPoint();
            Path source = makeSource(mount.resolve("source"));
            Path clone = mount.resolve("clone");
            // The kernel remembers that it does not exist, and what the folder above is like.
            assertFalse(Files.exists(clone));
            assertEquals("3", Commands.succeed("stat", "-c", "%h", mount).strip());

            // What a program wrote last is in the kernel's cache only.
            String text = volume.run("clone", source.toString(), clone.toString());
            assertTrue(text.contains("source is cloned to clone: 7 files, 3 folders, 2 links and special files"), text);
            assertEquals("4", Commands.succeed("stat", "-c", "%h", mount).strip());
            assertSameTrees(source, clone);

            Path copy = mount.resolve("copy");
            Commands.succeed("cp", "-a", source, copy);
            assertSameTrees(copy, clone);
            Files.writeString(clone.resolve("below/small"), "other", StandardOpenOption.APPEND);
            assertSameTrees(copy, source);

            Path link = Files.createSymbolicLink(folder.resolve("link"), mount);
            String report = volume.run(
                    "clone", "--json", "source", link.resolve("again").toString());
            for (String line : List.of(
                    "\"path\" : \"source\"",
                    "\"target\" : \"again\"",
                    "\"state\" : \"done\"",
                    "\"folders\" : 3",
                    "\"files\" : 7",
                    "\"links\" : 1",
                    "\"others\" : 2")) {
                assertTrue(report.contains(line), report);
            }
            assertSameTrees(source, mount.resolve("again"));
            volume.run("clone", "source/long", "long");
            assertEquals(-1, Files.mismatch(source.resolve("long"), mount.resolve("long")));

            assertRefused(volume, "clone exists", "source", "clone");
            assertRefused(volume, "is no file of the volume", "source", "nowhere/clone");
            assertRefused(volume, "is no folder", "source", "long/clone");
            assertRefused(volume, "is no file of the volume", "nothing", "new");
            assertRefused(
                    volume,
                    "does not lie in the volume",
                    "source",
                    folder.resolve("new").toString());
            assertRefused(volume, "has no name for the clone", "source", mount.toString());
            assertEquals(64, volume.cli("clone", "source").exitCode());
            assertFalse(Files.exists(mount.resolve("new")));

            String before = attributes(mount);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
            volume.mount();
            assertEquals(before, attributes(mount));
            assertSameTrees(source, copy);
        }
    }

    private static void assertRefused(MountedVolume volume, String why, String source, String target)
            throws IOException {
        Commands.Result result = volume.cli("clone", source, target);
        assertEquals(1, result.exitCode(), result::output);
        assertTrue(result.output().contains(why), result::output);
    }

    private static Path makeSource(Path source) throws IOException {
        Path below = Files.createDirectories(source.resolve("below"));
        Files.createDirectory(source.resolve("empty folder"));
        Files.write(below.resolve("small"), Bytes.random(1, 5_000));
        Files.createFile(below.resolve("empty"));
        Path file = Files.write(source.resolve("long"), Bytes.random(2, 3_000_000));
        Files.createLink(below.resolve("other name"), file);
        Files.createSymbolicLink(source.resolve("link"), Path.of("below/small"));
        Commands.succeed("mkfifo", "-m", "600", source.resolve("fifo"));
        try (FileChannel sparse =
                FileChannel.open(source.resolve("sparse"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            sparse.write(ByteBuffer.wrap(Bytes.random(3, 10_000)), 40L << 20);
        }
        for (int i = 0; i < 3; i++) {
            Files.write(source.resolve("file" + i), Bytes.random(4 + i, 100 + i));
        }
        Files.setAttribute(source.resolve("file0"), "user:name", "value".getBytes());
        Commands.succeed("chown", "1000:100", source.resolve("file1"), below);
        Commands.succeed("chmod", "4711", source.resolve("file2"));
        Commands.succeed("touch", "-d", "1999-12-31 23:59:59.123456789", source.resolve("file1"), below);
        return source;
    }

    private static void assertSameTrees(Path expected, Path found) throws IOException {
        Commands.succeed("diff", "-r", "--no-dereference", "--exclude=fifo", expected, found);
        assertEquals(attributes(expected), attributes(found));
        if (Files.exists(expected.resolve("file0"))) {
            assertEquals("value", new String((byte[]) Files.getAttribute(found.resolve("file0"), "user:name")));
        }
    }

    /** Of every file and folder, with the bytes that they take. */
    private static String attributes(Path tree) throws IOException {
        return Commands.succeed(
                "sh", "-c", "cd '" + tree + "'; find . -mindepth 1 -printf '%P %y %m %U %G %n %s %b %T@ %l\\n' | sort");
    }
}
