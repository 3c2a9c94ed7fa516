package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.cli.console.ConsoleServer;
import org.opendedup.sar.sdfs.cli.console.ConsoleUsers;
import org.opendedup.sar.sdfs.cli.console.ListenAddress;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jolokia.Role;

/** sdfscli asks the engine in SDFS's process: both know only SDFS's volume file. */
@Timeout(300)
class PluginCommandsTest extends PluginTrial {
    @Test
    void statusAndFiguresAreThoseOfTheProcess() throws Exception {
        put(open());
        assertEquals(0, cli(), err::toString);
        assertTrue(out.toString().startsWith("pool0: well\n  mounted    for "), out::toString);
        Map<String, Object> status = json("status");
        assertEquals(
                List.of(
                        "name",
                        "health",
                        "state",
                        "pid",
                        "jmxName",
                        "uptimeSeconds",
                        "findings",
                        "space",
                        "devices",
                        "collection",
                        "scrub",
                        "ssd",
                        "index",
                        "errors"),
                List.copyOf(status.keySet()));
        assertEquals("well", status.get("health"));
        assertEquals("mounted", status.get("state"));
        assertEquals(ProcessHandle.current().pid(), Json.number(status, "pid"));
        assertEquals("every 30 days", Json.object(status, "scrub").get("schedule"));
        assertTrue(Json.number(Json.object(status, "space"), "storedBytes") > 0);
        Map<String, Object> figures = json("stats");
        assertEquals("pool0", figures.get("name"));
        assertEquals(CHUNKS, Json.number(figures, "chunks"));
        assertEquals(0, cli("stats", "--prometheus"), err::toString);
        assertTrue(out.toString().contains("\nsdfs_chunks{volume=\"pool0\"} " + CHUNKS + "\n"), out::toString);
        assertEquals(true, json("index", "status").get("complete"));
        assertEquals(0, cli("index", "status"));
        assertTrue(out.toString().contains("state       complete"), out::toString);
        close();
        assertEquals(4, cli("status"));
        assertTrue(out.toString().startsWith("pool0: not mounted\n"), out::toString);
        assertFalse(Files.exists(socket()));
    }

    @Test
    void jobsAreStartedSetAndSeenToEnd() throws Exception {
        PluginEngine opened = open();
        long[] locations = put(opened);
        Map<String, Object> scrub = json("scrub", "start", "--wait");
        assertEquals("done", scrub.get("state"));
        assertEquals("sdfscli", scrub.get("cause"));
        assertTrue(Json.number(scrub, "bytesDone") > 0);
        assertEquals(true, Json.object(json("scrub", "status"), "last").get("clean"));
        assertEquals(0, cli("heal", "--wait"), err::toString);
        assertEquals("No chunk is marked as damaged.\n", out.toString());
        assertEquals(0, cli("check"), err::toString);
        assertTrue(out.toString().contains("pool0"), out::toString);
        for (int number = 0; number < CHUNKS; number++) {
            opened.claim(Chunk.of(number).hash(), locations[number], -1);
        }
        opened.sync();
        HostMaps.delete(folder, Chunk.FILE);
        assertEquals(20_000_000, Json.number(Json.object(json("gc", "set", "--rate=20"), "after"), "bytesPerSecond"));
        Map<String, Object> collected = json("gc", "--wait", "--leave=0");
        assertEquals("done", collected.get("state"));
        assertTrue(Json.number(collected, "returnedBytes") > 0, collected::toString);
        assertEquals("sdfscli", Json.object(json("gc", "status"), "last").get("cause"));
        assertEquals(0, Json.number(json("stats"), "garbageChunks"));
        assertEquals(1, cli("gc", "stop"));
        assertTrue(err.toString().contains("no collection of garbage is running"), err::toString);
        assertEquals(false, json("resume").get("resumed"), "it accepts changes already");
        close();
        List<Map<String, Object>> recorded = Json.objects(json("audit"), "lines");
        assertEquals(
                List.of("mounted", "scrub", "heal", "check", "gc", "gc", "gc", "resume", "unmounted"),
                recorded.stream().map(line -> line.get("what")).toList(),
                "what only reads is not recorded");
        assertEquals(ProcessHandle.current().pid(), Json.number(recorded.get(1), "pid"));
        assertTrue(String.valueOf(recorded.get(6).get("result")).startsWith("refused: no collection"));
        assertEquals(
                "rw-------",
                PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(store.resolve("sar/metadata/run/pool0.audit"))));
    }

    @Test
    void metadataAreBackedUpOutsideTheVolumesFoldersAndWhatDoesNotSuitSdfsIsRefused() throws Exception {
        put(open());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket())));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket().getParent())));
        Path target = folder.resolve("backups");
        json("metadata-backup", target.toString());
        assertTrue(Files.isDirectory(target));
        assertEquals(List.of(), Json.objects(json("metadata-backup", "--list"), "backups"), "the automatic ones");
        assertEquals(1, cli("metadata-backup", store.resolve("sar/data/mine").toString()));
        assertTrue(err.toString().contains("lies in the data location"), err::toString);
        // SDFS has the locations of its chunks: a collection that leaves out what was asked for would not say so.
        for (String command : List.of("gc --wait --arrange=10", "gc set --arrange=true")) {
            assertEquals(1, cli(command.split(" ")));
            assertTrue(err.toString().contains("are not arranged"), err::toString);
        }
        for (String command : List.of("gc --wait", "gc set --arrange=false", "status")) {
            assertEquals(0, cli(command.split(" ")), err::toString);
        }
        for (String command : List.of("df", "damaged", "unmount", "index join", "tier status", "file a")) {
            assertEquals(1, cli(command.split(" ")), command);
            assertTrue(err.toString().contains("it has no files and no volume file of its own"), err::toString);
        }
    }

    @Test
    void damageIsExitCode2AndTheCommandOfTheFindingHealsIt() throws Exception {
        put(open());
        close();
        DamagedPacks.make(store.resolve("sar/data"));
        PluginEngine opened = open();
        assertEquals(0, cli("status"), "control: nobody has read it yet");
        assertEquals(2, cli("scrub", "start", "--wait"), err::toString);
        assertTrue(out.toString().startsWith("DAMAGE FOUND. "), out::toString);
        assertFalse(out.toString().contains("sdfscli pool0 damaged"), out::toString);
        // A thread in the background marks the chunks that were found.
        while (cli("status", "--json") != 2) {
            Thread.sleep(10);
        }
        Map<String, Object> report = Json.read(out.toString());
        assertEquals("damaged", report.get("health"));
        Map<String, Object> finding = Json.objects(report, "findings").get(0);
        assertEquals("damaged-chunks", finding.get("id"));
        assertTrue(String.valueOf(finding.get("command")).endsWith("; sdfscli pool0 heal --wait"), finding::toString);
        assertEquals(1, cli("heal", "--wait"), err::toString);
        assertTrue(out.toString().contains("STILL DAMAGED"), out::toString);
        put(opened);
        assertEquals(0, cli("heal", "--wait"), () -> out + " " + err);
        assertEquals(0, cli("status"), out::toString);
    }

    @Test
    void restoredMetadataAreExitCode1UntilTheyAreAccepted() throws Exception {
        put(open());
        close();
        assertEquals(0, check("--restore-metadata"), err::toString);
        open();
        assertEquals(1, cli("status", "--json"));
        Map<String, Object> finding =
                Json.objects(Json.read(out.toString()), "findings").get(0);
        assertEquals("restored", finding.get("id"));
        assertEquals("sdfscli pool0 metadata-backup --accept-restored", finding.get("command"));
        assertEquals(1, cli("gc", "--wait"));
        assertTrue(err.toString().contains("call: sdfscli pool0 metadata-backup --accept-restored"), err::toString);
        assertEquals(0, cli("metadata-backup", "--accept-restored"), err::toString);
        assertEquals(0, cli("status"), out::toString);
        assertEquals(0, cli("gc", "--wait"), err::toString);
    }

    @Test
    void commandsNameTheVolumeOfTheFileAndBeansThatOfTheSetting() throws Exception {
        writeVolumeFile("sar-name=\"other\" sar-collect=\"false\"");
        open();
        Map<String, Object> status = json("status");
        assertEquals("pool0", status.get("name"));
        assertEquals("other", status.get("jmxName"));
        assertEquals(1, cli("gc"));
        assertTrue(err.toString().contains("because sar-collect on <extended-config> is false"), err::toString);
        assertEquals(1, cli("sar", "status"));
        assertTrue(err.toString().contains("the volume has no SSD; sar-ssd-location"), err::toString);
    }

    @Test
    void aChunkIsShownByItsFingerprint() throws Exception {
        PluginEngine opened = open();
        put(opened);
        opened.claim(Chunk.of(7).hash(), 0, 4);
        Map<String, Object> found = Json.objects(
                        json("chunk", HexFormat.of().formatHex(Chunk.of(7).hash())), "chunks")
                .get(0);
        assertEquals(5, Json.number(found, "references"));
        assertEquals(Chunk.of(7).bytes().length, Json.number(found, "lengthBytes"));
        CompositeData[] chunks = (CompositeData[]) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("org.opendedup.sar:type=Volume,volume=pool0"),
                        "findChunk",
                        new Object[] {
                            String.valueOf(found.get("fingerprint")).substring(0, Host.ALL_ENCRYPTED ? 64 : 12)
                        },
                        new String[] {String.class.getName()});
        assertEquals(1, chunks.length);
        assertEquals("HashChunk", chunks[0].getCompositeType().getTypeName());
        assertEquals(5, chunks[0].get("references"));
        assertEquals(false, chunks[0].get("damaged"));
    }

    @Test
    void withAnSsdThereAreItsStatusAndSettings() throws Exception {
        writeVolumeFile("sar-ssd-location=\"" + folder.resolve("copies") + "\" sar-ssd-capacity=\"256MB\"");
        put(open());
        assertEquals("online", json("sar", "status").get("state"));
        Map<String, Object> changed = json("sar", "set", "--threshold=9");
        assertEquals(5, Json.number(Json.object(changed, "before"), "referenceCountThreshold"), changed::toString);
        assertEquals(9, Json.number(Json.object(changed, "after"), "referenceCountThreshold"), changed::toString);
        assertFalse(Files.readString(volumeFile()).contains("threshold"), "SDFS's file is not written");
        assertEquals("online", Json.object(json("status"), "ssd").get("state"));
    }

    /** Asks the console, and returns its answer. */
    private static String ask(ConsoleServer console, String login, String path, String request) throws Exception {
        // Java's newer client leaves threads until its garbage is collected.
        HttpURLConnection post = (HttpURLConnection)
                console.page("127.0.0.1").resolve(path).toURL().openConnection();
        post.setRequestProperty("Content-Type", "application/json");
        post.setRequestProperty("Authorization", "Basic " + login);
        post.setRequestProperty("Connection", "close");
        post.setDoOutput(true);
        try (OutputStream out = post.getOutputStream()) {
            out.write(request.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
        }
        try (InputStream in = post.getResponseCode() < 400 ? post.getInputStream() : post.getErrorStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void theConsoleReachesSdfsProcess() throws Exception {
        put(open());
        var users = new ConsoleUsers(folder);
        String login = Base64.getEncoder()
                .encodeToString(("anna:" + users.add("anna", Role.CHANGE)).getBytes(StandardCharsets.UTF_8));
        try (ConsoleServer console = ConsoleServer.start(
                environment(), ListenAddress.parse("127.0.0.1:0"), null, users, line -> {}, Clock.systemUTC())) {
            String volumes = ask(console, login, "api/volumes", "{}");
            assertTrue(
                    volumes.contains("{\"name\":\"pool0\",\"bean\":\"pool0\",\"state\":\"mounted\"}"),
                    () -> volumes + ": a volume that SDFS mounts has no mount point that we know");
            // The page shows the parts whose beans can be read, and buttons for them.
            for (String type : List.of("Volume", "Jobs", "History", "Parameters", "GarbageCollector", "ExactPass")) {
                String bean = "org.opendedup.sar:type=" + type + ",volume=pool0";
                Map<String, Object> answer =
                        Json.read(ask(console, login, "jolokia/pool0", "{'type':'read','mbean':'" + bean + "'}"));
                assertEquals(!type.equals("ExactPass"), Json.number(answer, "status") == 200, answer::toString);
            }
            String started = ask(
                    console,
                    login,
                    "jolokia/pool0",
                    "{'type':'exec','mbean':'org.opendedup.sar:type=Heal,volume=pool0','operation':'start'}");
            assertEquals(200, Json.number(Json.read(started), "status"), started);
        }
        Map<String, Object> recorded = Json.objects(json("audit"), "lines").get(1);
        assertEquals("anna", Json.object(recorded, "arguments").get("user"), recorded::toString);
    }

    @Test
    void whatAKilledProcessLeftDoesNotMatter() throws Exception {
        open();
        close();
        try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            killed.bind(UnixDomainSocketAddress.of(socket()));
        }
        assertTrue(Files.exists(socket()), "the control");
        assertEquals(4, cli("stats"));
        assertEquals(0, check(), err::toString);
        open();
        assertEquals(0, cli("stats"), err::toString);
    }

    @Test
    void aSocketThatCannotBeMadeIsNoReasonNotToMountAndFindingsNameBeans() throws Exception {
        store = folder.resolve("longer-than-the-path-of-a-socket-may-be-".repeat(3));
        writeVolumeFile("");
        put(open());
        close();
        // What sdfs-check leaves after a restore.
        Files.createFile(store.resolve("sar/data/other-history"));
        open();
        assertEquals(4, cli("status"));
        assertTrue(out.toString().contains("SDFS's log says why it has no control socket"), out::toString);
        var bean = new ObjectName("org.opendedup.sar:type=Volume,volume=pool0");
        String[] findings =
                (String[]) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, "Findings");
        assertTrue(
                findings[0].contains("acceptRestored of org.opendedup.sar:type=MetadataBackup,volume=pool0"),
                findings[0]);
    }
}
