package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.report.Json;

/**
 * The procedures of docs/operations/damage.md, "When a location is lost": each block of commands is taken from the page
 * and run, with other paths, after the loss that it is for. Also what the page says of backups of the metadata.
 */
@Timeout(600)
class ProceduresTest {
    private static final String SECTION = "## When a location is lost";
    private static final int FILES = 3;
    private static final int FILE_BYTES = 2 << 20;

    @TempDir
    Path folder;

    private MountedVolume volume;
    /** Number of calls of {@link #assertEverythingIsThereAndDuplicatesAreFound}. */
    private int checks;

    @BeforeEach
    void makeVolume() throws IOException {
        Path ssd = folder.resolve("ssd");
        volume =
                MountedVolume.makeWith(folder.resolve("pool0"), "--sar-ssd-location=" + ssd, "--sar-ssd-capacity=64MB");
        volume.withProperty("sar.index.look.ms", 300).mount();
        writeFiles();
    }

    private void writeFiles() throws IOException {
        for (int file = 0; file < FILES; file++) {
            Bytes.writeAndSync(volume.mountPoint().resolve("file" + file), Bytes.random(file, FILE_BYTES));
        }
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    /** Returns the blocks of commands below a paragraph that begins in bold like that. */
    private static List<String> blocks(String paragraph) throws IOException {
        String page = Files.readString(Commands.projectFolder().resolve("docs/operations/damage.md"));
        String section = page.substring(page.indexOf(SECTION) + SECTION.length());
        section = section.substring(0, section.indexOf("\n## "));
        int at = section.indexOf("**" + paragraph);
        assertTrue(at >= 0, "the page has no paragraph " + paragraph);
        int end = section.indexOf("\n**", at);
        List<String> blocks = new ArrayList<>();
        StringBuilder block = new StringBuilder();
        for (String line :
                section.substring(at, end < 0 ? section.length() : end).split("\n")) {
            if (line.startsWith("    ")) {
                block.append(line.substring(4)).append('\n');
            } else if (!block.isEmpty()) {
                blocks.add(block.toString());
                block.setLength(0);
            }
        }
        if (!block.isEmpty()) {
            blocks.add(block.toString());
        }
        assertFalse(blocks.isEmpty(), "no commands below " + paragraph);
        return blocks;
    }

    /** Runs the project's commands as the volume does, and the others by the shell, until one fails. */
    private Commands.Result run(String block) throws IOException {
        Commands.Result result = new Commands.Result(0, "");
        for (String line : withPlaces(block).split("\n")) {
            List<String> words = List.of(line.replaceFirst(" *#.*", "").split(" +"));
            result = InThisJvm.COMMANDS.contains(words.get(0))
                    ? volume.script(words.get(0), words.subList(1, words.size()))
                    : Commands.run("bash", "-c", line);
            if (result.exitCode() != 0) {
                break;
            }
        }
        return result;
    }

    private String withPlaces(String block) {
        var places = new LinkedHashMap<String, Path>();
        places.put("/srv/pool0/chunkstore/chunks", volume.data());
        places.put("/srv/pool0/ddb", volume.metadata());
        places.put("/srv2/pool0-chunks", folder.resolve("moved-chunks"));
        places.put("/srv/pool0", folder.resolve("pool0/base"));
        places.put("/srv/new", folder.resolve("new"));
        places.put("/ssd/pool0-hashdb", volume.hashDb());
        places.put("/ssd/pool0", folder.resolve("ssd"));
        places.put("/mnt/pool0", volume.mountPoint());
        places.put("/backup/pool0", folder.resolve("backup"));
        places.put("/etc/sdfs", volume.configFolder());
        // In one pass, so that no replacement is replaced again.
        String commands = block;
        int number = 0;
        for (String place : places.keySet()) {
            commands = commands.replace(place, "@" + number++ + "@");
        }
        number = 0;
        for (Path place : places.values()) {
            commands = commands.replace("@" + number++ + "@", place.toString());
        }
        return commands;
    }

    private void follow(String paragraph) throws IOException {
        for (String block : blocks(paragraph)) {
            Commands.Result result = run(block);
            assertEquals(0, result.exitCode(), () -> block + result.output());
        }
    }

    private void assertEverythingIsThereAndDuplicatesAreFound() throws IOException {
        assertFiles();
        awaitIndex();
        long before = volume.figure("stats", "storedBytes");
        checks++;
        for (int file = 0; file < FILES; file++) {
            Bytes.writeAndSync(
                    volume.mountPoint().resolve("again" + checks + "-" + file), Bytes.random(file, FILE_BYTES));
        }
        long grown = volume.figure("stats", "storedBytes") - before;
        assertTrue(grown < FILE_BYTES, () -> "duplicates took " + grown + " bytes");
    }

    private void assertFiles() throws IOException {
        for (int file = 0; file < FILES; file++) {
            assertArrayEquals(
                    Bytes.random(file, FILE_BYTES),
                    Files.readAllBytes(volume.mountPoint().resolve("file" + file)),
                    "file" + file);
        }
    }

    private void awaitIndex() throws IOException {
        String status;
        do {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            Commands.Result result = volume.cli("status", "--json");
            status = result.output().replaceAll("\\s", "");
        } while (!hasIndex() || !status.contains("\"updating\":false,\"complete\":true"));
    }

    /** The index may be made at this moment: then files vanish while they are listed. */
    private boolean hasIndex() {
        try (Stream<Path> all = Files.walk(volume.hashDb())) {
            return all.anyMatch(path -> path.endsWith("CURRENT"));
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }

    @Test
    void theIndexIsLostWhileMountedAndNotMounted() throws IOException {
        // A container that is open when the index is lost is added to the new one when it is sealed.
        volume.remount();
        Commands.succeed("rm", "-r", volume.hashDb());
        assertEverythingIsThereAndDuplicatesAreFound();
        assertTrue(Files.readString(volume.log()).contains("the fingerprint index of pool0 is lost"));
        volume.unmount();
        Commands.succeed("rm", "-r", volume.hashDb());
        follow("The index.");
        assertEverythingIsThereAndDuplicatesAreFound();
    }

    @Test
    void theSsdIsLostWhileMountedThenBothAreLost() throws IOException {
        Path ssd = folder.resolve("ssd");
        Commands.succeed("sh", "-c", "rm -r " + ssd + "/*");
        assertFiles();
        volume.remount();
        assertFiles();
        follow("The SSD.");
        assertEverythingIsThereAndDuplicatesAreFound();
        volume.unmount();
        Commands.succeed("rm", "-r", ssd, volume.hashDb());
        follow("Index and SSD.");
        assertEverythingIsThereAndDuplicatesAreFound();
    }

    @Test
    void theMetadataAreDamagedThenLost() throws IOException {
        volume.remount();
        assertEquals(
                1,
                Json.objects(report("sdfscli", "metadata-backup", "--list"), "backups")
                        .size(),
                "the unmount has made the first one");
        Path later = volume.mountPoint().resolve("later");
        Bytes.writeAndSync(later, Bytes.random(99, FILE_BYTES));
        volume.unmount();
        Path kept = folder.resolve("kept");
        Damage.copyTree(volume.metadata(), kept);
        String current = Files.readString(volume.metadata().resolve("CURRENT"));
        Files.delete(volume.metadata().resolve("CURRENT"));
        assertRefused(volume.metadata().toString());
        Damage.copyTree(kept, volume.metadata());
        Path manifest = volume.metadata().resolve(current.strip());
        Damage.flipBit(manifest, Files.size(manifest) / 2);
        assertRefused("sdfs-check pool0 --restore-metadata");
        Map<String, Object> restored = Json.object(report("sdfs-check", "--restore-metadata"), "metadata");
        assertTrue(Json.number(Json.object(restored, "newer"), "containers") > 0, restored::toString);
        assertEquals(0, Json.number(restored, "damagedFiles"), restored::toString);
        volume.mount();
        assertFiles();
        assertFalse(Files.exists(later));
        assertEquals(
                true, report("sdfscli", "metadata-backup", "--accept-restored").get("accepted"));
        volume.unmount();

        Commands.succeed("rm", "-r", volume.metadata());
        assertRefused("sdfs-check pool0 --restore-metadata");
        // Of an empty folder, such as the mount point of a disk.
        Commands.succeed("mkdir", "-m", "700", volume.metadata());
        assertRefused("sdfs-check pool0 --restore-metadata");
        Commands.succeed("rmdir", volume.metadata());
        follow("Names, recipes and counts, completely");
        assertEverythingIsThereAndDuplicatesAreFound();
    }

    private void assertRefused(String message) throws IOException {
        Commands.Result refused = volume.tryMount(volume.mountPoint());
        assertFalse(refused.exitCode() == 0, refused::output);
        assertTrue(refused.output().contains(message), refused::output);
    }

    private Map<String, Object> report(String script, String... options) throws IOException {
        var all = new ArrayList<>(List.of(volume.name()));
        all.addAll(List.of(options));
        all.add("--json");
        Commands.Result result = volume.script(script, all);
        assertTrue(List.of(0, 2).contains(result.exitCode()), result::output);
        return Json.read(result.output());
    }

    @Test
    void onlyAnOffSiteBackupOfTheMetadataSurvived() throws IOException {
        volume.close();
        volume = MountedVolume.makeWith(folder.resolve("second/pool0"), "--metadata-backup-interval=off")
                .withProperty("sar.index.look.ms", 300)
                .mount();
        writeFiles();
        report("sdfscli", "metadata-backup", folder.resolve("backup").toString());
        volume.unmount();
        assertFalse(Files.exists(volume.data().resolve("metadata-backups")), "automatic backups are off");
        Commands.succeed("rm", "-r", volume.metadata());
        follow("Beside the containers, only an off-site backup");
        assertEverythingIsThereAndDuplicatesAreFound();
    }

    @Test
    void theMetadataAreDamaged() throws IOException {
        volume.remount();
        Path later = volume.mountPoint().resolve("later");
        Bytes.writeAndSync(later, Bytes.random(99, FILE_BYTES));
        volume.unmount();
        List<String> blocks = blocks("Names, recipes and counts, damaged");
        assertEquals(2, blocks.size());
        damageTable();
        Commands.Result mended = run(blocks.get(0));
        assertEquals(0, mended.exitCode(), mended::output);
        volume.mount();
        assertFiles();
        assertArrayEquals(Bytes.random(99, FILE_BYTES), Files.readAllBytes(later));
        volume.unmount();
        damageTable();
        Commands.succeed("rm", "-r", volume.data().resolve("metadata-backups"));
        Commands.Result notMended = run(blocks.get(0));
        assertFalse(notMended.exitCode() == 0, () -> "control: no backup has the table: " + notMended.output());
        Commands.Result salvaged = run(blocks.get(1));
        assertTrue(List.of(0, 2).contains(salvaged.exitCode()), salvaged::output);
        volume.mount();
        for (int file = 0; file < FILES; file++) {
            Path path = volume.mountPoint().resolve("file" + file);
            byte[] found;
            try {
                found = Files.readAllBytes(path);
            } catch (IOException e) {
                assertTrue(salvaged.output().contains("file" + file), () -> path + " is not named: " + e);
                continue;
            }
            assertArrayEquals(Bytes.random(file, FILE_BYTES), found, path.toString());
        }
    }

    /** Damages the largest table that a backup has too; of a table written later there is no copy. */
    private void damageTable() throws IOException {
        List<Path> copies = Damage.files(volume.data().resolve("metadata-backups"), "");
        List<Path> tables = new ArrayList<>();
        for (Path table : Damage.files(volume.metadata(), ".sst")) {
            for (Path copy : copies) {
                if (Files.mismatch(table, copy) < 0) {
                    tables.add(table);
                    break;
                }
            }
        }
        Path table = Damage.largest(tables);
        Damage.flipBit(table, Files.size(table) / 3);
    }

    @Test
    void theContainersMove() throws IOException {
        follow("The containers move");
        assertEverythingIsThereAndDuplicatesAreFound();
    }

    @Test
    void containersAndMetadataComeBack() throws IOException {
        volume.unmount();
        Path backup = Files.createDirectory(folder.resolve("backup"));
        Commands.succeed("cp", "-a", volume.data(), backup.resolve("chunks"));
        Commands.succeed("cp", "-a", volume.metadata(), backup.resolve("ddb"));
        volume.mount();
        Bytes.writeAndSync(volume.mountPoint().resolve("later"), Bytes.random(99, FILE_BYTES));
        volume.unmount();
        Commands.succeed("rm", "-r", volume.data(), volume.metadata());
        follow("Containers and metadata come back");
        assertFalse(Files.exists(volume.mountPoint().resolve("later")));
        assertEverythingIsThereAndDuplicatesAreFound();
    }

    @Test
    void theVolumeFileIsLost() throws IOException {
        volume.unmount();
        Path file = volume.configFolder().resolve("pool0-volume-cfg.xml");
        // An administrator changes it, and then a command.
        String edited = Files.readString(file).replace("keep=\"4\"", "keep=\"5\"");
        Files.writeString(file, edited);
        volume.mount();
        run("sdfscli pool0 gc set --recompress=zstd:9");
        run("sdfscli pool0 set capacity=77TB");
        String space = Commands.succeed("df", "--output=size", "-B1", volume.mountPoint());
        assertTrue(space.contains(String.valueOf(77L << 40)), space);
        volume.unmount();
        String before = Files.readString(file);
        assertTrue(before.contains("keep=\"5\"") && !before.equals(edited), before);
        Files.delete(file);
        // By the commands as they are started.
        String path = Commands.projectFolder().resolve("scripts") + ":" + System.getenv("PATH");
        Map<String, String> variables =
                Map.of("SDFS_CONFIG_DIR", volume.configFolder().toString(), "PATH", path);
        for (String block : blocks("The volume file")) {
            Commands.Result result = Commands.run(variables, List.of("bash", "-ec", withPlaces(block)));
            assertEquals(0, result.exitCode(), () -> block + result.output());
        }
        assertEquals(before, Files.readString(file));
        volume.inItsOwnProcess().adopt();
        assertEverythingIsThereAndDuplicatesAreFound();
    }

    @Test
    void onlyTheDiskOfTheContainersSurvived() throws IOException {
        volume.unmount();
        Path survived = Files.move(volume.data(), folder.resolve("survived"));
        Commands.succeed("rm", "-r", folder.resolve("pool0/base"), volume.hashDb(), folder.resolve("ssd"));
        Files.delete(volume.configFolder().resolve("pool0-volume-cfg.xml"));
        Files.createDirectories(volume.data().getParent());
        Files.move(survived, volume.data());
        follow("Only the disk of the containers survived");
        assertEverythingIsThereAndDuplicatesAreFound();
    }
}
