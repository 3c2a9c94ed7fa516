package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.cluster.ArchiveEntry;
import org.opendedup.sar.cluster.ArchiveEntry.Kind;
import org.opendedup.sar.cluster.ArchiveWriter;
import org.opendedup.sar.cluster.Cluster;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cluster.TreeRestorer;
import org.opendedup.sar.sdfs.cluster.TreeSaver;

/** The commands of a cluster on folders; on mounted volumes: ClusterOnMountTest. */
class ClusterCommandTest {
    @TempDir
    Path folder;

    private String etc = "etc";
    private StringWriter out = new StringWriter();
    private StringWriter err = new StringWriter();
    private Path tree;

    @BeforeEach
    void makeATree() throws IOException {
        for (String volume : List.of("a", "b", "c", "d")) {
            Files.createDirectories(folder.resolve(volume).resolve(".snapshots"));
        }
        tree = Files.createDirectories(folder.resolve("tree/sub/empty"))
                .getParent()
                .getParent();
        Files.writeString(tree.resolve("sub/text"), "some text");
        Files.createFile(tree.resolve("nothing"));
        Files.setPosixFilePermissions(tree.resolve("sub/text"), PosixFilePermissions.fromString("r--r-x---"));
        Files.setPosixFilePermissions(tree.resolve("sub"), PosixFilePermissions.fromString("rwx------"));
        Files.createSymbolicLink(tree.resolve("link"), Path.of("sub/text"));
        Files.setLastModifiedTime(tree.resolve("sub/text"), FileTime.from(Instant.ofEpochSecond(-100, 5000)));
        Files.setLastModifiedTime(tree.resolve("sub"), FileTime.from(Instant.ofEpochSecond(12345)));
    }

    private int cluster(String... words) {
        out = new StringWriter();
        err = new StringWriter();
        Environment environment = new Environment(
                Map.of("SDFS_CONFIG_DIR", folder.resolve(etc).toString()),
                new PrintWriter(out, true),
                new PrintWriter(err, true));
        return CommandRunner.run(
                new SdfsCli(environment),
                environment,
                Stream.concat(Stream.of("cluster"), Stream.of(words)).toArray(String[]::new));
    }

    private void succeed(String... words) {
        assertEquals(ExitCode.OK, cluster(words), () -> out + " " + err);
    }

    private String volume(String name) {
        return "--volume=" + folder.resolve(name);
    }

    private String path(String name) {
        return folder.resolve(name).toString();
    }

    @Test
    void aTreeComesBackAsItWas() throws IOException {
        succeed("create", "home", volume("a"), volume("b"), volume("c"));
        succeed("put", "home", "one", tree.toString());
        assertTrue(out.toString().contains("2 files"), out::toString);
        succeed("get", "home", "one", path("new"));
        Path made = folder.resolve("new");
        assertEquals("some text", Files.readString(made.resolve("link")));
        assertEquals("sub/text", Files.readSymbolicLink(made.resolve("link")).toString());
        assertTrue(Files.isDirectory(made.resolve("sub/empty")));
        assertEquals(0, Files.size(made.resolve("nothing")));
        for (String path : List.of("sub", "sub/text", "nothing", "")) {
            for (String attribute : List.of("unix:mode", "lastModifiedTime", "unix:uid", "unix:gid")) {
                assertEquals(
                        Files.getAttribute(tree.resolve(path), attribute, LinkOption.NOFOLLOW_LINKS),
                        Files.getAttribute(made.resolve(path), attribute, LinkOption.NOFOLLOW_LINKS),
                        path + " " + attribute);
            }
        }
        assertEquals(ExitCode.FAILED, cluster("get", "home", "one", path("new")), "it is not empty");
        succeed("get", "home", "one", path("part"), "--only=sub");
        assertEquals("some text", Files.readString(folder.resolve("part/text")));
        succeed("get", "home", "one", path("file"), "--only=sub/text");
        assertEquals("some text", Files.readString(folder.resolve("file")));
        assertEquals(ExitCode.FAILED, cluster("get", "home", "one", path("x"), "--only=su"));
        assertEquals(ExitCode.FAILED, cluster("get", "home", "none", path("x")));
        assertFalse(Files.exists(folder.resolve("x")));
        // A file alone.
        succeed("put", "home", "alone", tree.resolve("link").toString());
        succeed("get", "home", "alone", path("again"));
        assertEquals("some text", Files.readString(folder.resolve("again")));
        succeed("ls", "home", "one");
        assertTrue(out.toString().contains("sub/text"), out::toString);
        succeed("ls", "home", "--json");
        assertEquals(2, ((List<?>) Json.read(out.toString()).get("archives")).size());
    }

    @Test
    void whatCannotBeKeptIsTold() throws IOException {
        succeed("create", "home", volume("a"));
        new ProcessBuilder("mkfifo", tree.resolve("pipe").toString())
                .start()
                .onExit()
                .join();
        assertEquals(ExitCode.INCOMPLETE, cluster("put", "home", "one", tree.toString()));
        assertTrue(err.toString().contains("left out: " + tree.resolve("pipe")), err::toString);
        succeed("get", "home", "one", path("new"));
        assertEquals(ExitCode.FAILED, cluster("put", "home", "two", path("nowhere")));
        assertEquals(ExitCode.USAGE, cluster("put", "home", "a/b", tree.toString()));
        assertEquals(ExitCode.USAGE, cluster("create", "no/name", volume("a")));
        assertEquals(ExitCode.USAGE, cluster());
        assertEquals(ExitCode.FAILED, cluster("status", "unknown"));
        assertTrue(err.toString().contains("cluster attach"), err::toString);
    }

    private Cluster open() throws IOException {
        return Cluster.open("home", List.of(folder.resolve("a")));
    }

    @Test
    void noLinkIsMadeOutsideOfTheTarget() throws IOException {
        succeed("create", "home", volume("a"));
        Path outside = folder.resolve("b");
        try (Cluster cluster = open();
                ArchiveWriter writer = cluster.write("hostile")) {
            writer.add(new ArchiveEntry(Kind.FOLDER, "", 0755, 0, 0, 0, 0, 0, 0, ""));
            writer.add(new ArchiveEntry(Kind.LINK, "x", 0777, 0, 0, 0, 0, 0, 0, outside.toString()));
            writer.add(new ArchiveEntry(Kind.LINK, "x/y", 0777, 0, 0, 0, 0, 0, 0, "z"));
            writer.finish();
        }
        assertEquals(ExitCode.FAILED, cluster("get", "home", "hostile", path("new")));
        assertFalse(Files.exists(outside.resolve("y"), LinkOption.NOFOLLOW_LINKS));
    }

    private static String modeOf(Path path) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void replaceByLink(Path file, Path target) {
        try {
            Files.delete(file);
            Files.createSymbolicLink(file, target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void nobodyElseReadsWhatIsBeingMade() throws IOException {
        Files.setPosixFilePermissions(tree, PosixFilePermissions.fromString("rwxr-xr-x"));
        succeed("create", "home", volume("a"));
        succeed("put", "home", "one", tree.toString());
        Path made = folder.resolve("new");
        int[] calls = new int[1];
        try (Cluster cluster = open()) {
            TreeRestorer restorer = new TreeRestorer(cluster.archive("one"), (stage, done, of) -> {
                if (Files.exists(made)) {
                    calls[0]++;
                    assertEquals("rwx------", modeOf(made));
                }
            });
            restorer.restore("", made);
        }
        assertTrue(calls[0] > 0, "the control");
        assertEquals("rwxr-xr-x", modeOf(made));
    }

    @Test
    void aLinkThatTakesTheNameOfAFileIsNotFollowed() throws Exception {
        succeed("create", "home", volume("a"));
        Path secret = Files.writeString(folder.resolve("secret"), "of another user");
        Path text = tree.resolve("sub/text");
        int status = new ProcessBuilder("sh", "-c", "ln -s \"$(printf '\\377')\" " + tree.resolve("bytes"))
                .start()
                .waitFor();
        assertEquals(0, status);
        // Folder, bytes, link, nothing, sub, sub/empty, sub/text.
        long entryOfText = 7;
        try (Cluster cluster = open();
                ArchiveWriter writer = cluster.write("one")) {
            TreeSaver saver = new TreeSaver(writer, (stage, done, of) -> {
                // Its attributes were read.
                if (stage.equals("entries") && done == entryOfText) {
                    replaceByLink(text, secret);
                }
            });
            saver.save(tree);
            writer.finish();
            assertEquals(2, saver.leftOut().size(), saver.leftOut()::toString);
            assertTrue(saver.leftOut().get(0).contains("not UTF-8"), saver.leftOut()::toString);
            assertTrue(saver.leftOut().get(1).contains("sub/text"), saver.leftOut()::toString);
        }
    }

    /** A mount point whose volume is not mounted. */
    @Test
    void nothingIsWrittenWhereNoVolumeIsMounted() throws IOException {
        Path bare = Files.createDirectory(folder.resolve("bare"));
        assertEquals(ExitCode.FAILED, cluster("create", "home", volume("a"), "--volume=" + bare));
        assertTrue(err.toString().contains("no volume is mounted on " + bare), err::toString);
        assertFalse(Files.exists(folder.resolve("a/home.cluster")), "nothing is made before all are known");
        succeed("create", "home", volume("a"));
        for (String command : List.of("add", "attach")) {
            assertEquals(ExitCode.FAILED, cluster(command, "home", "--volume=" + bare));
        }
        try (Stream<Path> inside = Files.list(bare)) {
            assertEquals(0, inside.count());
        }
    }

    @Test
    void volumesComeAndGo() throws IOException {
        succeed("create", "home", volume("a"), volume("b"), volume("c"));
        assertEquals(ExitCode.FAILED, cluster("create", "home", volume("d")));
        succeed("put", "home", "one", tree.toString());
        succeed("add", "home", volume("d"));
        succeed("remove", "home", volume("a"));
        assertFalse(Files.exists(folder.resolve("a/home.cluster")));
        succeed("status", "home", "--json");
        assertEquals(3, ((List<?>) Json.read(out.toString()).get("volumes")).size());
        // Another machine.
        etc = "etc2";
        succeed("attach", "home", volume("b"), volume("c"), volume("d"));
        assertEquals(ExitCode.FAILED, cluster("attach", "other", volume("b")));
        // It is told again after a volume was added elsewhere.
        succeed("attach", "home", volume("b"), volume("c"));
        succeed("attach", "home", volume("b"), volume("c"), volume("d"));
        etc = "etc3";
        succeed("create", "home", volume("a"));
        assertEquals(ExitCode.FAILED, cluster("attach", "home", volume("b")), "another cluster of this name");
        etc = "etc2";
        succeed("get", "home", "one", path("new"));
        Files.move(folder.resolve("b"), folder.resolve("away"));
        assertEquals(ExitCode.FAILED, cluster("status", "home"));
        assertTrue(err.toString().contains("away: " + path("b")), err::toString);
        assertEquals(ExitCode.FAILED, cluster("gc", "home"));
        assertEquals(ExitCode.FAILED, cluster("remove", "home", volume("c"), "--lost"));
        succeed("remove", "home", volume("b"), "--lost");
        succeed("rm", "home", "one");
        succeed("gc", "home");
        succeed("check", "home");
        succeed("balance", "home");
        succeed("ls", "home");
        assertEquals("", out.toString());
    }
}
