package org.opendedup.sar.mounted;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** Other users of the machine get no access to a volume's own files, whatever the umask is. User 65534 plays them. */
class PrivateStoreTest {
    private static final String[] AS_NOBODY = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    private static final String SECRET_NAME = "a-name-that-is-nobodys-business";
    private static final String SECRET = "words that are nobody's business\n";

    @TempDir
    Path folder;

    /** The tests' own folder is private, which would hide every mistake. */
    @BeforeEach
    void letEverybodyIn() throws IOException {
        setMode(folder, "rwxr-xr-x");
    }

    @Test
    void othersSeeNothingOfWhatAVolumeKeepsAndAWideOneIsNarrowedOnce() throws IOException {
        try (MountedVolume volume = make("0")) {
            volume.mount();
            keepSecrets(volume);
            assertIsPrivate(volume);
            volume.run("snapshot", "create", "kept");
            Files.createFile(volume.mountPoint().resolve("new"));
            volume.unmount();
            assertIsPrivate(volume);
            // Opens the volume outside of the daemon.
            volume.run("snapshot", "rollback", "kept");
            assertIsPrivate(volume);
            for (Path place : places(volume)) {
                Commands.succeed("chmod", "-R", "go+rX", place);
            }
            // The control: without the protection, this attacker succeeds.
            assertTrue(isFoundByNobody(volume, SECRET));
            assertTrue(isFoundByNobody(volume, SECRET_NAME));
            assertEquals(
                    0, asNobody("flock", "-sn", databaseLock(volume), "true").exitCode());

            Commands.Result mounted = volume.tryMount(volume.mountPoint());
            volume.adopt();

            assertTrue(mounted.output().contains("other users had permissions for "), mounted::output);
            assertTrue(Files.readString(volume.log()).contains("other users had permissions for "));
            assertIsPrivate(volume);
            assertSecretsAreThere(volume);
            volume.unmount();
            Commands.Result again = volume.tryMount(volume.mountPoint());
            volume.adopt();
            assertFalse(again.output().contains("other users"), again::output);
        }
    }

    @Test
    void aPlaceWhereOthersMayWriteIsRefused() throws IOException {
        try (MountedVolume volume = make("")) {
            Path above = folder.resolve("kept");
            for (Path open : List.of(volume.metadata(), above)) {
                Path real = open.equals(volume.metadata()) ? volume.metadata().getParent() : open;
                String before = PosixFilePermissions.toString(Files.getPosixFilePermissions(real));
                setMode(real, "rwxr-xrwx");
                assertRefused(volume, "chmod go-w " + real);
                setMode(real, before);
            }
            Commands.succeed("chmod", "1777", above); // like /tmp: no user can replace another's entries there
            Commands.succeed("chown", "65534", volume.data());
            assertRefused(volume, volume.data() + ": it belongs to user 65534");
            Commands.succeed("chown", "0", volume.data());
            volume.mount();
        }
    }

    private void assertRefused(MountedVolume volume, String message) throws IOException {
        Commands.Result refused = volume.tryMount(volume.mountPoint());
        assertEquals(1, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains(message), refused::output);
        assertFalse(volume.isMounted());
    }

    @Test
    void whoMakesAFileInTheVolumeSaysItsMode() throws IOException {
        try (MountedVolume volume = make("0").mount()) {
            Commands.succeed(
                    "sh",
                    "-c",
                    "cd " + volume.mountPoint()
                            + " && umask 0 && touch file && mkdir folder && mkfifo fifo && umask 027 "
                            + "&& touch file2 && mkdir folder2");
            assertEquals(
                    "666 777 666 640 750",
                    Commands.succeed(
                                    "sh",
                                    "-c",
                                    "cd " + volume.mountPoint()
                                            + " && stat -c %a file folder fifo file2 folder2 | xargs")
                            .strip());
            Path restored = folder.resolve("restored");
            Commands.Result result = volume.cli("restore", volume.mountPoint().toString(), restored.toString());
            assertEquals(0, result.exitCode(), result::output);
            assertEquals(
                    "666 777 666 640 750",
                    Commands.succeed(
                                    "sh",
                                    "-c",
                                    "cd " + restored + " && stat -c %a file folder fifo file2 folder2 | xargs")
                            .strip());
        }
    }

    /** @param umask that of the commands and the daemon; without one, that of the tests */
    private MountedVolume make(String umask) throws IOException {
        Path kept = Files.createDirectory(folder.resolve("kept"));
        setMode(kept, "rwxr-xr-x");
        String[] options = {
            "--chunk-store-compress=none", "--sar-ssd-location=" + kept.resolve("ssd"), "--sar-ssd-capacity=200MB"
        };
        return umask.isEmpty() ? MountedVolume.makeWith(kept, options) : MountedVolume.makeUnder(umask, kept, options);
    }

    private static List<Path> places(MountedVolume volume) {
        Path kept = volume.data().getParent();
        return List.of(kept.resolve("base"), volume.data(), volume.hashDb(), kept.resolve("ssd"));
    }

    private static Path databaseLock(MountedVolume volume) {
        return volume.metadata().resolve("LOCK");
    }

    private static void keepSecrets(MountedVolume volume) throws IOException {
        Path secret = Files.createDirectory(volume.mountPoint().resolve("secret"));
        setMode(secret, "rwx------");
        Bytes.writeAndSync(secret.resolve(SECRET_NAME), secretBytes());
    }

    private static byte[] secretBytes() {
        return SECRET.repeat(3000).getBytes(US_ASCII);
    }

    private static void assertSecretsAreThere(MountedVolume volume) throws IOException {
        byte[] found = Files.readAllBytes(volume.mountPoint().resolve("secret").resolve(SECRET_NAME));
        assertTrue(Arrays.equals(secretBytes(), found));
    }

    private static void assertIsPrivate(MountedVolume volume) throws IOException {
        List<String> wide = new ArrayList<>();
        for (Path place : places(volume)) {
            assertTrue(Files.isDirectory(place), place::toString);
            Files.walkFileTree(place, new WideFiles(wide));
        }
        assertEquals(List.of(), wide);
        assertTrue(Commands.run(grep(volume, SECRET)).exitCode() == 0, "the control: root finds it");
        assertFalse(isFoundByNobody(volume, SECRET));
        assertFalse(isFoundByNobody(volume, SECRET_NAME));
        assertTrue(asNobody("flock", "-sn", databaseLock(volume), "true").exitCode() != 0);
    }

    /** Notes files and folders for which others have permissions. A mounted volume may delete some meanwhile. */
    private static final class WideFiles extends SimpleFileVisitor<Path> {
        private final List<String> wide;

        WideFiles(List<String> wide) {
            this.wide = wide;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
            return note(folder);
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            return note(file);
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            return e instanceof NoSuchFileException ? FileVisitResult.CONTINUE : super.visitFileFailed(file, e);
        }

        private FileVisitResult note(Path path) throws IOException {
            try {
                String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
                if (!mode.endsWith("------")) {
                    wide.add(mode + " " + path);
                }
            } catch (NoSuchFileException e) {
                // Deleted since it was listed.
            }
            return FileVisitResult.CONTINUE;
        }
    }

    private static boolean isFoundByNobody(MountedVolume volume, String what) throws IOException {
        return asNobody(grep(volume, what)).output().contains(what.strip());
    }

    private static Object[] grep(MountedVolume volume, String what) {
        List<Object> words = new ArrayList<>(List.of("grep", "-ra", "-m1", what.strip()));
        words.addAll(places(volume));
        return words.toArray();
    }

    private static Commands.Result asNobody(Object... command) throws IOException {
        List<Object> words = new ArrayList<>(List.of((Object[]) AS_NOBODY));
        words.addAll(List.of(command));
        return Commands.run(words.toArray());
    }

    private static void setMode(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }
}
