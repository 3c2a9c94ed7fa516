package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.config.VolumeConfig;

/** The command on a volume on the disk, without a mount. */
class CheckCommandTest {
    @TempDir
    Path folder;

    private CommandOutput output;

    @BeforeEach
    void makeVolume() {
        output = new CommandOutput(folder.resolve("etc"));
        MkfsCommand mkfs = new MkfsCommand(output.environment(), Volume::create);
        int code = CommandRunner.run(
                mkfs,
                output.environment(),
                "--volume-name=pool0",
                "--volume-capacity=1GB",
                "--memory-budget=256MB",
                "--base-path=" + folder.resolve("base"));
        assertEquals(ExitCode.OK, code, output.err());
        output = new CommandOutput(folder.resolve("etc"));
    }

    private int check(String... arguments) {
        return CommandRunner.run(new CheckCommand(output.environment()), output.environment(), arguments);
    }

    @Test
    void aSoundVolumeHasNoDefect() throws IOException {
        assertEquals(ExitCode.OK, check("pool0"), output.err());
        assertTrue(output.out().contains("no defect was found"), output.out());
    }

    /** S3QL's check ended with a stack trace there (docs/REPORTS.md); a script asks so whether there is a volume. */
    @Test
    void whatIsNoVolumeIsToldApart() throws IOException {
        assertEquals(ExitCode.NO_SUCH_VOLUME, check("pool9"), output.err());
        Path nothing = Files.createDirectory(folder.resolve("nothing"));
        assertEquals(ExitCode.NO_SUCH_VOLUME, check("file://" + nothing), output.err());
        assertEquals(ExitCode.USAGE, check(folder.toString()), output.err());
        assertTrue(output.err().contains("is no volume name"), output.err());
    }

    @Test
    void jsonSaysTheSame() throws IOException {
        assertEquals(ExitCode.OK, check("pool0", "--rebuild-containers", "--json"), output.err());
        assertEquals(true, Json.read(output.out()).get("sound"));
        assertEquals(0L, Json.number(Json.object(Json.read(output.out()), "rebuilt"), "changes"));
    }

    @Test
    void aRepairSaysWhatItDid() throws IOException {
        assertEquals(ExitCode.OK, check("pool0", "--repair"), output.err());
        assertTrue(output.out().contains("Nothing else had to be repaired."), output.out());
    }

    @Test
    void aRepairInJsonHasItsLines() throws IOException {
        assertEquals(ExitCode.OK, check("pool0", "--repair", "--json"), output.err());
        assertEquals(List.of(), Json.read(output.out()).get("repaired"));
        assertEquals(List.of(), Json.read(output.out()).get("quarantine"));
    }

    /** An SDFS volume whose chunks the plugin stores, with one chunk. */
    private VolumeConfig makeVolumeOfPlugin() throws IOException {
        Path store = folder.resolve("sdfs/chunkstore");
        Files.writeString(
                folder.resolve("etc/sdfs0-volume-cfg.xml"),
                "<subsystem-config version=\"3.12.0\"><volume name=\"sdfs0\"/><local-chunkstore chunkstore-class=\""
                        + "org.opendedup.sar.plugin.SarChunkStore\" chunk-store=\"" + store
                        + "\"><extended-config/></local-chunkstore></subsystem-config>");
        VolumeConfig config = new VolumeConfig(
                "sdfs0",
                1L << 30,
                100,
                new VolumeConfig.Locations(
                        store.resolve("sar/data"), store.resolve("sar/metadata"), store.resolve("sar/index")),
                Chunking.SHA256,
                new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                256 << 10,
                256 << 20,
                2,
                new VolumeConfig.RootDirectory(0700, 0, 0));
        ChunkVolume.create(config);
        byte[] chunk = new byte[5000];
        chunk[17] = 1;
        byte[] fingerprint = sha256(chunk);
        try (ChunkVolume volume = ChunkVolume.open(config, Duration.ofHours(1), visitor -> {})) {
            volume.put(fingerprint, chunk, chunk.length, 1, 1);
            volume.sync();
            volume.maintenance().backups().backUp(4);
        }
        return config;
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theChunksOfAnSdfsVolumeAreCheckedAndTheirMetadataRestored() throws IOException {
        VolumeConfig config = makeVolumeOfPlugin();
        assertEquals(ExitCode.OK, check("sdfs0"), output.err());
        assertTrue(output.out().contains("1 container"), output.out());
        assertEquals(ExitCode.OK, check("sdfs0", "--rebuild-containers"), output.err());
        assertEquals(ExitCode.FAILED, check("sdfs0", "--repair"));
        assertTrue(output.err().contains("chunks without files"), output.err());
        assertEquals(ExitCode.FAILED, check("sdfs0", "--salvage-metadata=records"));
        output = new CommandOutput(folder.resolve("etc"));
        assertEquals(ExitCode.OK, check("sdfs0", "--restore-metadata"), output.err());
        assertTrue(output.out().contains("sdfscli sdfs0 metadata-backup --accept-restored"), output.out());
        assertTrue(output.out().contains("only if SDFS has written, copied and deleted no file"), output.out());
        assertFalse(output.out().contains("Files with bytes"), "only SDFS knows its files");
        try (ChunkVolume volume = ChunkVolume.open(config, Duration.ofHours(1), visitor -> {})) {
            assertEquals(1, volume.statistics().chunks());
            int inUse = check("sdfs0");
            assertEquals(ExitCode.FAILED, inUse, "a volume in use is not checked");
        }
    }

    /** A list that needs a mounted volume is of no use on the day on which none mounts. */
    @Test
    void theBackupsOfAVolumeThatIsNotMountedAreListed() throws IOException {
        VolumeConfig config = makeVolumeOfPlugin();
        assertEquals(ExitCode.OK, cli("sdfs0", "metadata-backup", "--list"), output.err());
        Pattern line = Pattern.compile("\n +1  \\d{4}-\\d\\d-\\d\\d [0-9:]{8}  ");
        assertTrue(line.matcher(output.out()).find(), output.out());
        assertFalse(output.out().contains("garbage was collected since"), output.out());
        assertEquals(ExitCode.FAILED, check("sdfs0", "--restore-metadata=7"));
        assertTrue(output.err().contains("there is no backup 7"), output.err());
        assertTrue(line.matcher(output.err()).find(), output.err());
        assertFalse(output.err().contains("garbage was collected since"), output.err());
        Files.writeString(MetadataBackups.folderIn(config.locations().data()).resolve("collections"), "1\n");
        assertEquals(ExitCode.OK, cli("sdfs0", "metadata-backup", "--list"), output.err());
        assertTrue(output.out().contains("garbage was collected since"), output.out());
        assertEquals(ExitCode.FAILED, check("sdfs0", "--restore-metadata=7"));
        assertTrue(output.err().contains("garbage was collected since"), output.err());
        assertEquals(ExitCode.OK, check("sdfs0", "--restore-metadata=1"), output.err());
    }

    private int cli(String... arguments) {
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments);
    }

    @Test
    void eachVolumeIsRestoredFromAFolderThatSeveralUse() throws IOException {
        VolumeConfig config = makeVolumeOfPlugin();
        Path copies = folder.resolve("copies");
        try (Volume volume =
                Volume.open(output.environment().configDirectory().read("pool0").engineConfig())) {
            volume.maintenance().backups().backUpTo(copies);
        }
        assertEquals(ExitCode.FAILED, check("sdfs0", "--restore-metadata=" + copies + "/"));
        assertTrue(output.err().contains("those of other volumes: [sar-metadata-"), output.err());
        MetadataBackups.Copy copy;
        try (ChunkVolume volume = ChunkVolume.open(config, Duration.ofHours(1), visitor -> {})) {
            copy = volume.maintenance().backups().backUpTo(copies);
        }
        for (String named : List.of(copies + "/", copy.folder())) {
            assertEquals(ExitCode.OK, check("sdfs0", "--restore-metadata=" + named), output.err());
        }
        assertEquals(ExitCode.OK, check("pool0", "--restore-metadata=" + copies + "/"), output.err());
    }

    @Test
    void aBackupThatWasFoundDamagedIsNotRestored() throws IOException {
        VolumeConfig config = makeVolumeOfPlugin();
        Path backups = MetadataBackups.folderIn(config.locations().data());
        try (Stream<Path> files = Files.list(backups)) {
            Path table = files.filter(file -> file.toString().endsWith(".sst"))
                    .findFirst()
                    .orElseThrow();
            Files.move(table, Path.of(table + ".damaged"));
        }
        assertEquals(ExitCode.FAILED, check("sdfs0", "--restore-metadata"));
        assertTrue(output.err().contains("backup 1 is damaged"), output.err());
        assertTrue(output.err().contains("backup 1 lacks 1 of its"), output.err());
    }

    private void damageManifest() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("base/ddb"))) {
            Path manifest = files.filter(file -> file.getFileName().toString().startsWith("MANIFEST-"))
                    .findFirst()
                    .orElseThrow();
            byte[] bytes = Files.readAllBytes(manifest);
            bytes[bytes.length / 2] ^= 1;
            Files.write(manifest, bytes);
        }
    }

    @Test
    void commandsInMessagesNameTheVolume() throws IOException {
        damageManifest();
        assertEquals(ExitCode.FAILED, check("pool0"));
        assertTrue(output.err().contains("sdfs-check pool0 --salvage-metadata"), output.err());
        assertFalse(output.err().contains("VOLUME"), output.err());
    }

    /** Who has just tried one remedy needs the others, and no path of a folder that is gone. */
    @Test
    void whatTablesOfBackupsDoNotMendNamesTheOtherWays() throws IOException {
        damageManifest();
        assertEquals(ExitCode.FAILED, check("pool0", "--salvage-metadata"));
        assertFalse(output.err().contains("--salvage-metadata'"), output.err());
        assertFalse(output.err().contains("/restoring"), output.err());
        assertTrue(output.err().contains("Nothing was changed"), output.err());
        assertTrue(output.err().contains("sdfs-check pool0 --restore-metadata"), output.err());
        assertTrue(output.err().contains("sdfs-check pool0 --salvage-metadata=records"), output.err());
    }

    @Test
    void ofAnEmptyFolderNothingCanBeSalvaged() throws IOException {
        Path metadata = folder.resolve("base/ddb");
        Files.move(metadata, folder.resolve("aside"));
        PrivateFiles.createFolders(metadata);
        for (String option : List.of("--salvage-metadata", "--salvage-metadata=records")) {
            output = new CommandOutput(folder.resolve("etc"));
            assertEquals(ExitCode.FAILED, check("pool0", option));
            assertTrue(output.err().contains("sdfs-check pool0 --restore-metadata"), output.err());
            assertFalse(output.err().contains("=records"), output.err());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--restore-metadata --salvage-metadata",
                "--salvage-metadata=x",
                "--restore-metadata=x",
                "--rebuild-containers --repair",
                "--repair --restore-metadata",
                "--repair --salvage-metadata=records",
                "--rebuild-containers --restore-metadata",
                "--no-such-option"
            })
    void wrongUsageIsRefusedAndChangesNothing(String options) {
        List<String> arguments = new ArrayList<>(List.of("pool0"));
        arguments.addAll(List.of(options.split(" ")));
        assertEquals(ExitCode.USAGE, check(arguments.toArray(new String[0])), output.err());
        assertEquals("", output.out());
        assertTrue(output.err().contains("sdfs-check --help"), output.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--salvage-metadata", "--salvage-metadata=records"})
    void theProgressOfASalvageIsShown(String option) {
        assertEquals(ExitCode.OK, check("pool0", option), output.err());
        assertFalse(output.err().contains(" left"), "control: nothing is shown where there is no terminal");
        output = new CommandOutput(folder.resolve("etc"), true);
        assertEquals(ExitCode.OK, check("pool0", option), output.err());
        assertTrue(output.err().contains("tables of the database, in bytes: "), output.err());
        assertTrue(output.err().contains("records of the database"), output.err());
    }

    @Test
    void aVolumeInUseIsRefused() throws IOException {
        Path run = Files.createDirectories(folder.resolve("base/run"));
        try (LockFile lock = LockFile.tryAcquire(run.resolve("pool0.lock")).orElseThrow()) {
            assertEquals(ExitCode.FAILED, check("pool0"), lock::toString);
        }
        assertTrue(output.err().contains("unmount it first"), output.err());
    }
}
