package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.metrics.PrometheusSamples;

/** What monitors a volume, with a real mount: metrics over HTTP, the files in {@code config}, audit, group, watch. */
@Timeout(300)
class MonitoringOnMountTest {
    private static final Path CONFIG = Commands.projectFolder().resolve("config");
    private static final Path RULES = CONFIG.resolve("prometheus-alerts.yml");
    private static final Path DASHBOARD = CONFIG.resolve("grafana-dashboard.json");
    private static final Pattern METRIC = Pattern.compile("\\bsdfs_[a-z0-9_]+");
    private static final Pattern FINDINGS = Pattern.compile("id=~?\\\\?\"([a-z|-]+)");

    @TempDir
    Path folder;

    /** One mount serves for all, because a mount costs more than the checks. */
    @Test
    void aMountIsMonitored() throws Exception {
        Path ssd = Files.createDirectories(folder.resolve("ssd"));
        // The socket of the status is in a folder of the machine: no volume of another test may have its name.
        Path pool = folder.resolve("monitored" + ProcessHandle.current().pid());
        try (MountedVolume volume = MountedVolume.makeWith(
                        pool, "--sar-ssd-location=" + ssd.resolve("copies"), "--sar-ssd-capacity=1GB")
                .with("rw,metrics=0")) {
            volume.mount();
            Path file = volume.mountPoint().resolve("file");
            Bytes.writeAndSync(file, Bytes.random(1, 4 << 20));
            volume.dropKernelCaches();
            Files.readAllBytes(file);
            String text = scrape(volume);
            PrometheusSamples samples = PrometheusSamples.parse(text);
            assertTrue(samples.value("sdfs_request_duration_seconds_count", "kind=\"fsync\"") >= 1, text);
            assertTrue(samples.value("sdfs_request_duration_seconds_count", "kind=\"write\"") >= 1, text);
            // The kernel may still be reading ahead.
            TestWait.until(() -> eachReadHasASource(PrometheusSamples.parse(scrape(volume))));
            assertEquals(
                    samples.types().keySet(),
                    PrometheusSamples.parse(volume.run("stats", "--prometheus"))
                            .types()
                            .keySet());
            checkConfiguration(samples.names());
            checkByPromtool(text);
            checkGroup(volume);
            volume.run("gc", "set", "--paused=false");
            volume.run("gc", "--wait");
            volume.unmount();
            checkWatch(volume);
            Map<String, Object> audit = volume.json("audit");
            List<String> events = Json.objects(audit, "lines").stream()
                    .map(line -> String.valueOf(line.get("what")))
                    .toList();
            assertEquals(List.of("mounted", "gc", "gc", "unmounted"), events);
        }
    }

    private static boolean eachReadHasASource(PrometheusSamples samples) {
        double reads = 0;
        for (String source : List.of("memory", "fast_tier", "ssd", "ahead", "disk")) {
            reads += samples.value("sdfs_read_duration_seconds_count", "source=\"" + source + "\"");
        }
        return reads > 0 && reads == samples.value("sdfs_request_duration_seconds_count", "kind=\"read\"");
    }

    private static String scrape(MountedVolume volume) throws Exception {
        Matcher address = Pattern.compile("http://\\S+/metrics").matcher(Files.readString(volume.log()));
        assertTrue(address.find());
        var connection = (HttpURLConnection) URI.create(address.group()).toURL().openConnection();
        connection.setRequestProperty("Connection", "close");
        assertEquals(200, connection.getResponseCode());
        return new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Checks that each metric and each finding that alerts and dashboard name exists. */
    private static void checkConfiguration(Set<String> names) throws IOException {
        for (Path file : List.of(RULES, DASHBOARD)) {
            assertEquals(Set.of(), missing(Files.readString(file), names), file.toString());
        }
        assertEquals(Set.of("sdfs_no_such_bytes"), missing("rate(sdfs_no_such_bytes[5m])", names), "the control");
        assertTrue(Json.read(Files.readString(DASHBOARD)).containsKey("panels"));
        assertEquals(Set.of(), missingFindings(Files.readString(RULES)));
        assertEquals(Set.of("no-such"), missingFindings("sdfs_finding{id=~\"read-only|no-such\"}"), "the control");
    }

    /** Metrics that exist only when something is wrong, or where a device tells its wear. */
    private static Set<String> missing(String text, Set<String> names) {
        Set<String> missing = new TreeSet<>();
        METRIC.matcher(text).results().map(MatchResult::group).forEach(missing::add);
        missing.removeAll(names);
        missing.removeAll(Set.of("sdfs_finding", "sdfs_ssd_wear_ratio"));
        return missing;
    }

    private static Set<String> missingFindings(String rules) throws IOException {
        Path health = Commands.projectFolder().resolve("sdfs-care/src/main/java/org/opendedup/sar/sdfs/health");
        var sources = new StringBuilder();
        try (Stream<Path> files = Files.list(health)) {
            for (Path file : files.toList()) {
                sources.append(Files.readString(file));
            }
        }
        Set<String> missing = new TreeSet<>();
        FINDINGS.matcher(rules)
                .results()
                .flatMap(found -> Stream.of(found.group(1).split("\\|")))
                .filter(id -> sources.indexOf("\"" + id + "\"") < 0)
                .forEach(missing::add);
        return missing;
    }

    /** Only where Prometheus is installed: its package is large. {@link PrometheusSamples} checks the same rules. */
    private void checkByPromtool(String text) throws IOException {
        if (Commands.run("sh", "-c", "command -v promtool").exitCode() != 0) {
            return;
        }
        Path metrics = Files.writeString(folder.resolve("metrics.txt"), text);
        assertEquals("", Commands.succeed("sh", "-c", "promtool check metrics < " + metrics));
        Commands.succeed("promtool", "check", "rules", RULES);
    }

    /** A member of the group reads the status, and changes nothing; another user does neither. */
    private static void checkGroup(MountedVolume volume) throws IOException {
        Path socket = Path.of("/run/sdfs", volume.name() + ".status");
        if (Commands.run("getent", "group", "adm").exitCode() != 0) {
            return;
        }
        String group = Commands.succeed("getent", "group", "adm").split(":")[2];
        assertTrue(ask(socket, group, "status").contains("\"health\":\"well\""));
        assertTrue(ask(socket, group, "stats").contains("\"storedBytes\""));
        String refused = ask(socket, group, "unmount");
        assertTrue(refused.contains("is for root: your group may only read the status"), refused);
        assertTrue(ask(socket, "65534", "status").contains("PermissionError"), "the control: another group");
        Path control =
                volume.log().resolveSibling("../run/" + volume.name() + ".sock").normalize();
        assertTrue(ask(control, group, "unmount").contains("PermissionError"), "the control socket is closed to it");
    }

    private static String ask(Path socket, String group, String command) throws IOException {
        String program = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
                + "s.sendall(b'{\"version\":1,\"command\":\"" + command + "\"}\\n')\n"
                + "print(s.makefile().readline())";
        return Commands.run(
                        "setpriv",
                        "--reuid=65534",
                        "--regid=" + group,
                        "--clear-groups",
                        "python3",
                        "-c",
                        program,
                        socket)
                .output();
    }

    /** The volume is not mounted any more, which its watch tells. */
    private void checkWatch(MountedVolume volume) throws Exception {
        Path told = folder.resolve("told");
        ProcessBuilder builder = new ProcessBuilder(
                        Commands.projectFolder().resolve("scripts/sdfscli").toString(),
                        volume.name(),
                        "watch",
                        "--interval=1",
                        "--exec=echo \"$SDFS_HEALTH_BEFORE $SDFS_HEALTH $SDFS_STATE\" >> " + told)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("watch.out").toFile());
        builder.environment().put("SDFS_CONFIG_DIR", volume.configFolder().toString());
        Process watch = builder.start();
        try {
            TestWait.until(() -> Files.exists(told) && !Files.readString(told).isEmpty());
        } finally {
            watch.destroy();
            watch.waitFor();
        }
        assertEquals("well unknown not mounted\n", Files.readString(told));
    }
}
