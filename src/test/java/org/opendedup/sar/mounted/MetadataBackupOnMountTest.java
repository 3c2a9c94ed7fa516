package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.command.Json;

/** The procedures of docs/OPERATIONS.md for lost or damaged metadata, on a real mount. */
@Timeout(300)
class MetadataBackupOnMountTest {
    private static final int FILE_BYTES = 3 << 20;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);

    @TempDir
    Path folder;

    private MountedVolume make(String... options) throws IOException {
        return MountedVolume.makeWith(Files.createDirectory(folder.resolve("pool")), options)
                .mount();
    }

    private static void fill(MountedVolume volume, int first, int end) throws IOException {
        for (int file = first; file < end; file++) {
            Bytes.writeAndSync(volume.mountPoint().resolve("file" + file), Bytes.random(file, FILE_BYTES));
        }
    }

    private static void assertFiles(MountedVolume volume, int end) throws IOException {
        for (int file = 0; file < end; file++) {
            assertArrayEquals(
                    Bytes.random(file, FILE_BYTES),
                    Files.readAllBytes(volume.mountPoint().resolve("file" + file)),
                    "file" + file);
        }
    }

    private static Map<String, Object> run(MountedVolume volume, String script, String... options) throws IOException {
        var all = new ArrayList<>(List.of(volume.name()));
        all.addAll(List.of(options));
        all.add("--json");
        Commands.Result result = volume.script(script, all);
        assertTrue(List.of(0, 4).contains(result.exitCode()), result::output);
        return Json.read(result.output());
    }

    private static List<Path> files(Path folder, String kind) throws IOException {
        try (Stream<Path> list = Files.list(folder)) {
            return list.filter(file -> file.getFileName().toString().contains(kind))
                    .filter(file -> file.toFile().length() > 0)
                    .sorted()
                    .toList();
        }
    }

    /** Returns the tables of the database that a backup has too; of a table written later there is no copy. */
    private static List<Path> tablesWithBackup(MountedVolume volume) throws IOException {
        List<Path> backedUp = Damage.files(volume.data().resolve("metadata-backups"), "");
        List<Path> tables = new ArrayList<>();
        for (Path table : files(volume.metadata(), ".sst")) {
            for (Path copy : backedUp) {
                if (Files.mismatch(table, copy) < 0) {
                    tables.add(table);
                    break;
                }
            }
        }
        return tables;
    }

    private void flipBitInOneOf(List<Path> files) throws IOException {
        assertFalse(files.isEmpty());
        Path file = files.get(random.nextInt(files.size()));
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
    }

    @Test
    void theNewestAutomaticBackupBringsAVolumeBackWhoseDatabaseIsDamaged() throws IOException {
        try (MountedVolume volume = make()) {
            fill(volume, 0, 3);
            volume.unmount();
            volume.mount();
            List<Map<String, Object>> backups =
                    Json.objects(run(volume, "sdfscli", "metadata-backup", "--list"), "backups");
            assertEquals(1, backups.size(), "the unmount has made the first one");
            fill(volume, 3, 5);
            volume.unmount();
            flipBitInOneOf(files(volume.metadata(), "MANIFEST-"));
            Commands.Result refused = volume.tryMount(volume.mountPoint());
            assertFalse(refused.exitCode() == 0, refused::output);
            String told = refused.output() + Files.readString(volume.log());
            assertTrue(refused.output().contains("sdfs-check " + volume.name() + " --restore-metadata"), told);
            Map<String, Object> report = Json.object(run(volume, "sdfs-check", "--restore-metadata"), "metadata");
            assertTrue(Json.number(Json.object(report, "newer"), "containers") > 0, report::toString);
            assertEquals(0, Json.number(report, "damagedFiles"), report::toString);
            volume.mount();
            assertFiles(volume, 3);
            assertFalse(Files.exists(volume.mountPoint().resolve("file3")));
            Map<String, Object> accepted = run(volume, "sdfscli", "metadata-backup", "--accept-restored");
            assertEquals(true, accepted.get("accepted"));
        }
    }

    @Test
    void anOffSiteCopyBringsAVolumeBackWhoseMetadataAreLost() throws IOException {
        Path elsewhere = folder.resolve("elsewhere");
        try (MountedVolume volume = make("--metadata-backup-interval=off")) {
            fill(volume, 0, 3);
            run(volume, "sdfscli", "metadata-backup", elsewhere.toString());
            volume.unmount();
            assertFalse(Files.exists(volume.data().resolve("metadata-backups")), "automatic backups are off");
            Commands.succeed("rm", "-r", volume.metadata());
            Commands.succeed("mkdir", "-m", "700", volume.metadata());
            run(volume, "sdfs-check", "--restore-metadata=" + elsewhere + "/");
            volume.mount();
            assertFiles(volume, 3);
        }
    }

    @Test
    void aDamagedTableIsMendedWithoutLosingAnything() throws IOException {
        try (MountedVolume volume = make()) {
            fill(volume, 0, 3);
            volume.unmount();
            volume.mount();
            fill(volume, 3, 4);
            volume.unmount();
            flipBitInOneOf(tablesWithBackup(volume));
            Map<String, Object> report = Json.object(run(volume, "sdfs-check", "--salvage-metadata"), "metadata");
            assertEquals(1, ((List<?>) report.get("mended")).size(), report::toString);
            volume.mount();
            assertFiles(volume, 4);
        }
    }
}
