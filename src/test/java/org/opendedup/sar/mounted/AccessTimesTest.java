package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** Access times under the options of mount(8). Each case checks a time that changes and one that does not. */
class AccessTimesTest {
    @TempDir
    Path folder;

    /** Mounts with options. */
    private static void mount(MountedVolume volume, String options) throws IOException {
        Commands.Result mounted = volume.script(
                "mount.sdfs",
                List.of("-o", options, volume.name(), volume.mountPoint().toString()));
        assertEquals(0, mounted.exitCode(), mounted::output);
        volume.adopt();
    }

    /** Access, modification and change time. */
    private static List<String> times(Path path) throws IOException {
        return List.of(Commands.succeed("stat", "-c", "%x;%y;%z", path).strip().split(";"));
    }

    private static String accessed(Path path) throws IOException {
        return times(path).get(0);
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Reads like a program, at a time later than all changes before, by any clock. */
    private static void read(Path file) throws IOException {
        pause(20);
        Commands.succeed("cat", file);
    }

    private static void checkOnlyAccessChanged(List<String> before, List<String> after) {
        assertNotEquals(before.get(0), after.get(0), "reading left the access time alone");
        assertEquals(before.subList(1, 3), after.subList(1, 3));
    }

    private MountedVolume volume(String name) throws IOException {
        return MountedVolume.make(folder.resolve(name));
    }

    @Test
    void readingSetsTheTimeOnceAfterEachChange() throws IOException {
        try (MountedVolume volume = volume("read")) {
            mount(volume, "rw");
            Path file = Files.writeString(volume.mountPoint().resolve("file"), "aaa");
            List<String> made = times(file);
            read(file);
            List<String> readOnce = times(file);
            checkOnlyAccessChanged(made, readOnce);
            read(file);
            assertEquals(readOnce, times(file), "the time was not behind any change");
            pause(20);
            Commands.succeed("sh", "-c", "printf bbbb >> " + file);
            assertEquals(readOnce.get(0), times(file).get(0), "writing set the access time");
            read(file);
            String last = times(file).get(0);
            assertNotEquals(readOnce.get(0), last);

            // It is as durable as any unsynced change.
            volume.unmount();
            mount(volume, "rw");
            assertEquals(last, times(file).get(0));
        }
    }

    @Test
    void foldersAndLinksHaveThemTooAndNoatimeOpeningsSetNone() throws IOException {
        try (MountedVolume volume = volume("kinds")) {
            volume.mount();
            Path made = Files.createDirectory(volume.mountPoint().resolve("folder"));
            Path file = Files.write(made.resolve("file"), Bytes.random(1, 3 << 20));
            Path link = Files.createSymbolicLink(made.resolve("link"), Path.of("file"));
            String before = accessed(file);
            pause(20);
            Commands.succeed("dd", "if=" + file, "of=/dev/null", "iflag=noatime");
            assertEquals(before, accessed(file), "an opening with O_NOATIME set the time");
            volume.dropKernelCaches();
            Commands.succeed("dd", "if=" + file, "of=/dev/null", "iflag=noatime");
            assertEquals(before, accessed(file), "a request of an opening with O_NOATIME set the time");
            read(file);
            assertNotEquals(before, accessed(file));

            String listed = accessed(made);
            pause(20);
            Commands.succeed("ls", made);
            assertNotEquals(listed, accessed(made));
            String followed = accessed(link);
            pause(20);
            Commands.succeed("readlink", link);
            assertNotEquals(followed, accessed(link));
        }
    }

    @Test
    void theOptionsOfTheMountHold() throws IOException {
        try (MountedVolume volume = volume("options")) {
            mount(volume, "nodiratime");
            Path made = Files.createDirectory(volume.mountPoint().resolve("folder"));
            Path file = Files.writeString(made.resolve("file"), "aaa");
            String ofFolder = accessed(made);
            String ofFile = accessed(file);
            Commands.succeed("ls", made);
            read(file);
            assertEquals(ofFolder, accessed(made));
            assertNotEquals(ofFile, accessed(file));

            volume.unmount();
            mount(volume, "strictatime");
            ofFile = accessed(file);
            ofFolder = accessed(made);
            read(file);
            Commands.succeed("ls", made);
            assertNotEquals(ofFile, accessed(file));
            assertNotEquals(ofFolder, accessed(made));
            ofFile = accessed(file);
            read(file);
            assertNotEquals(ofFile, accessed(file));

            volume.unmount();
            mount(volume, "noatime");
            Commands.succeed("touch", "-m", file);
            checkNothingSets(volume, made, file);

            volume.unmount();
            mount(volume, "ro,strictatime");
            checkNothingSets(volume, made, file);
        }
    }

    /** The kernel executes a remount by itself, and does not inform the daemon. */
    @Test
    void aRemountIsHeeded() throws IOException {
        try (MountedVolume volume = volume("remounted")) {
            mount(volume, "strictatime");
            Path made = Files.createDirectory(volume.mountPoint().resolve("folder"));
            Path file = Files.writeString(made.resolve("file"), "aaa");
            for (String options : List.of("noatime", "ro,strictatime")) {
                remount(volume, options);
                checkNothingSets(volume, made, file);
                remount(volume, "rw,strictatime");
                String before = accessed(file);
                read(file);
                assertNotEquals(before, accessed(file));
            }
        }
    }

    private static void remount(MountedVolume volume, String options) throws IOException {
        Commands.succeed("mount", "-i", "-o", "remount," + options, volume.mountPoint());
        // The daemon checks at most ten times a second.
        pause(200);
    }

    private static void checkNothingSets(MountedVolume volume, Path made, Path file) throws IOException {
        List<String> before = List.of(accessed(file), accessed(made));
        read(file);
        volume.dropKernelCaches();
        read(file);
        Commands.succeed("ls", made);
        assertEquals(before, List.of(accessed(file), accessed(made)));
    }
}
