package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** {@code sdfscli VOLUME status} and {@code support-bundle} of real mounts: well, on a failing disk, with damage. */
@Timeout(300)
class StatusTest {
    private static final int BYTES = 2 << 20;

    @TempDir
    Path folder;

    private static Commands.Result status(MountedVolume volume, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(volume.name()));
        all.addAll(List.of(arguments));
        return volume.script("sdfscli", all);
    }

    private static void awaitStatus(int exitCode, MountedVolume volume) throws Exception {
        Commands.Result result = status(volume);
        while (result.exitCode() != exitCode) {
            Thread.sleep(50);
            result = status(volume);
        }
    }

    @Test
    void aDamagedFrameIsDamageAlsoAfterAMountUntilItsFileIsRemoved() throws Exception {
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("pool")))) {
            volume.mount();
            Path file = volume.mountPoint().resolve("file");
            Bytes.writeAndSync(file, Bytes.random(1, BYTES));
            volume.unmount();
            PackedContainer.largestIn(volume.data()).flipBitInFrames();
            volume.mount();
            awaitStatus(0, volume);
            assertThrows(IOException.class, () -> Files.readAllBytes(file));
            awaitStatus(2, volume);
            Commands.Result damaged = status(volume);
            assertTrue(damaged.output().startsWith("pool: damaged"), damaged::output);
            assertTrue(damaged.output().contains("  sdfscli pool damaged"), damaged::output);
            // A thread of its own marks the chunks after the read has failed.
            while (volume.figure("stats", "damagedChunks") == 0) {
                Thread.sleep(50);
            }
            assertTrue(volume.figure("stats", "failedReads") > 0);
            String log = Files.readString(volume.log());
            assertTrue(log.contains("READ /file"), log);

            volume.remount();
            Commands.Result known = status(volume);
            assertEquals(2, known.exitCode(), known::output);
            Files.delete(file);
            Commands.succeed("sync", volume.mountPoint());
            awaitStatus(0, volume);
            // Figures may be 200 ms old; the status never is.
            while (volume.figure("stats", "damagedChunks") > 0) {
                Thread.sleep(50);
            }
            volume.unmount();
            assertEquals(4, status(volume).exitCode(), "not mounted");
        }
    }

    @Test
    void aSupportBundleHasNoNamesAndNoContents() throws Exception {
        String content = "Zwetschgenkuchen".repeat(BYTES / 16);
        try (MountedVolume volume = MountedVolume.make(Files.createDirectory(folder.resolve("Xylophon7")))) {
            volume.mount();
            Path file = Files.createDirectory(volume.mountPoint().resolve("Geheimplan of Quastenflosser"))
                    .resolve("Gehaltsliste 2026.xlsx");
            Bytes.writeAndSync(file, content.getBytes(StandardCharsets.UTF_8));
            volume.unmount();
            PackedContainer.largestIn(volume.data()).flipBitInFrames();
            volume.mount();
            assertThrows(IOException.class, () -> Files.readAllBytes(file));
            List<String> secrets = List.of(
                    "Xylophon7",
                    "Geheimplan",
                    "Quastenflosser",
                    "Gehaltsliste",
                    volume.mountPoint().toString());
            Path without = folder.resolve("without.zip");
            Commands.Result bundled = status(volume, "support-bundle", without.toString());
            assertEquals(0, bundled.exitCode(), bundled::output);
            String text = contents(without);
            for (String secret : secrets) {
                assertFalse(text.contains(secret), () -> secret + " is in " + lineWith(secret, text));
            }
            assertFalse(text.contains("Zwetschgen"), "file contents");
            String host = InetAddress.getLocalHost().getHostName();
            assertFalse(text.matches("(?s).*\\b" + host + "\\b.*"), () -> "the host: " + lineWith(host, text));
            assertTrue(text.contains("READ name-"), "the failed request is there");

            Path with = folder.resolve("with.zip");
            assertEquals(
                    0,
                    status(volume, "support-bundle", "--with-names", with.toString())
                            .exitCode());
            String named = contents(with);
            for (String secret : secrets) {
                assertTrue(named.contains(secret), () -> "the control: no " + secret);
            }
            volume.unmount();
        }
    }

    private static String lineWith(String text, String all) {
        return all.lines().filter(line -> line.contains(text)).findFirst().orElse("");
    }

    private static String contents(Path bundle) throws IOException {
        var all = new StringBuilder();
        try (var zip = new ZipInputStream(Files.newInputStream(bundle))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                all.append(entry.getName()).append('\n');
                all.append(new String(zip.readAllBytes(), StandardCharsets.UTF_8))
                        .append('\n');
            }
        }
        return all.toString();
    }
}
