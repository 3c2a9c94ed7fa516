package org.opendedup.sar.mounted;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.sdfs.cli.command.ExitCode;

/** An encrypted volume from mkfs.sdfs to a lost key header, with the program's own commands and a daemon of its own. */
@Timeout(300)
class EncryptionOnMountTest {
    private static final String SECOND = "of the second slot";
    private static final String MARKER = "plainly visible words ";

    @TempDir
    Path folder;

    @Test
    void aVolumeIsOpenedByItsKeysOnly() throws Exception {
        try (MountedVolume volume =
                MountedVolume.makeWith(folder.resolve("secret"), "--encrypt").inItsOwnProcess()) {
            assertEquals(ExitCode.NO_KEY, mountWith(volume, "passphrase_file=" + secret("wrong")));
            assertEquals(ExitCode.USAGE, mountWith(volume, "passphrase_command=true,key_file=/dev/null"));
            assertFalse(volume.isMounted());

            volume.with("rw,passphrase-command=printf '" + MountedVolume.PASSPHRASE + "'")
                    .mount();
            Path file = volume.mountPoint().resolve("visible name");
            Bytes.writeAndSync(file, MARKER.repeat(5000).getBytes(ISO_8859_1));
            checkProcess(volume.pid());
            changeKeys(volume);
            checkHealth(volume);
            assertFalse(bundle(volume).contains(MountedVolume.PASSPHRASE));
            volume.unmount();

            assertEquals(List.of(), filesWith(MARKER));
            assertEquals(List.of(), filesWith("visible name"));
            assertEquals(List.of(), filesWith(MountedVolume.PASSPHRASE));
            assertEquals(1, filesWith(SECOND).size(), "the control: only the file of the passphrase");
            List<String> check = List.of(volume.name(), "--passphrase-file=" + secret(SECOND));
            assertEquals(ExitCode.OK, volume.script("sdfs-check", check).exitCode());
            loseTheHeader(volume);
            assertEquals(MARKER.repeat(5000), Files.readString(file));
            volume.unmount();
        }
    }

    private static int mountWith(MountedVolume volume, String option) throws IOException {
        return volume.with("rw," + option).tryMount(volume.mountPoint()).exitCode();
    }

    private Path secret(String text) throws IOException {
        return Files.writeString(folder.resolve("passphrase"), text + "\n");
    }

    /** The daemon got the master key, and no way to it is left in what other processes see, or a core dump has. */
    private static void checkProcess(long pid) throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        assertFalse(Files.readString(process.resolve("cmdline"), ISO_8859_1).contains("horse"));
        assertFalse(Files.readString(process.resolve("environ"), ISO_8859_1).contains("horse"));
        assertTrue(Files.readString(process.resolve("limits"))
                .lines()
                .anyMatch(line -> line.matches("Max core file size +0 +0 .*")));
        int filter = Integer.parseInt(
                Files.readString(process.resolve("coredump_filter")).strip(), 16);
        assertEquals(0, filter & 3, "anonymous memory, private and shared");
    }

    /** By commands, while the volume is mounted. */
    private void changeKeys(MountedVolume volume) throws IOException {
        volume.run("key", "add", "--label=second", "--new-passphrase-file=" + secret(SECOND));
        volume.run("key", "export", folder.resolve("export").toString());
        volume.run("key", "remove", "0", "--passphrase-file=" + secret(SECOND));
        assertEquals(ExitCode.NO_KEY, volume.cli("key", "test").exitCode());
        String audit = volume.run("audit");
        assertTrue(audit.contains("action=remove") && audit.contains("slots=[1]"), audit);
    }

    private void checkHealth(MountedVolume volume) throws IOException {
        Path copy = volume.metadata().resolve("volume.keys");
        Files.delete(copy);
        TestWait.until(() -> volume.cli("status").output().contains("has not two good copies"));
        volume.run("key", "test", "--passphrase-file=" + secret(SECOND));
        assertTrue(Files.exists(copy));
        TestWait.until(() -> volume.cli("status").exitCode() == ExitCode.OK);

        // Only the daemon has the key: to others, the good copy looks like an old one.
        byte[] good = Files.readAllBytes(copy);
        byte[] forged = good.clone();
        // The generation.
        forged[30] ^= 2;
        Files.write(copy, ParserSet.withCrc(forged, -4));
        String told = "somebody without the master key changed it";
        TestWait.until(
                () -> volume.cli("status").output().replaceAll("\\s+", " ").contains(copy + ": " + told));
        String list = volume.run("key", "list");
        assertTrue(list.contains("Only checksums were checked") && !list.contains(told), list);
        volume.run("key", "test", "--passphrase-file=" + secret(SECOND));
        assertArrayEquals(good, Files.readAllBytes(copy));
    }

    private String bundle(MountedVolume volume) throws IOException {
        Path bundle = folder.resolve("bundle.zip");
        volume.run("support-bundle", bundle.toString());
        var text = new StringBuilder();
        try (var zip = new ZipInputStream(Files.newInputStream(bundle))) {
            while (zip.getNextEntry() != null) {
                text.append(new String(zip.readAllBytes(), ISO_8859_1));
            }
        }
        assertTrue(text.indexOf("encrypted=") >= 0, "the control: the volume file is in it");
        return text.toString();
    }

    private void loseTheHeader(MountedVolume volume) throws IOException {
        Files.delete(volume.metadata().resolve("volume.keys"));
        Files.delete(volume.data().resolve("volume.keys"));
        assertEquals(ExitCode.DAMAGED, mountWith(volume, "passphrase_file=" + secret(SECOND)));
        volume.run("key", "add", "--from-export=" + folder.resolve("export"), "--new-key-file=" + secret("third"));
        volume.with("rw,key_file=" + secret("third")).mount();
    }

    private List<Path> filesWith(String text) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> contains(file, text))
                    .toList();
        }
    }

    private static boolean contains(Path file, String text) {
        try {
            return Files.readString(file, ISO_8859_1).contains(text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
