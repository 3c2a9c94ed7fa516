package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.raw.MigrationRule;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.volume.config.VolumeConfig;

class MkfsCommandTest {
    @TempDir
    Path folder;

    private final List<VolumeConfig> made = new ArrayList<>();
    private CommandOutput output;
    private Path base;

    @BeforeEach
    void choosePlaces() {
        output = new CommandOutput(folder.resolve("etc"));
        base = folder.resolve("base");
    }

    @Test
    void makesAVolumeWithTheDefaultsAndSaysWhereItLies() throws IOException {
        assertEquals(ExitCode.OK, mkfs("--volume-name=pool0", "--volume-capacity=10GB", "--base-path=" + base));
        VolumeDefinition definition = read();
        VolumeConfig config = definition.config();
        assertEquals(List.of(config), made);
        assertEquals(10L << 30, config.capacityBytes());
        assertEquals(base.resolve("chunkstore/chunks"), config.locations().data());
        assertEquals(base.resolve("chunkstore/hdb"), config.locations().hashDb());
        assertEquals(base.resolve("ddb"), config.locations().metadata());
        assertEquals(new Compression(Compression.Codec.ZSTD, 1, 64 << 10), config.compression());
        assertEquals(256 << 10, config.pageBytes());
        assertEquals(Files.getAttribute(folder, "unix:uid"), config.root().uid());
        assertFalse(definition.sar().hot().enabled());
        assertEquals(1_000_000, definition.sar().hot().lruEntries());
    }

    @Test
    void saysInSevenLinesWhatAUserNeeds() throws IOException {
        Path index = folder.resolve("index");
        Path ssd = folder.resolve("ssd");
        assertEquals(
                ExitCode.OK,
                mkfs(
                        "--volume-name=pool0",
                        "--volume-capacity=10GB",
                        "--base-path=" + base,
                        "--chunk-store-hashdb-location=" + index,
                        "--sar-ssd-location=" + ssd,
                        "--sar-ssd-capacity=2GB",
                        "--memory-budget=300MB"));
        assertEquals(7, output.out().lines().count(), output.out());
        for (String told : List.of(
                "pool0-volume-cfg.xml",
                "10GB",
                "VARIABLE_SHA256, zstd:1",
                base.toString(),
                index.toString(),
                ssd.toString(),
                "300MB",
                "pool0 /mnt/pool0")) {
            assertTrue(output.out().contains(told), output.out());
        }
        assertTrue(output.out().endsWith("  mkdir -p /mnt/pool0 && mount.sdfs pool0 /mnt/pool0\n"), output.out());
    }

    @Test
    void takesNameAndFolderAsWordsAndTheCapacityOfTheDisk() throws IOException {
        assertEquals(ExitCode.OK, mkfs("pool0", base.toString()), output.err());
        VolumeConfig config = read().config();
        assertEquals(base, read().basePath());
        assertEquals(base.resolve("chunkstore/chunks"), config.locations().data());
        assertEquals(MkfsReport.diskBytes(folder), config.capacityBytes());
        assertTrue(output.out().contains("as much as the disk"), output.out());
        output = new CommandOutput(folder.resolve("etc2"));
        assertEquals(ExitCode.OK, mkfs("pool0", "--base-path=" + folder.resolve("other"), "--volume-capacity=1MB"));
        assertFalse(output.out().contains("the disk"), "the control: " + output.out());
        // Not exactly one name, not two folders.
        for (String wrong : List.of("", "pool0 --volume-name=pool0", "pool0 /a --base-path=/a", "pool0 /a /b", "a/b")) {
            output = new CommandOutput(folder.resolve("etc3"));
            assertEquals(
                    ExitCode.USAGE, mkfs(wrong.isEmpty() ? new String[0] : wrong.split(" ")), wrong + output.out());
        }
    }

    @Test
    void theFoldersOfAMachineAndTheStoreAreApart() throws IOException {
        Path data = Files.createDirectories(base.resolve("chunkstore/chunks"));
        for (Path store : List.of(data, VolumeOptions.defaultFolder("pool0"))) {
            assertEquals(
                    ExitCode.USAGE,
                    mkfs("pool0", base.toString(), "--volume-capacity=1GB", "--object-store=file://" + store),
                    output.err());
            assertTrue(output.err().contains("must not lie in each other"), output.err());
            try (var made = Files.list(data)) {
                assertEquals(0, made.count());
            }
        }
    }

    @Test
    void aCapacityBeyondTheDiskIsTold() throws IOException {
        for (String capacity : List.of("10MB", "1000TB")) {
            Path place = base.resolve(capacity);
            Files.createDirectories(place.resolve("chunkstore/chunks"));
            assertEquals(
                    ExitCode.OK,
                    mkfs("--volume-name=pool" + capacity, "--volume-capacity=" + capacity, "--base-path=" + place),
                    output.err());
            assertEquals(capacity.equals("1000TB"), output.out().contains("; the disk has "), output.out());
        }
    }

    @Test
    void theLineOfFstabWaitsForTheDisks() {
        VolumeDefinition plain = Definitions.withSsd("pool0", Path.of("/srv/my pool"));
        VolumeDefinition definition = plain.withSar(
                new SarSettings(Path.of("/ssd/copies"), plain.sar().hot()));
        Path mountPoint = Path.of("/mnt/it's here");
        Path file = ConfigDirectory.DEFAULT.resolve("pool0-volume-cfg.xml");
        String found = new MkfsReport(file, definition, mountPoint, "").summary();
        String line = "  pool0 /mnt/it's\\040here sdfs nofail,x-systemd.requires-mounts-for=/srv/my\\040pool"
                + ",x-systemd.requires-mounts-for=/ssd/copies 0 0";
        assertTrue(found.endsWith("by this line of /etc/fstab:\n" + line + "\n"), found);
        assertTrue(found.contains("\n  mkdir -p '/mnt/it'\\''s here' && mount"), found);
        String elsewhere = new MkfsReport(base.resolve("pool0-volume-cfg.xml"), definition, mountPoint, "").summary();
        assertFalse(elsewhere.contains("fstab"), "mount(8) does not find it: " + elsewhere);
    }

    /** A key file has other bytes than a passphrase of a file: the line break at its end counts. */
    @Test
    void theLinesThatMountAnEncryptedVolumeNameTheSourceOfItsPassphrase() {
        VolumeDefinition definition =
                Definitions.plain("pool0", Path.of("/srv/pool0")).with(VolumeOptions.ENCRYPTED, true);
        Path file = ConfigDirectory.DEFAULT.resolve("pool0-volume-cfg.xml");
        Path mountPoint = Path.of("/mnt/pool0");
        String found = new MkfsReport(file, definition, mountPoint, "passphrase_file=/keys/my pass").summary();
        assertTrue(found.contains(" sdfs nofail,passphrase_file=/keys/my\\040pass,x-systemd"), found);
        assertTrue(found.contains(" -o 'passphrase_file=/keys/my pass' pool0 /mnt/pool0\n"), found);
        found = new MkfsReport(file, definition, mountPoint, "").summary();
        assertTrue(found.contains(" sdfs nofail,passphrase_file=FILE,x-systemd"), found);
        assertFalse(found.contains(" -o "), found);
    }

    @Test
    void saysAllOfItOnRequest() throws IOException {
        assertEquals(
                ExitCode.OK, mkfs("--volume-name=pool0", "--volume-capacity=10GB", "--base-path=" + base, "--verbose"));
        VolumeConfig config = read().config();
        for (var place : List.of(
                config.locations().data(),
                config.locations().metadata(),
                config.locations().hashDb(),
                base)) {
            assertTrue(output.out().contains(place.toString()), output.out());
        }
        assertTrue(output.out().contains("Memory plan"), output.out());
    }

    /** One rule for every folder of a new volume: it may be missing, or be there and empty. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theFolderOnTheSsdMayBeThereOrNot(boolean there) throws IOException {
        Path ssd = folder.resolve("ssd");
        if (there) {
            Files.createDirectory(ssd);
        }
        String[] arguments = {
            "--volume-name=pool0",
            "--volume-capacity=1TB",
            "--base-path=" + base,
            "--sar-ssd-location=" + ssd,
            "--sar-ssd-capacity=2GB"
        };
        Path file = Files.createDirectories(ssd).resolve("mine");
        Files.createFile(file);
        assertEquals(ExitCode.FAILED, mkfs(arguments), "it is not empty");
        assertTrue(output.err().contains(ssd + " is not empty (it holds mine)"), output.err());
        Files.delete(file);
        if (!there) {
            Files.delete(ssd);
        }
        assertEquals(ExitCode.OK, mkfs(arguments), output.err());
    }

    @Test
    void aFileIsNoPlaceForAVolume() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertEquals(
                ExitCode.FAILED,
                mkfs(
                        "--volume-name=pool0",
                        "--volume-capacity=1TB",
                        "--base-path=" + base,
                        "--sar-ssd-location=" + file,
                        "--sar-ssd-capacity=2GB"));
        assertTrue(output.err().contains(file + " is not a folder"), output.err());
        assertFalse(Files.exists(base));
    }

    @Test
    void aBackupVolumeCompressesHarderInLargerFrames() throws IOException {
        assertEquals(0, mkfs("--volume-name=pool0", "--volume-capacity=1TB", "--base-path=" + base, "--backup-volume"));
        assertEquals(
                new Compression(Compression.Codec.ZSTD, 3, 256 << 10),
                read().config().compression());
    }

    @ParameterizedTest
    @CsvSource({"zstd, ZSTD, 1", "zstd:7, ZSTD, 7", "lz4, LZ4, 0", "none, NONE, 0"})
    void takesACompressionWithALevel(String option, Compression.Codec codec, int level) throws IOException {
        mkfs("--volume-name=pool0", "--volume-capacity=1TB", "--base-path=" + base, "--chunk-store-compress=" + option);
        assertEquals(new Compression(codec, level, 64 << 10), read().config().compression());
    }

    @Test
    void storesTheSettingsOfPromotionAndOfReadingBack() throws IOException {
        int code = mkfs(
                "--volume-name=pool0",
                "--volume-capacity=1TB",
                "--base-path=" + base,
                "--sar-ssd-location=" + folder.resolve("ssd"),
                "--sar-ssd-capacity=2GB",
                "--sar-policy=cost",
                "--restore-cache=lookahead-log",
                "--restore-window=8MB");
        assertEquals(0, code, output.err());
        assertTrue(read().sar().hot().enabled());
        assertEquals(HotSettings.Policy.COST, read().sar().hot().policy());
        assertEquals(5, read().sar().hot().referenceCountThreshold());
        assertEquals(8L << 20, read().restore().windowBytes().orElseThrow());
        assertEquals(0.25, read().restore().logShare());
    }

    @Test
    void aThresholdThatThePolicyDoesNotUseIsSaid() throws IOException {
        assertEquals(0, mkfs(withSsd("1GB", "--sar-reference-count-threshold=3")), output.err());
        assertTrue(
                output.out().contains("The threshold of references has no effect with the policy cost"), output.out());
    }

    @Test
    void aThresholdThatIsUsedOrNotGivenIsNotSaid() throws IOException {
        assertEquals(
                0,
                mkfs(withSsd("1GB", "--sar-reference-count-threshold=3", "--sar-policy=reference-count")),
                output.err());
        assertFalse(output.out().contains("no effect"), output.out());
    }

    @Test
    void dividesTheSsdBetweenRawFilesAndCopies() throws IOException {
        int code = mkfs(withSsd("1GB", "--tier-mode=tddfs", "--tddfs-journal=60"));
        assertEquals(ExitCode.OK, code, output.err());
        RawSettings raw = new RawSettings(Placement.TDDFS, 768L << 20, 85, 70, 60);
        assertEquals(raw, read().raw());
        assertEquals(256L << 20, read().sar().hot().capacityBytes());
        assertEquals(raw, made.get(0).raw());
        assertTrue(output.out().contains("written to them in the last 60 seconds of use"), output.out());
        assertTrue(output.out().contains("256MB of copies and 768 MiB of raw files"), output.out());
        assertEquals(8, output.out().lines().count(), output.out());
    }

    @Test
    void aFastTierWithoutAJournalSaysWhatIsLost() throws IOException {
        String[] thresholds = {"--tddfs-high=95", "--tddfs-low=40", "--tddfs-share=50", "--tddfs-journal=off"};
        var options = new ArrayList<>(List.of("--tier-mode=tddfs", "--tddfs-unprotected"));
        options.addAll(List.of(thresholds));
        options.add("--tddfs-policy=mixed");
        assertEquals(ExitCode.OK, mkfs(withSsd("1GB", options.toArray(String[]::new))), output.err());
        assertEquals(new RawSettings(Placement.TDDFS, 512L << 20, 95, 40, 0, MigrationRule.MIXED), read().raw());
        assertTrue(output.out().contains("every raw file that was not migrated is lost"), output.out());
    }

    @Test
    void aShareInTheModeSarIsForFoldersThatAskForIt() throws IOException {
        assertEquals(ExitCode.OK, mkfs(withSsd("1GB", "--tddfs-share=25", "--tddfs-journal=9")), output.err());
        assertEquals(new RawSettings(Placement.SAR, 256L << 20, 85, 70, 9), read().raw());
    }

    @Test
    void withoutAShareThereIsNoFastTier() throws IOException {
        assertEquals(ExitCode.OK, mkfs(withSsd("1GB", "--tier-mode=sar")), output.err());
        assertEquals(RawSettings.NONE, read().raw());
        assertEquals(1L << 30, read().sar().hot().capacityBytes());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1GB | --tier-mode=tddfs | choose --tddfs-journal=SECONDS or --tddfs-unprotected",
                "1GB | --tier-mode=tddfs --tddfs-journal=off | choose --tddfs-journal=SECONDS or --tddfs-unprotected",
                "1GB | --tddfs-share=50 | choose --tddfs-journal=SECONDS or --tddfs-unprotected",
                "1GB | --tier-mode=tddfs --tddfs-journal=60 --tddfs-unprotected | give one of them",
                "1GB | --tier-mode=tddfs --tddfs-journal=1m | '1m' is not a number of seconds",
                "1GB | --tier-mode=pin --tddfs-unprotected | 'pin' is not one of sar, tddfs",
                "1GB | --tier-mode=tddfs --tddfs-unprotected --tddfs-share=100 | 100; it must be from 1 to 99",
                "100MB | --tier-mode=tddfs --tddfs-unprotected --tddfs-share=99 | leaves 1.00 MiB for copies of chunks",
                "1GB | --tier-mode=tddfs --tddfs-unprotected --tddfs-low=90 | the end not above the begin",
                "1GB | --tddfs-high=90 | need --tier-mode=tddfs, or --tddfs-share",
                "1GB | --tddfs-policy=lru | need --tier-mode=tddfs, or --tddfs-share",
                "1GB | --tier-mode=tddfs --tddfs-unprotected --tddfs-policy=fifo | 'fifo' is not one of lru, mixed",
                "1GB | --tddfs-unprotected | need --tier-mode=tddfs, or --tddfs-share",
            })
    void refusesAFastTierThatIsNotClear(String capacity, String options, String message) {
        assertEquals(ExitCode.USAGE, mkfs(withSsd(capacity, options.split(" "))), output.err());
        assertTrue(output.err().replaceAll("\\s+", " ").contains(message), output.err());
        assertFalse(Files.exists(base));
        assertEquals(List.of(), made);
    }

    @Test
    void aFastTierNeedsAnSsd() {
        String[] options = {
            "--volume-name=pool0",
            "--volume-capacity=1TB",
            "--base-path=" + base,
            "--tier-mode=tddfs",
            "--tddfs-journal=5"
        };
        assertEquals(ExitCode.USAGE, mkfs(options));
        assertTrue(output.err().contains("needs --sar-ssd-location=FOLDER and"), output.err());
    }

    private String[] withSsd(String capacity, String... options) {
        var all = new ArrayList<>(List.of(
                "--volume-name=pool0",
                "--volume-capacity=1TB",
                "--base-path=" + base,
                "--sar-ssd-location=" + folder.resolve("ssd"),
                "--sar-ssd-capacity=" + capacity));
        all.addAll(List.of(options));
        return all.toArray(String[]::new);
    }

    @Test
    void printsJsonOnRequest() throws IOException {
        mkfs("--volume-name=pool0", "--volume-capacity=1TB", "--base-path=" + base, "--json");
        Map<String, Object> json = Json.read(output.out());
        assertEquals("pool0", json.get("name"));
        assertEquals(1L << 40, json.get("capacityBytes"));
        Map<?, ?> plan = (Map<?, ?>) json.get("memoryPlan");
        assertTrue(plan.containsKey("restoreCacheBytes"), output.out());
    }

    @Test
    void makesNothingWhereTheVolumeFileCannotBeWritten() {
        // Where nobody may make a file, not even root.
        output = new CommandOutput(Path.of("/proc/1"));
        assertEquals(1, mkfs("--volume-name=pool0", "--volume-capacity=1TB", "--base-path=" + base));
        assertFalse(Files.exists(base));
        assertEquals(List.of(), made);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "--volume-capacity=1GB | name the volume: mkfs.sdfs NAME FOLDER",
                "--volume-name=a/b --volume-capacity=1GB | no volume name",
                "--volume-name=pool0 --volume-capacity=lots | 'lots' is not a size",
                "--volume-name=sar --volume-capacity=1GB | is a command of sdfscli",
                "--volume-name=pool0 --volume-capacity=0 | at least 1MB",
                "--volume-name=gc --volume-capacity=1GB | is a command of sdfscli",
                "--volume-name=pool0 --volume-capacity=1GB --io-claim-chunks-schedule=daily | such as '0 0 12 ? * SUN'",
                "--volume-name=pool0 --volume-capacity=1000 | 1000B; it must be at least 1MB",
                "--volume-name=pool0 --volume-capacity=1GB --memory-budget=1EB | and this machine has",
                "--volume-name=pool0 --volume-capacity=1GB --memory-budget=9MB | at least 256MB",
                "--volume-name=pool0 --volume-capacity=1GB --io-chunk-size=100 | power of two",
                "--volume-name=pool0 --volume-capacity=1GB --aws-enabled=true | not supported here",
                "--volume-name=pool0 --volume-capacity=1GB --hash-type=MD5 | VARIABLE_SHA256",
                "--volume-name=pool0 --volume-capacity=1GB --chunk-store-compress=gzip | zstd, zstd:LEVEL, lz4 or none",
                "--volume-name=pool0 --volume-capacity=1GB --permissions-folder=rwx | octal",
                "--volume-name=pool0 --volume-capacity=1GB --sar-ssd-capacity=1GB | needs the folder of the SSD",
                "--volume-name=pool0 --volume-capacity=1GB --sar-ssd-location=/ssd | needs a capacity, such as 20GB",
                "--volume-name=pool0 --volume-capacity=1GB --chunk-store-hashdb-class=btree | 'btree' is not one of rocksdb",
                "--volume-name=pool0 --volume-capacity=1GB --chunk-store-hashdb-class=chunkstash"
                        + " --index-ssd-capacity=15MB | at least 16MB",
                "--volume-name=pool0 --volume-capacity=1GB --index-ssd-capacity=1GB | add --chunk-store-hashdb-class=",
                "--volume-name=pool0 --volume-capacity=1GB --index-ssd-capacity=1GB | is for an index of class chunkstash",
                "--volume-name=pool0 --volume-capacity=1GB --chunk-store-hashdb-class=silo --index-ssd-capacity=1GB"
                        + " | chunkstash",
                "--volume-name=pool0 --volume-capacity=1GB --index-parameters=cache=16 | is for an index of class silo",
                "--volume-name=pool0 --volume-capacity=1GB --chunk-store-hashdb-class=silo --index-parameters=cache=0"
                        + " | cache is 1 to 1024",
                "--volume-name=pool0 --volume-capacity=1GB --chunk-store-data-location= | the path is empty",
                "--volume-nam=pool0 --volume-capacity=1GB | Possible solutions: --volume-name",
                "--volume-name=pool0 --volume-capacity=1GB --hash-typ=SHA256 | --hash-type",
            })
    void refusesWrongUsage(String options, String message) {
        assertEquals(ExitCode.USAGE, mkfs((options + " --base-path=" + base).split(" ")), output.err());
        assertTrue(output.err().contains(message), output.err());
        assertEquals("", output.out());
        assertFalse(Files.exists(base));
        assertEquals(List.of(), made);
    }

    @Test
    void refusesAVolumeThatExists() {
        assertEquals(0, mkfs("--volume-name=pool0", "--volume-capacity=1GB", "--base-path=" + base));
        assertEquals(
                ExitCode.FAILED,
                mkfs("--volume-name=pool0", "--volume-capacity=1GB", "--base-path=" + folder.resolve("other")));
        assertTrue(output.err().contains("exists already"), output.err());
        assertEquals(1, made.size());
    }

    @Test
    void refusesAPlaceThatIsNotEmpty() throws IOException {
        Files.createDirectories(base.resolve("photos"));
        assertEquals(ExitCode.FAILED, mkfs("--volume-name=pool0", "--volume-capacity=1GB", "--base-path=" + base));
        assertTrue(output.err().contains("not empty (it holds photos)"), output.err());
        assertEquals(List.of(), made);
    }

    /** Each new ext4 has that folder. */
    @Test
    void theRootOfANewFileSystemIsABasePath() throws IOException {
        Files.createDirectories(base.resolve("lost+found"));
        assertEquals(
                ExitCode.OK, mkfs("--volume-name=pool0", "--volume-capacity=1GB", "--base-path=" + base), output.err());
        assertEquals(1, made.size());
    }

    @Test
    void leavesNoVolumeFileWhenTheEngineFails() throws IOException {
        var command = new MkfsCommand(output.environment(), config -> {
            throw new IOException("disk on fire");
        });
        int code = CommandRunner.run(
                command, output.environment(), "--volume-name=pool0", "--volume-capacity=1GB", "--base-path=" + base);
        assertEquals(ExitCode.FAILED, code);
        assertEquals("mkfs.sdfs: disk on fire", output.err().strip());
        assertEquals(List.of(), new ConfigDirectory(folder.resolve("etc")).volumes());
    }

    /** As by another call; one for an encrypted volume waits for a passphrase before it makes anything. */
    @Test
    void theFileOfAVolumeThatWasMadeMeanwhileStays() throws IOException {
        Path file = new ConfigDirectory(folder.resolve("etc")).fileOf("pool0");
        VolumeDefinition other = Definitions.plain("pool0", folder.resolve("other"));
        var command = new MkfsCommand(output.environment(), config -> VolumeFile.write(file, other));
        int code = CommandRunner.run(
                command, output.environment(), "--volume-name=pool0", "--volume-capacity=1GB", "--base-path=" + base);
        assertEquals(ExitCode.FAILED, code, output.out());
        assertEquals(other, VolumeFile.read(file));
        assertTrue(output.err().contains("was made meanwhile"), output.err());
        assertTrue(output.err().contains(base.toString()), output.err());
    }

    private VolumeDefinition read() throws IOException {
        return new ConfigDirectory(folder.resolve("etc")).read("pool0");
    }

    private int mkfs(String... arguments) {
        return CommandRunner.run(new MkfsCommand(output.environment(), made::add), output.environment(), arguments);
    }
}
