package org.opendedup.sar.sdfs.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.index.IndexSettings;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.raw.MigrationRule;
import org.opendedup.sar.raw.RawSettings;

class VolumeFileTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("pool0-volume-cfg.xml");
    }

    @Test
    void readsBackWhatItWrote() throws IOException {
        for (var definition : new VolumeDefinition[] {
            Definitions.plain("pool0", folder.resolve("base")), Definitions.full(folder.resolve("base"))
        }) {
            VolumeFile.write(file, definition);
            assertEquals(definition, VolumeFile.read(file));
        }
    }

    @Test
    void aNewFileTakesThePlaceOfNone() throws IOException {
        VolumeDefinition definition = Definitions.plain("pool0", folder.resolve("base"));
        VolumeDefinition other = Definitions.plain("pool0", folder.resolve("other"));
        Path lockFile = folder.resolve("pool0-volume-cfg.xml.lock");
        try (LockFile maker = LockFile.tryAcquire(lockFile).orElseThrow()) {
            assertThrows(FileAlreadyExistsException.class, () -> VolumeFile.create(file, definition));
        }
        assertFalse(Files.exists(file), "another process was making it");
        VolumeFile.create(file, definition);
        assertThrows(FileAlreadyExistsException.class, () -> VolumeFile.create(file, other));
        assertEquals(definition, VolumeFile.read(file));
        assertFalse(Files.exists(lockFile));
    }

    @Test
    void aFileWithoutAScrubScheduleHasTheDefault() throws IOException {
        VolumeDefinition definition = Definitions.full(folder.resolve("base"));
        VolumeFile.write(file, definition);
        assertEquals(definition.scrubSchedule(), VolumeFile.read(file).scrubSchedule(), "the control");
        String text = Files.readString(file);
        Files.writeString(file, text.replace(" scrub-schedule=\"" + definition.scrubSchedule() + "\"", ""));
        assertEquals("0 0 3 ? * SUN#1", VolumeFile.read(file).scrubSchedule());
    }

    @Test
    void theBoundOfTheIndexIsWrittenIfThereIsOne() throws IOException {
        VolumeDefinition definition = Definitions.full(folder.resolve("base"));
        assertTrue(definition.config().indexSettings().isBounded());
        VolumeFile.write(file, definition);
        String bound = " index-ssd-capacity=\"3GB\"";
        String text = Files.readString(file);
        assertTrue(text.contains(bound), text);
        String parameters = " index-parameters=\"sampling=8,width=32\"";
        assertTrue(text.contains(parameters), text);
        Files.writeString(file, text.replace(bound, "").replace(parameters, ""));
        assertEquals(IndexSettings.DEFAULT, VolumeFile.read(file).config().indexSettings());
        Files.writeString(file, text.replace("width=32", "width=31"));
        Exception wide = assertThrows(VolumeFileException.class, () -> VolumeFile.read(file));
        assertTrue(wide.getMessage().contains("width is 16, 24 or 32"), wide.getMessage());
        Files.writeString(file, text.replace(bound, " index-ssd-capacity=\"1MB\""));
        Exception e = assertThrows(VolumeFileException.class, () -> VolumeFile.read(file));
        assertTrue(e.getMessage().contains("must be at least 16MB"), e.getMessage());
        Files.writeString(file, text.replace(bound, bound + " index-home=\"/disk/index-home\""));
        e = assertThrows(VolumeFileException.class, () -> VolumeFile.read(file));
        assertTrue(e.getMessage().contains("unknown attribute index-home"), "of a release before: " + e.getMessage());
    }

    @Test
    void keepsTheElementAndAttributeNamesOfSdfs() throws IOException {
        VolumeFile.write(file, Definitions.plain("pool0", folder));
        String text = Files.readString(file);
        for (String part : new String[] {
            "<subsystem-config version=\"2\">",
            "<locations ",
            "dedup-db-store=",
            "<io chunk-size=\"256KB\" hash-type=\"VARIABLE_SHA256\"",
            "<permissions default-file=\"0644\" default-folder=\"0755\"",
            "<volume name=\"pool0\" capacity=\"10GB\" maximum-percentage-full=\"95\"/>",
            "<local-chunkstore chunk-store=",
            "hash-db-store=",
            "<extended-config "
        }) {
            assertTrue(text.contains(part), part + " in " + text);
        }
    }

    @Test
    void writesTheFastTierAndNothingWithoutOne() throws IOException {
        VolumeFile.write(file, Definitions.withFastTier("pool0", folder));
        String element = "<fast-tier mode=\"tddfs\" capacity=\"100MB\" high=\"85\" low=\"70\" journal=\"60\""
                + " policy=\"lru\"/>";
        assertTrue(Files.readString(file).contains(element), Files.readString(file));
        Files.writeString(file, Files.readString(file).replace(element, ""));
        assertEquals(RawSettings.NONE, VolumeFile.read(file).raw());

        VolumeFile.write(file, Definitions.withFastTier("pool0", folder));
        String text = Files.readString(file);
        Files.writeString(file, text.replace(" policy=\"lru\"", ""));
        assertEquals(MigrationRule.LRU, VolumeFile.read(file).raw().rule());
        Files.writeString(file, text.replace(" policy=\"lru\"", " policy=\"mixed\""));
        assertEquals(MigrationRule.MIXED, VolumeFile.read(file).raw().rule());

        VolumeFile.write(file, Definitions.plain("pool0", folder));
        assertFalse(Files.readString(file).contains("fast-tier"), Files.readString(file));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "mode=\"tddfs\" | mode=\"ssd\" | attribute mode of <fast-tier>: 'ssd' is not one of sar, tddfs",
                "mode=\"tddfs\" | mode=\"pin\" | 'pin' is not one of sar, tddfs",
                "capacity=\"100MB\" | capacity=\"much\" | 'much' is not a size",
                "capacity=\"100MB\" | capacity=\"0\" | the mode tddfs needs a capacity of the fast tier above 0",
                "high=\"85\" | high=\"101\" | attribute high of <fast-tier>: 101; it must be from 1 to 100",
                "low=\"70\" | low=\"86\" | both must be from 1 to 100, and the end not above the begin",
                "journal=\"60\" | journal=\"1m\" | '1m' is not a number of seconds from 1 to 2147483647, or off",
                "journal=\"60\" | journal=\"0\" | '0' is not a number of seconds",
                "policy=\"lru\" | policy=\"fifo\" | attribute policy of <fast-tier>: 'fifo' is not one of lru, mixed",
                "journal=\"60\" | `` | <fast-tier> lacks its attribute journal",
                "high=\"85\" | high=\"85\" hot=\"1\" | <fast-tier> has an unknown attribute hot",
                "<fast-tier | <fast-tier/><fast-tier | a second element <fast-tier>",
                "ssd-location=\"/base/ssd\" ssd-capacity=\"1GB\" | `` | promotion needs an SSD location",
            })
    void refusesAWrongFastTierAndSaysWhatIsAllowed(String part, String changed, String problem) throws IOException {
        writeChanged(Definitions.withFastTier("pool0", Path.of("/base")), part, changed);
        assertProblem(file.toString(), problem);
    }

    @Test
    void aFastTierNeedsAnSsdLocation() {
        VolumeDefinition plain = Definitions.plain("pool0", folder);
        var e = assertThrows(IllegalArgumentException.class, () -> plain.with(VolumeOptions.TIER_CAPACITY, 1L << 30));
        assertTrue(e.getMessage().contains("needs an SSD location"), e.getMessage());
    }

    @Test
    void leavesNoTemporaryFileBehind() throws IOException {
        VolumeFile.write(file, Definitions.plain("pool0", folder));
        VolumeFile.write(file, Definitions.full(folder));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(1, files.count());
        }
    }

    @Test
    void readsTheSampleOfTheProject() throws IOException {
        VolumeDefinition definition = VolumeFile.read(Commands.projectFolder().resolve("config/sample-volume-cfg.xml"));
        assertEquals("sample", definition.config().name());
    }

    @Test
    void refusesADoctype() throws IOException {
        writeChanged("<subsystem-config", "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><subsystem-config");
        assertProblem("line 2", "DOCTYPE");
    }

    @Test
    void refusesEntitiesWithoutReadingThem() throws IOException {
        writeChanged("name=\"pool0\"", "name=\"&secret;\"");
        assertProblem("line ", "secret");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "<sdfscli enable=\"false\"/> | <sdfscli enable=\"false\"/><cloud/> | unknown element <cloud>",
                "<extended-config  | <extended-config block-size=\"1\"  | unknown attribute block-size",
                "<volume name | <volume colour=\"red\" name | unknown attribute colour",
                "<volume name | <volume name=\"a\"/><volume name | second element <volume>",
                "capacity=\"10GB\" | capacity=\"plenty\" | attribute capacity of <volume>: 'plenty' is not a size",
                "capacity=\"10GB\" | `` | lacks its attribute capacity",
                "capacity=\"10GB\" | capacity=\"0\" | capacity of <volume>: 0B; it must be at least 1MB",
                "write-threads=\"2\" | write-threads=\"two\" | write-threads of <io>: 'two' is not a whole number",
                "enabled=\"false\" | enabled=\"no\" | 'no' is not true or false",
                "policy=\"cost\" | policy=\"luck\" | 'luck' is not one of reference-count, cost",
                "default-folder=\"0755\" | default-folder=\"0789\" | octal",
                "hash-type=\"VARIABLE_SHA256\" | hash-type=\"MD5\" | 'MD5' is not one of VARIABLE_SHA256, SHA256",
                "compress=\"zstd\" | compress=\"gzip\" | 'gzip' is not one of none, zstd, lz4",
                "compress-level=\"1\" | compress-level=\"0\" | the zstd level is 0; it must be from 1 to 19",
                "compress-level=\"1\" | compress-level=\"99\" | 99; it must be from 0 to 19",
                "recompress=\"off\" | recompress=\"zstd:20\" | use off, or zstd:1 to zstd:19",
                "recompress=\"off\" | recompress=\"zstd:1\" | compressed with zstd:1 already",
                "chunk-size=\"256KB\" | chunk-size=\"300KB\" | power of two",
                "memory-budget=\"256MB\" | memory-budget=\"1MB\" | at least 256MB",
                "scrub-schedule=\"0 0 3 ? * SUN#1\" | scrub-schedule=\"monthly\" | 'monthly' is no schedule",
                "snapshot-schedule=\"off\" | snapshot-schedule=\"hourly\" | 'hourly' is no schedule",
                "snapshot-keep=\"hourly=24,daily=7,weekly=4,monthly=12\" | snapshot-keep=\"24\" | '24' is no rule",
                "enable=\"false\" | enable=\"true\" | no network listener",
                "version=\"2\" | version=\"1\" | version 1 of the volume file is not known",
                "version=\"2\" | version=\"3.12.4\" | this is a volume of OpenDedup SDFS (version '3.12.4')",
                "version=\"2\" | version=\"master\" | make a volume with another name, mount both, and copy the files",
                "interval=\"6h\" | interval=\"6d\" | no interval of metadata backups",
                "keep=\"4\" | keep=\"0\" | must be from 1 to 1000",
                "subsystem-config | config | root element is <config>",
                "<sdfscli | text<sdfscli | text is not allowed",
                "name=\"pool0\" | name=\"../pool0\" | no volume name",
                "</subsystem-config> | `` | mkfs.sdfs --recover",
                "base-path=\"/ | base-path=\" | absolute path",
            })
    void refusesWhatIsNotAVolumeFileAndSaysWhere(String part, String changed, String problem) throws IOException {
        writeChanged(part, changed);
        assertProblem(file.toString(), problem);
    }

    @Test
    void namesTheLineOfAnUnknownElement() throws IOException {
        writeChanged("<volume", "\n<!-- one\nmore -->\n<cloud/><volume");
        String text = Files.readString(file);
        long line = text.substring(0, text.indexOf("<cloud")).lines().count() + 1;
        assertProblem("line " + line + ":", "cloud");
    }

    @Test
    void refusesDamageButNeverFailsOtherwise() throws IOException {
        VolumeFile.write(file, Definitions.full(folder));
        byte[] whole = Files.readAllBytes(file);
        long seed = TestSeed.next();
        var random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            byte[] damaged = whole.clone();
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            try {
                VolumeFile.read(file);
            } catch (VolumeFileException e) {
                assertTrue(e.getMessage().contains(file.toString()), "sar.seed=" + seed);
            }
        }
    }

    @Test
    void refusesTwoLocationsInOneFolder() {
        VolumeDefinition plain = Definitions.plain("pool0", folder);
        var e = assertThrows(
                IllegalArgumentException.class,
                () -> plain.with(VolumeOptions.METADATA_LOCATION, folder.resolve("chunkstore/chunks/db")));
        assertTrue(e.getMessage().contains("must not lie in the data location"), e.getMessage());
    }

    private void writeChanged(String part, String changed) throws IOException {
        writeChanged(Definitions.plain("pool0", Path.of("/base")), part, changed);
    }

    private void writeChanged(VolumeDefinition definition, String part, String changed) throws IOException {
        VolumeFile.write(file, definition);
        String text = Files.readString(file);
        assertTrue(text.contains(part), part + " in " + text);
        Files.writeString(file, text.replace(part, changed));
    }

    private void assertProblem(String... parts) {
        var e = assertThrows(VolumeFileException.class, () -> VolumeFile.read(file));
        for (String part : parts) {
            assertTrue(e.getMessage().contains(part), part + " in: " + e.getMessage());
        }
    }
}
