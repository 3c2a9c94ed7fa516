package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code sdfscli VOLUME file}, {@code defrag} and {@code restore} of a mounted volume. */
class RestoreTest {
    private static final int MIB = 1 << 20;
    private static final int OLD_MIB = 16;

    @TempDir
    Path folder;

    @Test
    void aFragmentedFileIsFoundMendedAndRestored() throws IOException {
        try (MountedVolume volume = MountedVolume.makeWith(
                        Files.createDirectory(folder.resolve("fragmented")), "--hash-type=SHA256")
                .mount()) {
            byte[] content = writeFragmented(volume);
            String file = volume.mountPoint().resolve("tree/fragmented").toString();

            double before = figure(run(volume, "file", file, "--json"), "speedFactor");
            run(volume, "defrag", file, "--share=20");
            double after = figure(run(volume, "file", "tree/fragmented", "--json"), "speedFactor");
            assertTrue(after > 1.2 * before, () -> before + " MiB a container read before, " + after + " after");
            assertArrayEquals(content, Files.readAllBytes(Path.of(file)));

            Path restored = folder.resolve("restored");
            run(volume, "restore", volume.mountPoint().resolve("tree").toString(), restored.toString());
            assertSameTrees(volume.mountPoint().resolve("tree"), restored);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    @Test
    void damageInAContainerIsNamed() throws IOException {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("damaged")))
                .mount()) {
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), Bytes.random(1, 2 * MIB));
            volume.unmount();
            Path container = Damage.largest(Damage.files(volume.data(), ".container"));
            Damage.flipBit(container, Files.size(container) / 2);
            volume.mount();
            Commands.Result result = volume.script(
                    "sdfscli",
                    List.of(volume.name(), "restore", ".", folder.resolve("out").toString()));
            assertEquals(1, result.exitCode(), result::output);
            assertTrue(
                    Pattern.compile("damaged: .*/out/file: \\d+ bytes at offset \\d+")
                            .matcher(result.output())
                            .find(),
                    result::output);
        }
    }

    @Test
    void theUnmountOfAVolumeStopsItsRestoreWhichThenGoesOn() throws Exception {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("stopped")))
                .mount()) {
            byte[] content = Bytes.random(3, 32 * MIB);
            Bytes.writeAndSync(volume.mountPoint().resolve("file"), content);
            Path out = folder.resolve("out");
            Thread restoring = new Thread(() -> {
                try {
                    volume.script("sdfscli", List.of(volume.name(), "restore", "file", out.toString()));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            restoring.start();
            while (!Files.exists(out) && restoring.isAlive()) {
                Thread.sleep(1);
            }
            volume.unmount();
            restoring.join();
            volume.mount();
            if (Files.exists(folder.resolve(".out.sdfs-restore"))) {
                run(volume, "restore", "file", out.toString());
            }
            assertArrayEquals(content, Files.readAllBytes(out));
            assertFalse(Files.exists(folder.resolve(".out.sdfs-restore")));
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

    /** Of every file and folder; a folder's size is its file system's own business. */
    private static String attributes(Path tree) throws IOException {
        return Commands.succeed(
                "sh",
                "-c",
                "find '" + tree + "' -type d -printf '%P %m %U %G %T@\\n'"
                        + " -o -printf '%P %y %m %U %G %n %s %T@ %l\\n' | sort");
    }

    private static String run(MountedVolume volume, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(volume.name()));
        all.addAll(List.of(arguments));
        Commands.Result result = volume.script("sdfscli", all);
        assertEquals(0, result.exitCode(), result::output);
        return result.output();
    }

    private static double figure(String json, String key) {
        Matcher matcher = Pattern.compile("\"" + key + "\"\\s*:\\s*([0-9.]+)").matcher(json);
        assertTrue(matcher.find(), json);
        return Double.parseDouble(matcher.group(1));
    }
}
