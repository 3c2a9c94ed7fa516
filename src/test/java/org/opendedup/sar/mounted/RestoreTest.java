package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** {@code sdfscli VOLUME file}, {@code defrag} and {@code restore} of a mounted volume. */
class RestoreTest {
    private static final int MIB = 1 << 20;
    private static final int OLD_MIB = 16;
    private static final int ATTACKED_FOLDERS = 30;
    /** Each kind of folder with each kind of attack. */
    private static final int ATTACKED_ROUNDS = 4;

    @TempDir
    Path folder;

    @Test
    void aFragmentedFileIsFoundMendedAndRestored() throws IOException {
        try (MountedVolume volume = MountedVolume.makeWith(folder.resolve("fragmented"), "--hash-type=SHA256")
                .mount()) {
            byte[] content = writeFragmented(volume);
            String file = volume.mountPoint().resolve("tree/fragmented").toString();

            double before = figure(volume.run("file", file, "--json"), "speedFactor");
            volume.run("defrag", file, "--share=20");
            double after = figure(volume.run("file", "tree/fragmented", "--json"), "speedFactor");
            assertTrue(after > 1.2 * before, () -> before + " MiB a container read before, " + after + " after");
            assertArrayEquals(content, Files.readAllBytes(Path.of(file)));

            Path restored = folder.resolve("restored");
            volume.run("restore", volume.mountPoint().resolve("tree").toString(), restored.toString());
            assertSameTrees(volume.mountPoint().resolve("tree"), restored);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    @Test
    void theUnmountOfAVolumeStopsItsRestoreWhichThenGoesOn() throws Exception {
        try (MountedVolume volume =
                MountedVolume.make(folder.resolve("stopped")).mount()) {
            byte[] content = Bytes.random(3, 32 * MIB);
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), content);
            Path out = folder.resolve("out");
            Thread restoring = new Thread(() -> {
                try {
                    volume.cli("restore", "file", out.toString());
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            restoring.start();
            while (!Files.exists(folder.resolve(".out.sdfs-restore/root")) && restoring.isAlive()) {
                Thread.sleep(1);
            }
            volume.unmount();
            restoring.join();
            volume.mount();
            if (Files.exists(folder.resolve(".out.sdfs-restore"))) {
                volume.run("restore", "file", out.toString());
            }
            assertArrayEquals(content, Files.readAllBytes(out));
            assertFalse(Files.exists(folder.resolve(".out.sdfs-restore")));
        }
    }

    @Test
    void aDestinationInTheVolumeItselfIsRefusedWhicheverPathLeadsThere() throws IOException {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("itself")).mount()) {
            Path inside = Files.createDirectory(volume.mountPoint().resolve("inside"));
            Files.write(volume.mountPoint().resolve("file"), Bytes.random(4, 5_000));
            Path link = Files.createSymbolicLink(folder.resolve("link"), inside);
            Path bound = Files.createDirectory(folder.resolve("bound"));
            Commands.succeed("mount", "--bind", inside, bound);
            try {
                for (Path within : List.of(
                        volume.mountPoint(),
                        volume.mountPoint().resolve("out"),
                        inside.resolve("out"),
                        link.resolve("out"),
                        bound,
                        bound.resolve("out"))) {
                    Commands.Result result = volume.cli("restore", "file", within.toString());
                    assertEquals(1, result.exitCode(), () -> within + ": " + result.output());
                    assertTrue(
                            result.output().contains(" lies in the volume itself"),
                            () -> within + ": " + result.output());
                }
            } finally {
                Commands.succeed("umount", bound);
            }
            // The control: an entry that leads through the volume to another file system is there.
            Path outside = Files.createDirectory(folder.resolve("outside"));
            Files.createSymbolicLink(inside.resolve("way"), outside);
            volume.run("restore", "file", inside.resolve("way/out").toString());
            assertArrayEquals(Bytes.random(4, 5_000), Files.readAllBytes(outside.resolve("out")));
        }
    }

    /**
     * Another user, in a folder where all may write, as /tmp is, replaces the destination by a link to a victim's
     * folder, and by its own folder, as often as possible, beginning before the restore.
     */
    @Test
    void anotherUserWhoPutsLinksInTheWayOfARestoreGetsNothing() throws Exception {
        Path shared = folderOfAll();
        try (MountedVolume volume =
                MountedVolume.make(folder.resolve("attacked")).mount()) {
            for (int i = 0; i < ATTACKED_FOLDERS; i++) {
                Path tree = Files.createDirectories(volume.mountPoint().resolve("tree/sub" + i));
                for (int j = 0; j < 10; j++) {
                    Files.write(tree.resolve("file" + j), Bytes.random(i * 100 + j, 5_000));
                }
            }
            Commands.succeed("sync", "-f", volume.mountPoint());
            for (int round = 0; round < ATTACKED_ROUNDS; round++) {
                // If the parent is not sticky, the attacker may also move the restored folder away.
                boolean isSticky = round % 2 == 0;
                Files.setAttribute(shared, "unix:mode", isSticky ? 01777 : 0777);
                Victim victim = Victim.make(folder.resolve("victim" + round));
                Path out = shared.resolve("out" + round);
                Commands.Result result;
                try (Attacker attacker = Attacker.start(out, victim, round % 4 < 2)) {
                    result = volume.cli("restore", "tree", out.toString());
                }
                victim.assertUntouched();
                if (result.exitCode() != 0) {
                    assertEquals(1, result.exitCode());
                    assertFalse(result.output().contains("Exception"), result::output);
                } else if (isSticky) {
                    assertSameTrees(volume.mountPoint().resolve("tree"), out);
                }
            }
            // Without an attacker it works there.
            Path free = shared.resolve("free");
            volume.run("restore", "tree", free.toString());
            assertSameTrees(volume.mountPoint().resolve("tree"), free);
        }
    }

    /** A folder that other users reach, and where all may write. */
    private Path folderOfAll() throws IOException {
        Files.setAttribute(folder, "unix:mode", 0711);
        Path shared = Files.createDirectory(folder.resolve("shared"));
        Files.setAttribute(shared, "unix:mode", 01777);
        return shared;
    }

    @Test
    void theAttackSucceedsOnWhatWorksByPath() throws Exception {
        // The control of the test above.
        Path shared = folderOfAll();
        Victim victim = Victim.make(folder.resolve("victim"));
        Path out = shared.resolve("out");
        try (Attacker attacker = Attacker.start(out, victim, false)) {
            while (victim.isUntouched()) {
                Commands.run(
                        "sh",
                        "-c",
                        "cd " + shared + "; mkdir out; chmod 0700 out; echo new > out/file0; rm -rf out out.moved");
            }
        }
    }

    /** A folder that only its owner, root, may change. */
    private record Victim(Path path, String before) {
        static Victim make(Path path) throws IOException {
            Files.createDirectories(path.resolve("sub0"));
            Files.writeString(path.resolve("file0"), "precious");
            return new Victim(path, state(path));
        }

        private static String state(Path path) throws IOException {
            return Commands.succeed("sh", "-c", "find '" + path + "' -printf '%P %m %U %G %s %T@\\n' | sort");
        }

        boolean isUntouched() throws IOException {
            return state(path).equals(before);
        }

        void assertUntouched() throws IOException {
            assertEquals(before, state(path));
        }
    }

    /**
     * A process of the user nobody that replaces the destination. If it waits, it makes a link there as soon as the
     * restore has checked that nothing is there.
     */
    private record Attacker(Process process) implements AutoCloseable {
        static Attacker start(Path out, Victim victim, boolean waits) throws IOException {
            String loop = "import os,sys\n"
                    + "out,victim=sys.argv[1:]\n"
                    + "work=os.path.dirname(out)+'/.'+os.path.basename(out)+'.sdfs-restore'\n"
                    + "def attempt(call,*names):\n"
                    + "  try: call(*names)\n"
                    + "  except OSError: pass\n"
                    + "print('attacking',flush=True)\n"
                    + (waits ? "while not os.path.lexists(work): pass\n" : "")
                    + "while True:\n"
                    + "  attempt(os.symlink,victim,out)\n"
                    + (waits ? "  continue\n" : "")
                    + "  attempt(os.unlink,out)\n"
                    + "  attempt(os.mkdir,out)\n"
                    + "  attempt(os.rename,out,out+'.moved')\n"
                    + "  attempt(os.symlink,victim,work)\n"
                    + "  attempt(os.unlink,work)\n";
            Process process = new ProcessBuilder(
                            "setpriv",
                            "--reuid=65534",
                            "--regid=65534",
                            "--clear-groups",
                            "/usr/bin/python3",
                            "-c",
                            loop,
                            out.toString(),
                            victim.path().toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            process.inputReader().readLine();
            return new Attacker(process);
        }

        @Override
        public void close() throws InterruptedException {
            assertTrue(process.isAlive(), "the attacker gave up");
            process.destroyForcibly().waitFor();
        }
    }

    /** A file that wants little of each container of another one. */
    private static byte[] writeFragmented(MountedVolume volume) throws IOException {
        Path tree = Files.createDirectory(volume.mountPoint().resolve("tree"));
        byte[] old = Bytes.random(1, OLD_MIB * MIB);
        Bytes.writeAndSync(tree.resolve("old"), old);
        byte[] own = Bytes.random(2, OLD_MIB * MIB / 4);
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (int i = 0; i < OLD_MIB; i++) {
            content.write(old, i * MIB, 16 << 10);
            content.write(own, i * (MIB / 4), MIB / 4);
        }
        Bytes.writeAndSync(tree.resolve("fragmented"), content.toByteArray());
        Files.createLink(tree.resolve("other name"), tree.resolve("old"));
        Files.createSymbolicLink(tree.resolve("link"), Path.of("old"));
        return content.toByteArray();
    }

    private static void assertSameTrees(Path expected, Path found) throws IOException {
        Commands.succeed("diff", "-r", "--no-dereference", expected, found);
        assertEquals(attributes(expected), attributes(found));
    }

    /** Of every file and folder; the size of a folder depends on its file system. */
    private static String attributes(Path tree) throws IOException {
        return Commands.succeed(
                "sh",
                "-c",
                "find '" + tree + "' -type d -printf '%P %m %U %G %T@\\n'"
                        + " -o -printf '%P %y %m %U %G %n %s %T@ %l\\n' | sort");
    }

    private static double figure(String json, String key) {
        Matcher matcher = Pattern.compile("\"" + key + "\"\\s*:\\s*([0-9.]+)").matcher(json);
        assertTrue(matcher.find(), json);
        return Double.parseDouble(matcher.group(1));
    }
}
