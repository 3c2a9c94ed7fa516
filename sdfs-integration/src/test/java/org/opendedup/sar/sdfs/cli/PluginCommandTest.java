package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.w3c.dom.Element;

/** {@code sar-plugin} on a volume file as SDFS writes it, in a folder that looks like an installation of SDFS. */
@Timeout(60)
class PluginCommandTest {
    /** With what a parser would not give back: a comment with a tag in it, two kinds of quotes, odd blanks. */
    private static final String XML = """
            <?xml version="1.0" encoding="UTF-8" standalone="no"?>
            <!-- by hand: <local-chunkstore encrypt="true"> -->
            <subsystem-config version="3.12.0">
            <locations dedup-db-store="FOLDER/ddb"/><io chunk-size="256"  hash-type='HASH'/>
            <volume name="pool0" path='a>b &amp; "c"'/>
            <local-chunkstore   allocation-size="1099511627776" chunk-store="FOLDER/chunks"
               chunkstore-class='org.opendedup.sdfs.filestore.BatchFileChunkStore' encrypt="false"
               hash-db-store="FOLDER/hdb" hashdb-class="org.opendedup.collections.RocksDBMap"  >
              <extended-config allow-sync="false" note="sar-policy='x'" local-cache-size='10 GB'/>
            </local-chunkstore></subsystem-config>
            """;

    @TempDir
    Path folder;

    private Path file;
    private Path installed;
    private StringWriter out = new StringWriter();
    private StringWriter err = new StringWriter();

    @BeforeEach
    void makeVolume() throws IOException {
        Files.createDirectories(folder.resolve("etc"));
        file = folder.resolve("etc/pool0-volume-cfg.xml");
        installed = folder.resolve("sdfs/lib/sdfs-plugin.jar");
        write("VARIABLE_MD5");
        Files.createDirectories(folder.resolve("sdfs/lib"));
        Files.createDirectories(folder.resolve("sdfs/bin/jre"));
        Files.writeString(folder.resolve("plugin.jar"), "classes");
    }

    private void write(String hash) throws IOException {
        Files.writeString(file, xml(hash));
    }

    private String xml(String hash) {
        return XML.replace("FOLDER", folder.toString()).replace("HASH", hash);
    }

    private int run(String... arguments) {
        out = new StringWriter();
        err = new StringWriter();
        Environment environment = new Environment(
                Map.of(
                        "SDFS_CONFIG_DIR",
                        folder.resolve("etc").toString(),
                        "SDFS_PLUGIN_JAR",
                        folder.resolve("plugin.jar").toString()),
                new PrintWriter(out, true),
                new PrintWriter(err, true));
        String[] all = Stream.concat(Arrays.stream(arguments), Stream.of("--sdfs=" + folder.resolve("sdfs")))
                .toArray(String[]::new);
        return CommandRunner.run(new PluginCommand(environment), environment, all);
    }

    private String text() throws IOException {
        return Files.readString(file);
    }

    @Test
    void enableWritesClassesAndSettingsAndDisableTheFileOfBefore() throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        String settings = " sar-ssd-location=\"" + folder + "/ssd\" sar-ssd-capacity=\"1GB\""
                + " sar-reference-count-threshold=\"3\" sar-policy=\"cost\"";
        assertEquals(
                ExitCode.OK,
                run(
                        "enable",
                        "pool0",
                        "--ssd=" + folder + "/ssd",
                        "--ssd-capacity=1GB",
                        "--threshold=3",
                        "--policy=cost"),
                () -> err.toString());
        String expected = xml("VARIABLE_MD5")
                .replace("org.opendedup.sdfs.filestore.BatchFileChunkStore", "org.opendedup.sar.plugin.SarChunkStore")
                .replace("org.opendedup.collections.RocksDBMap", "org.opendedup.sar.plugin.SarHashesMap");
        int at = text().indexOf(" former-");
        String added = text().substring(at, text().indexOf("/>", at));
        assertEquals(expected, text().replace(added, ""));
        for (String setting : settings.trim().split(" (?=sar-)")) {
            assertTrue(added.contains(setting), () -> added + " lacks " + setting);
        }
        assertEquals("rw-r--r--", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals("classes", Files.readString(installed));
        String once = text();
        assertEquals(ExitCode.OK, run("enable", file.toString()), () -> err.toString());
        assertEquals(once, text(), "a second time changes nothing");
        assertEquals(ExitCode.OK, run("enable", file.toString(), "--threshold=7"));
        assertEquals(once.replace("threshold=\"3\"", "threshold=\"7\""), text());

        assertEquals(ExitCode.OK, run("disable", file.toString()), () -> err.toString());
        assertEquals(xml("VARIABLE_MD5"), text());
        assertFalse(Files.exists(installed), "no volume uses it");
        String before = text();
        assertEquals(ExitCode.OK, run("disable", file.toString()));
        assertEquals(before, text(), "a second time changes nothing");
    }

    /** The checks are those of the mount. */
    @ParameterizedTest
    @CsvSource({
        "--threshold=0, sar-reference-count-threshold",
        "--threshold=many, many",
        "--policy=best, 'reference-count, cost, open'",
        "--ssd-capacity=1GB, the folder of the SSD",
        "--ssd=ssd --ssd-capacity=1GB, an absolute path",
        "--index-class=silo, silo is not for this volume",
        "--index-parameters=sampling=4, sampling is for an index of class chunkstash",
        "--index-class=chunkstash --index-parameters=width=17, '16, 24 or 32'",
        "--memory-budget=256MB --write-threads=200, sar-memory-budget",
        "--restore-cache=big, lookahead-log",
        "--passphrase-file=/a, sar-passphrase-file is for an encrypted volume",
        "--encrypt --key-file=/a --passphrase-command=b, give one of sar-key-file and sar-passphrase-command",
        "--encrypt --key-file=a, no absolute path",
        "--colour=red, --colour"
    })
    void aWrongSettingChangesNothing(String options, String message) throws IOException {
        String[] arguments = Stream.concat(Stream.of("enable", "pool0"), Arrays.stream(options.split(" ")))
                .toArray(String[]::new);
        assertTrue(run(arguments) != ExitCode.OK);
        assertTrue(
                err.toString().contains(message.replace("sar-reference-count-threshold", "threshold")),
                () -> err.toString());
        assertEquals(xml("VARIABLE_MD5"), text());
        assertFalse(Files.exists(installed));
    }

    @ParameterizedTest
    @ValueSource(strings = {"VARIABLE_HWY_128", "tiger16"})
    void fingerprintsThatTheEngineHasNotAreRefused(String hash) throws IOException {
        write(hash);
        assertEquals(ExitCode.FAILED, run("enable", "pool0"));
        assertTrue(err.toString().contains("fingerprints are " + hash), () -> err.toString());
        assertEquals(xml(hash), text());
    }

    @Test
    void chunksOfTheOtherStoreAreNotGivenUp() throws IOException {
        Path archive = folder.resolve("chunks/-111/1.map");
        Files.createDirectories(archive.getParent());
        Files.createFile(archive);
        assertEquals(ExitCode.FAILED, run("enable", "pool0"));
        assertTrue(err.toString().contains("SDFS's own store"), () -> err.toString());
        Files.delete(archive);
        assertEquals(ExitCode.OK, run("enable", "pool0"), () -> err.toString());
        Path pack = folder.resolve("chunks/sar/data/1.pack");
        Files.createDirectories(pack.getParent());
        Files.createFile(pack);
        String enabled = text();
        assertEquals(ExitCode.FAILED, run("disable", "pool0"));
        assertTrue(err.toString().contains("which SDFS cannot read"), () -> err.toString());
        assertEquals(enabled, text());
        assertTrue(Files.exists(installed));
        // The disk of the containers is not mounted.
        Files.delete(pack);
        Path metadata = folder.resolve("chunks/sar/metadata/CURRENT");
        Files.createDirectories(metadata.getParent());
        Files.createFile(metadata);
        assertEquals(ExitCode.FAILED, run("disable", "pool0"));
        assertEquals(enabled, text());
        // The control: nothing is left of it.
        Files.delete(metadata);
        assertEquals(ExitCode.OK, run("disable", "pool0"), () -> err.toString());
    }

    @Test
    void anotherSourceOfThePassphraseReplacesTheOneBeforeAndChunksAreNotEncryptedLater() throws IOException {
        assertEquals(ExitCode.OK, run("enable", "pool0"), () -> err.toString());
        Path metadata = folder.resolve("chunks/sar/metadata/CURRENT");
        Files.createDirectories(metadata.getParent());
        Files.createFile(metadata);
        String before = text();
        assertEquals(ExitCode.FAILED, run("enable", "pool0", "--encrypt", "--key-file=/a"));
        assertTrue(err.toString().contains("cannot be encrypted later"), () -> err.toString());
        assertEquals(before, text());
        // The control: no chunk is there yet.
        Files.delete(metadata);
        assertEquals(ExitCode.OK, run("enable", "pool0", "--encrypt", "--key-file=/a"), () -> err.toString());
        assertTrue(err.toString().contains("note: there is no /a yet"), () -> err.toString());
        assertTrue(out.toString().contains("sdfscli pool0 key export FILE"), () -> out.toString());
        assertTrue(text().contains("sar-key-file=\"/a\" sar-encrypt=\"true\""), text());
        Files.createFile(metadata);
        assertEquals(ExitCode.OK, run("enable", "pool0", "--passphrase-command=a <b"), () -> err.toString());
        assertTrue(text().contains("sar-encrypt=\"true\" sar-passphrase-command=\"a &lt;b\""), text());
        assertFalse(text().contains("sar-key-file"), text());
    }

    /** The path of a mount point may be in another encoding. */
    @Test
    void aMountedVolumeIsRecognizedByACommandThatIsNoText() throws Exception {
        Process volume = new ProcessBuilder(
                        "bash", "-c", "exec -a fuse.SDFS.MountSDFS sh -c 'sleep 60; exit' -v pool0 $'/mnt/\\xfc'")
                .start();
        try {
            TestWait.until(() -> {
                try {
                    return new String(
                                    Files.readAllBytes(Path.of("/proc/" + volume.pid() + "/cmdline")),
                                    StandardCharsets.ISO_8859_1)
                            .startsWith("fuse.SDFS.MountSDFS");
                } catch (IOException e) {
                    return false;
                }
            });
            assertEquals(ExitCode.FAILED, run("enable", "pool0"));
            assertTrue(err.toString().contains("is mounted: unmount it first"), () -> err.toString());
        } finally {
            volume.descendants().forEach(ProcessHandle::destroyForcibly);
            volume.destroyForcibly().waitFor();
        }
    }

    @Test
    void aLinkStaysALinkAndTheJarThatALinkNamesIsCopied() throws IOException {
        Path moved = folder.resolve("elsewhere.xml");
        Files.move(file, moved);
        Files.createSymbolicLink(file, moved);
        Path jar = folder.resolve("plugin.jar");
        Files.move(jar, folder.resolve("built.jar"));
        Files.createSymbolicLink(jar, Path.of("built.jar"));
        assertEquals(ExitCode.OK, run("enable", "pool0"), () -> err.toString());
        assertTrue(Files.isSymbolicLink(file));
        assertTrue(Files.readString(moved).contains("SarChunkStore"));
        assertFalse(Files.isSymbolicLink(installed));
        assertEquals("classes", Files.readString(installed));
    }

    /** What is read as another text than the shell gave would be another folder. */
    @Test
    void valuesAreReadAsTheyWereGiven() throws Exception {
        String odd = folder + "/a b&\"'<>é";
        assertEquals(ExitCode.OK, run("enable", "pool0", "--ssd=" + odd, "--ssd-capacity=1GB"), () -> err.toString());
        var element = (Element) DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getElementsByTagName("extended-config")
                .item(0);
        assertEquals(odd, element.getAttribute("sar-ssd-location"));
        String before = text();
        assertEquals(ExitCode.FAILED, run("enable", "pool0", "--ssd=/a\u0001"));
        assertTrue(err.toString().contains("character that XML cannot have"), () -> err.toString());
        assertEquals(ExitCode.FAILED, run("enable", "pool0", "--ssd=/a\nb"));
        assertTrue(err.toString().contains("without control characters"), () -> err.toString());
        assertEquals(before, text());
    }

    /** {@code <!-->} begins a comment and does not end it. */
    @Test
    void tagsInCommentsAndDataAreNoTags() throws IOException {
        String data = "<a><![CDATA[<extended-config a='>]]></a>";
        String comment = "<!--> <local-chunkstore chunkstore-class='x'> --><?pi <local-chunkstore a='>'?>";
        String with = xml("VARIABLE_MD5").replace("<io ", comment + data + "<io ");
        Files.writeString(file, with);
        assertEquals(ExitCode.OK, run("enable", "pool0"), () -> err.toString());
        assertTrue(text().contains(comment));
        assertEquals(ExitCode.OK, run("disable", "pool0"), () -> err.toString());
        assertEquals(with, text());
    }

    @Test
    void theJarStaysForVolumesInTheFolderOfVolumeFiles() throws IOException {
        Path other = Files.createDirectories(folder.resolve("mine")).resolve("other.xml");
        Files.writeString(other, xml("VARIABLE_MD5").replace("pool0", "other"));
        assertEquals(ExitCode.OK, run("enable", "pool0"), () -> err.toString());
        assertEquals(ExitCode.OK, run("enable", other.toString()), () -> err.toString());
        assertEquals(ExitCode.OK, run("disable", other.toString()), () -> err.toString());
        assertTrue(Files.exists(installed), "pool0 uses it");
        assertEquals(ExitCode.OK, run("disable", "pool0"), () -> err.toString());
        assertFalse(Files.exists(installed));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><a>&x;</a>",
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><local-chunkstore chunk-store='/c'><extended-config/>"
                        + "</local-chunkstore>"
            })
    void entitiesAndOtherEncodingsAreRefused(String text) throws IOException {
        Files.writeString(file, text);
        assertEquals(ExitCode.FAILED, run("enable", "pool0"));
        assertTrue(err.toString().contains("volume file"), () -> err.toString());
        Files.write(file, text.replace("/c", "/\u00fc").getBytes(StandardCharsets.ISO_8859_1));
        assertEquals(ExitCode.FAILED, run("enable", "pool0"));
        assertFalse(Files.exists(installed));
    }

    /** SDFS writes the file again at the unmount. The control is the volume of another name. */
    @Test
    void aMountedVolumeIsRefused() throws Exception {
        Process volume = new ProcessBuilder(
                        "bash", "-c", "sleep 60; exit # $0 $1 $2", "fuse.SDFS.MountSDFS", "-v", "pool0")
                .start();
        try {
            TestWait.until(() -> {
                try {
                    return Files.readString(Path.of("/proc/" + volume.pid() + "/cmdline"))
                            .contains("MountSDFS");
                } catch (IOException e) {
                    return false;
                }
            });
            assertEquals(ExitCode.FAILED, run("enable", "pool0"));
            assertTrue(err.toString().contains("is mounted: unmount it first"), () -> err.toString());
            assertEquals(ExitCode.FAILED, run("disable", "pool0"));
            Files.writeString(file, text().replace("pool0", "pool1"));
            assertEquals(ExitCode.FAILED, run("enable", file.toString()));
            assertTrue(err.toString().contains("unmount all volumes of SDFS first"), () -> err.toString());
        } finally {
            volume.descendants().forEach(ProcessHandle::destroyForcibly);
            volume.destroyForcibly().waitFor();
        }
        assertEquals(ExitCode.OK, run("enable", file.toString()), () -> err.toString());
    }

    @Test
    void theJarReplacesOlderOnesAndStaysWhileAnotherVolumeUsesIt() throws IOException {
        Path older = Files.writeString(folder.resolve("sdfs/lib/sdfs-plugin-0.0.9.jar"), "older");
        Files.writeString(folder.resolve("sdfs/bin/jre/release"), "JAVA_VERSION=\"11.0.2\"\n");
        Path other = folder.resolve("etc/other-volume-cfg.xml");
        Files.writeString(other, xml("VARIABLE_SHA256").replace("pool0", "other"));
        assertEquals(ExitCode.OK, run("enable", "other"), () -> err.toString());
        assertFalse(Files.exists(older));
        assertTrue(err.toString().contains("is of release 11, and the plugin needs 17"), () -> err.toString());
        assertEquals(ExitCode.OK, run("enable", "pool0"), () -> err.toString());
        assertEquals(ExitCode.OK, run("disable", "other"), () -> err.toString());
        assertTrue(Files.exists(installed), "pool0 uses it");
        assertEquals(ExitCode.OK, run("disable", "pool0"), () -> err.toString());
        assertFalse(Files.exists(installed));
    }

    @Test
    void whatIsNoVolumeOfSdfsIsRefused() throws IOException {
        assertEquals(ExitCode.FAILED, run("enable", "pool9"));
        assertTrue(err.toString().contains("there is no "), () -> err.toString());
        for (String other : List.of("no XML", "<a/>", "<local-chunkstore><extended-config/></local-chunkstore>")) {
            Files.writeString(file, other);
            assertEquals(ExitCode.FAILED, run("enable", "pool0"));
            assertTrue(err.toString().contains("no volume file of OpenDedup SDFS"), () -> err.toString());
            assertEquals(other, text());
        }
        assertEquals(ExitCode.USAGE, run("enable", "no name"));
        assertTrue(err.toString().contains("is no volume name"), () -> err.toString());
        assertEquals(ExitCode.USAGE, run("enable"));
        assertEquals(ExitCode.USAGE, run());
    }
}
