package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOptions;

@Timeout(60)
class SupportBundleTest {
    private static final String LOG = """
            2026-05-01T10:00:00.000+02:00 INFO  [main] VolumeDaemon: mounted pool0 on %s
            2026-05-01T10:00:01.000+02:00 ERROR [fuse-0] Errno: READ /Küche plan/the Zwiebel.pdf (inode 169): java.io.IOException: Input/output error
            \tat org.opendedup.sar.volume.file.FileReader.read(FileReader.java:12)
            \tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)
            Caused by: java.nio.file.NoSuchFileException: /elsewhere/Zwiebel.pdf
            2026-05-01T10:00:02.000+02:00 ERROR [log] Errno: 999 more times in the last 60 s: READ /Küche plan/the Zwiebel.pdf (inode 169): Input/output error
            2026-05-01T10:00:03.000+02:00 WARN  [main] VolumeDaemon: volume pool0: lost: 1 file; Gurke of Anna.doc: up to 100 bytes
            2026-05-01T10:00:04.000+02:00 ERROR [damage] DamageNews: files: /81549300, /Anna 81549300, /81549300/file and 3 more
            2026-05-01T10:00:05.000+02:00 WARN  [restore] RestoreProgress: damaged: /elsewhere/81549300: 512 bytes at offset 4096
            2026-05-01T10:00:06.000+02:00 ERROR [main] Scrubber: frame 3 of container 17, pack 00000000/000000000400.pack
            """;

    /** "Zwiebel!" is in a register, as the eight bytes of a number. */
    private static final String CRASH = """
            #  SIGSEGV (0xb) at pc=0x00007f12, pid=17, tid=18
            # Problematic frame:
            # C  [libzstd.so.1+0x12ab]  ZSTD_decompress+0x2f
            Command Line: -Xmx1g /elsewhere/the Zwiebel.pdf
            siginfo: si_signo: 11 (SIGSEGV)

            Register to memory mapping:
            RAX=0x2165...: "Gurke of Anna.doc"{0x00000000ff}
            Registers:
            RAX=0x216c656265697a57, RBX=0x0000000000000001
            Top of Stack: (sp=0x00007f)
            0x00007f00:   216c656265697a57 0000000000000000
            ---------------  P R O C E S S  ---------------
            Event: 1.5 Thread 0x00007f Exception <a 'java/io/IOException': Gurke of Anna.doc>
            """;

    private static final String REGISTER = "216c656265697a57";

    @TempDir
    Path folder;

    static Map<String, String> entries(Path bundle) throws IOException {
        var entries = new TreeMap<String, String>();
        try (var zip = new ZipInputStream(Files.newInputStream(bundle))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                entries.put(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        return entries;
    }

    private void writeLog(RunningDaemon daemon) throws IOException {
        Path logs = Files.createDirectories(folder.resolve("base/log"));
        Files.writeString(logs.resolve("pool0.log"), LOG.formatted(daemon.mountPoint()));
        Files.writeString(logs.resolve("hs_err_17.log"), CRASH);
    }

    @Test
    void namesAreReplacedAndWhatHelpsStays() throws Exception {
        Path bundle = folder.resolve("bundle.zip");
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            writeLog(daemon);
            assertEquals(0, daemon.cli("support-bundle", bundle.toString()), daemon.err());
            daemon.shows("Look through it before you send it");
            Map<String, String> entries = entries(bundle);
            for (String name : entries.keySet()) {
                assertTrue(daemon.out().contains("  " + name + "\n"), name);
            }
            String all = String.join("\n", entries.values());
            for (String secret : new String[] {
                "Küche", "Zwiebel", "Gurke", "Anna", "elsewhere", "pool0", "81549300", REGISTER, folder.toString()
            }) {
                assertFalse(
                        all.contains(secret),
                        () -> secret + " in "
                                + all.lines()
                                        .filter(line -> line.contains(secret))
                                        .findFirst());
            }
            String crash = entries.get("log/hs_err_17.log");
            assertTrue(crash.contains("# C  [libzstd.so.1+0x12ab]  ZSTD_decompress+0x2f"), crash);
            assertTrue(crash.contains("#  SIGSEGV (0xb) at pc=0x00007f12, pid=17, tid=18"), crash);
            assertTrue(crash.contains("P R O C E S S"), crash);
            String log = entries.get("log/daemon.log");
            assertTrue(
                    log.startsWith(
                            "2026-05-01T10:00:00.000+02:00 INFO  [main] VolumeDaemon: mounted VOLUME on MOUNTPOINT"),
                    log);
            assertTrue(log.contains("): java.io.IOException: Input/output error"), log);
            assertTrue(log.contains("at org.opendedup.sar.volume.file.FileReader.read(FileReader.java:12)"), log);
            assertTrue(log.contains("ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)"), log);
            assertTrue(log.contains("999 more times in the last 60 s"), log);
            assertTrue(log.contains(" 512 bytes at offset 4096"), log);
            assertTrue(log.contains("frame 3 of container 17, pack 00000000/000000000400.pack"), log);
            String[] lines = log.split("\n");
            assertEquals(
                    lines[1].replaceAll(".*(name-[0-9a-f]{8}) \\(inode 169\\).*", "$1"),
                    lines[5].replaceAll(".*(name-[0-9a-f]{8}) \\(inode 169\\).*", "$1"),
                    "one name, one placeholder");
            assertTrue(entries.get("status.json").contains("\"health\" : \"well\""), entries.get("status.json"));
            assertTrue(entries.get("stats.json").contains("\"logicalBytes\" : 4000"), entries.get("stats.json"));
            assertTrue(entries.get("jvm/threads.txt").contains("sdfs-health"), entries.get("jvm/threads.txt"));
            assertTrue(entries.get("jvm/heap-by-class.txt").contains("java.lang.String"));
            assertTrue(entries.get("volume.xml").contains("maximum-percentage-full"), entries.get("volume.xml"));
        }
    }

    @Test
    void jsonNamesTheFileAndWhatItHolds() throws Exception {
        Path bundle = folder.resolve("bundle.zip");
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            Map<String, Object> made = daemon.json("support-bundle", bundle.toString());
            assertEquals(bundle.toString(), made.get("file"));
            assertEquals(false, made.get("withNames"));
            assertEquals(entries(bundle).keySet(), Set.copyOf((List<?>) made.get("entries")));
        }
    }

    /** The control: the same bundle with names has what the other test looks for. */
    @Test
    void withNamesTheyStay() throws Exception {
        Path bundle = folder.resolve("bundle.zip");
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            writeLog(daemon);
            assertEquals(0, daemon.cli("support-bundle", "--with-names", bundle.toString()), daemon.err());
        }
        String all = String.join("\n", entries(bundle).values());
        for (String secret : new String[] {
            "Küche", "Zwiebel", "Gurke", "Anna", "elsewhere", "pool0", "81549300", REGISTER, folder.toString()
        }) {
            assertTrue(all.contains(secret), secret);
        }
    }

    /** XML spells some names otherwise, and people write names into comments. */
    @Test
    void namesOfAVolumeFileAreReplacedHoweverTheyAreSpelled() throws Exception {
        VolumeDefinition plain = Definitions.inStore("pool0", folder.resolve("base"), folder.resolve("store"));
        var definition = new VolumeDefinition(plain.values()
                .with(VolumeOptions.METADATA_LOCATION, Path.of("/mirror/<a & \"b\">"))
                .with(VolumeOptions.OBJECT_STORE, "s3://kiste/volume?endpoint=http://gurke.example:9000"));
        Path file = new ConfigDirectory(folder).fileOf("pool0");
        VolumeFile.write(file, definition);
        Files.writeString(file, Files.readString(file).replace("<sdfscli", "<!-- disk of Anna -->\n  <sdfscli"));
        List<String> secrets = List.of("Anna", "mirror", "&lt;a", "b&quot;", "kiste", "gurke", "pool0");
        for (boolean withNames : new boolean[] {false, true}) {
            var output = new CommandOutput(folder);
            Path bundle = folder.resolve(withNames + ".zip");
            List<String> words = new ArrayList<>(List.of("pool0", "support-bundle", bundle.toString()));
            words.addAll(withNames ? List.of("--with-names") : List.of());
            int code = CommandRunner.run(
                    new SdfsCli(output.environment()), output.environment(), words.toArray(String[]::new));
            assertEquals(0, code, output.err());
            String shown = entries(bundle).get("volume.xml");
            assertTrue(shown.contains("maximum-percentage-full"), shown);
            for (String secret : secrets) {
                assertEquals(withNames, shown.contains(secret), () -> secret + " in " + shown);
            }
        }
    }

    @Test
    void anUnmountedVolumeHasABundleThatReplacesNoFile() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            writeLog(daemon);
        }
        Path bundle = folder.resolve("bundle.zip");
        var output = new CommandOutput(folder);
        String[] arguments = {"pool0", "support-bundle", bundle.toString()};
        assertEquals(0, CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(bundle)));
        assertTrue(entries(bundle).get("status.json").contains("notAvailable"), entries(bundle)::toString);
        assertTrue(entries(bundle).get("log/daemon.log").contains("mounted VOLUME"), entries(bundle)::toString);

        byte[] before = Files.readAllBytes(bundle);
        output = new CommandOutput(folder);
        assertEquals(1, CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments));
        assertTrue(output.err().contains("exists already"), output.err());
        assertEquals(
                new String(before, StandardCharsets.ISO_8859_1), Files.readString(bundle, StandardCharsets.ISO_8859_1));
    }
}
