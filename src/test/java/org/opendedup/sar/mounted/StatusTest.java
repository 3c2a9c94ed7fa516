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
    private static final int READS = 100;

    @TempDir
    Path folder;

    private static void awaitStatus(int exitCode, MountedVolume volume) throws Exception {
        Commands.Result result = volume.cli("status");
        while (result.exitCode() != exitCode) {
            Thread.sleep(50);
            result = volume.cli("status");
        }
    }

    @Test
    void aDamagedFrameIsDamageAlsoAfterAMountUntilItsFileIsRemoved() throws Exception {
        try (MountedVolume volume = MountedVolume.make(folder.resolve("pool"))) {
            volume.mount();
            Path file = volume.mountPoint().resolve("file");
            Bytes.writeAndSync(file, Bytes.random(1, BYTES));
            volume.unmount();
            PackedContainer.largestIn(volume.data()).flipBitInFrames();
            volume.mount();
            awaitStatus(0, volume);
            for (int i = 0; i < READS; i++) {
                assertThrows(IOException.class, () -> Files.readAllBytes(file));
            }
            awaitStatus(2, volume);
            Commands.Result damaged = volume.cli("status");
            assertTrue(damaged.output().startsWith("pool: damaged"), damaged::output);
            assertTrue(damaged.output().contains("  sdfscli pool damaged"), damaged::output);
            // A thread of its own marks the chunks after the read has failed.
            while (volume.figure("stats", "damagedChunks") == 0) {
                Thread.sleep(50);
            }
            assertTrue(volume.figure("stats", "failedReads") > 0);
            volume.remount();
            List<String> lines = Files.readAllLines(volume.log()).stream()
                    .filter(line -> line.matches("(?i).*(ERROR|WARN).*read /file.*"))
                    .toList();
            assertTrue(lines.get(0).contains("READ /file"), lines::toString);
            // The kernel requests a page that it cannot get more than once; each request is an event.
            assertTrue(lines.size() <= 10 && lines.toString().contains(" more times in the last "), lines::toString);
            Commands.Result known = volume.cli("status");
            assertEquals(2, known.exitCode(), known::output);
            Files.delete(file);
            Commands.succeed("sync", volume.mountPoint());
            awaitStatus(0, volume);
            // Figures may be 200 ms old; the status never is.
            while (volume.figure("stats", "damagedChunks") > 0) {
                Thread.sleep(50);
            }
            volume.unmount();
            assertEquals(4, volume.cli("status").exitCode(), "not mounted");
        }
    }

    @Test
    void aSupportBundleHasNoNamesAndNoContents() throws Exception {
        String content = "Zwetschgenkuchen".repeat(BYTES / 16);
        try (MountedVolume volume = MountedVolume.make(folder.resolve("Xylophon7"))) {
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
            Commands.Result bundled = volume.cli("support-bundle", without.toString());
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
                    volume.cli("support-bundle", "--with-names", with.toString())
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
