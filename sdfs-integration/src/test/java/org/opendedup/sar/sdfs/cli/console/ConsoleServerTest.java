package org.opendedup.sar.sdfs.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jolokia.Role;

/** Who gets which answers from the console, without a browser. The volume {@code pool0} has no engine. */
@Timeout(120)
class ConsoleServerTest {
    private static final String READ_THRESHOLD = "{'type':'read','attribute':'ReferenceCountThreshold',"
            + "'mbean':'org.opendedup.sar:type=SelectivePromotion,volume=pool0'}";
    private static final String WRITE_THRESHOLD = "{'type':'write','attribute':'ReferenceCountThreshold','value':10,"
            + "'mbean':'org.opendedup.sar:type=SelectivePromotion,volume=pool0'}";

    @TempDir
    Path folder;

    private final List<String> log = new CopyOnWriteArrayList<>();
    private final SetClock clock = new SetClock();
    private ConsoleUsers users;
    private RunningDaemon daemon;
    private ConsoleServer console;

    private static final class SetClock extends Clock {
        private Instant now = Instant.parse("2026-05-01T12:00:00Z");

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new AssertionError("not asked");
        }

        @Override
        public Instant instant() {
            return now;
        }
    }

    @BeforeEach
    void begin() throws Exception {
        users = new ConsoleUsers(folder);
        daemon = new RunningDaemon(folder, new FakeMountService());
        console = start("127.0.0.1:0", null);
    }

    private ConsoleServer start(String listen, TlsKeys tls) throws IOException {
        return ConsoleServer.start(
                new CommandOutput(folder).environment(), ListenAddress.parse(listen), tls, users, log::add, clock);
    }

    @AfterEach
    void end() throws Exception {
        console.close();
        daemon.close();
    }

    private RawHttp http() {
        return new RawHttp(SocketFactory.getDefault(), console.address());
    }

    private static String login(String user, String password) {
        return "{'user':'" + user + "','password':'" + password + "'}";
    }

    /** A client that has logged in as a new user with this role. */
    private RawHttp loggedIn(Role role) throws IOException {
        RawHttp.Answer answer = http().post("/api/login", login("some-" + role, users.add("some-" + role, role)));
        assertEquals(200, answer.status(), answer.body());
        return http().with("Authorization", "Bearer " + answer.json().get("token"));
    }

    private static long status(RawHttp.Answer answer) throws IOException {
        assertEquals(200, answer.status(), answer.body());
        return Json.number(answer.json(), "status");
    }

    @Test
    void thePageIsServedAndAllItsFilesAreThere() throws IOException {
        RawHttp.Answer page = http().get("/");
        assertEquals(200, page.status());
        assertEquals("text/html; charset=utf-8", page.headers().get("content-type"));
        String policy = page.headers().get("content-security-policy");
        assertTrue(policy.startsWith("default-src 'none'; script-src 'self'; style-src 'self';"), policy);
        assertTrue(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), policy);
        assertEquals("DENY", page.headers().get("x-frame-options"));
        assertEquals("nosniff", page.headers().get("x-content-type-options"));
        Matcher named = Pattern.compile("(?:href|src)=\"([a-z]+\\.[a-z]+)\"").matcher(page.body());
        int files = 0;
        while (named.find()) {
            assertEquals(200, http().get("/" + named.group(1)).status(), named.group(1));
            files++;
        }
        assertEquals(3, files);
        for (String script : List.of("main.js", "volume.js", "api.js", "charts.js", "dom.js", "format.js")) {
            RawHttp.Answer answer = http().get("/" + script);
            assertEquals("text/javascript; charset=utf-8", answer.headers().get("content-type"));
            assertFalse(answer.body().contains("innerHTML"), script + " makes elements of texts");
            Matcher imported = Pattern.compile("from \"\\./([a-z]+\\.js)\"").matcher(answer.body());
            while (imported.find()) {
                assertEquals(200, http().get("/" + imported.group(1)).status(), imported.group(1));
            }
        }
        assertEquals(404, http().get("/../console-users").status());
        assertEquals(404, http().get("/ConsoleServer.class").status());
        assertEquals(405, http().send("PUT", "/", "").status());
    }

    @Test
    void nothingIsToldWithoutLogin() throws IOException {
        String password = users.add("admin", Role.CHANGE);
        for (String path : List.of("/api/volumes", "/jolokia/pool0", "/api/logout", "/api/none")) {
            RawHttp.Answer answer = http().post(path, "{}");
            assertEquals(401, answer.status(), path);
            assertNull(answer.headers().get("www-authenticate"), "a browser would keep the password");
        }
        assertEquals(401, http().post("/api/login", login("admin", "wrong")).status());
        assertEquals(401, http().post("/api/login", login("nobody", password)).status());
        assertEquals(
                401,
                http().post("/api/login", login("x".repeat(20_000), password)).status());
        assertTrue(log.get(log.size() - 1).length() < 200, "strangers must not fill a log");
        assertEquals(
                401,
                http().with("Authorization", "Bearer x")
                        .post("/api/volumes", "{}")
                        .status());
        assertTrue(log.get(0).contains("refused login of admin from 127.0.0.1"), log::toString);
        assertEquals(200, http().post("/api/login", login("admin", password)).status(), "the control");
    }

    @Test
    void aReaderMayNotChange() throws IOException {
        RawHttp reader = loggedIn(Role.READ);
        RawHttp.Answer volumes = reader.post("/api/volumes", "{}");
        assertEquals("read", volumes.json().get("role"));
        Map<String, Object> volume = Json.objects(volumes.json(), "volumes").get(0);
        assertEquals(
                Map.of("name", "pool0", "bean", "pool0", "state", "mounted", "mountPoint", daemon.mountPoint() + ""),
                volume);
        assertEquals(
                5, Json.number(reader.post("/jolokia/pool0", READ_THRESHOLD).json(), "value"));
        assertEquals(403, status(reader.post("/jolokia/pool0", WRITE_THRESHOLD)));
        assertEquals(
                5, Json.number(reader.post("/jolokia/pool0", READ_THRESHOLD).json(), "value"));
        RawHttp changer = loggedIn(Role.CHANGE);
        assertEquals(200, status(changer.post("/jolokia/pool0", WRITE_THRESHOLD)), "the control");
        assertEquals(
                10, Json.number(reader.post("/jolokia/pool0", READ_THRESHOLD).json(), "value"));
        assertTrue(
                log.get(log.size() - 1)
                        .endsWith("some-change (change) from 127.0.0.1: write"
                                + " org.opendedup.sar:type=SelectivePromotion,volume=pool0 ReferenceCountThreshold"),
                log::toString);
        assertEquals(0, daemon.cli("audit"), daemon.err());
        assertTrue(daemon.out().contains("user=some-change"), daemon.out());
        RawHttp.Answer list = changer.post("/jolokia/pool0", "[" + READ_THRESHOLD + "," + READ_THRESHOLD + "]");
        assertEquals(
                2,
                Json.objects(Json.read("{\"all\":" + list.body() + "}"), "all").size());
        assertEquals(503, reader.post("/jolokia/pool1", READ_THRESHOLD).status());
        assertEquals(503, reader.post("/jolokia/../x", READ_THRESHOLD).status());
    }

    @Test
    void requestsOfOtherPagesAreRefused() throws IOException {
        RawHttp admin = loggedIn(Role.CHANGE);
        int port = console.address().getPort();
        assertEquals(200, admin.post("/api/volumes", "{}").status(), "a program has no Origin");
        assertEquals(
                200,
                admin.with("Origin", "http://localhost:" + port)
                        .post("/api/volumes", "{}")
                        .status());
        for (String origin :
                List.of("http://evil.example", "http://localhost:1", "https://localhost:" + port, "null")) {
            assertEquals(
                    403,
                    admin.with("Origin", origin)
                            .post("/jolokia/pool0", WRITE_THRESHOLD)
                            .status(),
                    origin);
        }
        admin.with("Origin", null);
        for (String site : List.of("cross-site", "same-site")) {
            assertEquals(
                    403,
                    admin.with("Sec-Fetch-Site", site)
                            .post("/jolokia/pool0", WRITE_THRESHOLD)
                            .status());
        }
        assertEquals(
                200,
                admin.with("Sec-Fetch-Site", "same-origin")
                        .post("/api/volumes", "{}")
                        .status());
        admin.with("Sec-Fetch-Site", null);
        // What a form of another page can send.
        for (String type : List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")) {
            assertEquals(
                    415,
                    admin.with("Content-Type", type)
                            .post("/jolokia/pool0", WRITE_THRESHOLD)
                            .status());
        }
        admin.with("Content-Type", "application/json");
        assertEquals(5, Json.number(admin.post("/jolokia/pool0", READ_THRESHOLD).json(), "value"));
    }

    @Test
    void aNameThatAnotherLetLeadHereIsRefused() throws IOException {
        int port = console.address().getPort();
        RawHttp admin = loggedIn(Role.CHANGE);
        for (String host :
                List.of("evil.example:" + port, "evil.example", "127.0.0.1.evil.example:" + port, ":" + port)) {
            assertEquals(
                    421, admin.with("Host", host).post("/api/volumes", "{}").status(), host);
            assertEquals(421, admin.get("/").status(), host);
        }
        for (String host : List.of("127.0.0.1:" + port, "localhost", "localhost:18770", "[::1]:18770")) {
            assertEquals(
                    200,
                    admin.with("Host", host).post("/api/volumes", "{}").status(),
                    "the control, or a tunnel: " + host);
        }
    }

    @Test
    void requestsHaveABoundedSize() throws IOException {
        RawHttp admin = loggedIn(Role.CHANGE);
        String filler = "x".repeat(ConsoleServer.REQUEST_BYTES_MAX);
        assertEquals(413, admin.post("/jolokia/pool0", "{'a':'" + filler + "'}").status());
        assertEquals(413, http().post("/api/login", login(filler, "x")).status());
        String many =
                String.join(",", java.util.Collections.nCopies(ConsoleServer.REQUESTS_MAX + 1, "{'type':'version'}"));
        assertEquals(413, admin.post("/jolokia/pool0", "[" + many + "]").status());
        assertEquals(400, admin.post("/jolokia/pool0", "[".repeat(10_000)).status());
        assertEquals(400, admin.post("/jolokia/pool0", "[1]").status());
        assertEquals(400, admin.post("/jolokia/pool0", "no").status());
        assertEquals(200, admin.post("/jolokia/pool0", READ_THRESHOLD).status(), "the control");
    }

    @Test
    void aSessionEndsWithItsTimeItsUserAndAtRequest() throws IOException {
        RawHttp reader = loggedIn(Role.READ);
        clock.now = clock.now.plus(Sessions.IDLE).minusSeconds(1);
        assertEquals(200, reader.post("/api/volumes", "{}").status());
        clock.now = clock.now.plus(Sessions.IDLE).plusSeconds(1);
        assertEquals(401, reader.post("/api/volumes", "{}").status(), "not used for long");

        reader = loggedIn(Role.READ);
        for (Duration used = Duration.ZERO; used.compareTo(Sessions.LONGEST) < 0; used = used.plus(Sessions.IDLE)) {
            assertEquals(200, reader.post("/api/volumes", "{}").status());
            clock.now = clock.now.plus(Sessions.IDLE);
        }
        clock.now = clock.now.plusSeconds(1);
        assertEquals(401, reader.post("/api/volumes", "{}").status(), "too long");

        reader = loggedIn(Role.READ);
        assertEquals(200, reader.post("/api/logout", "{}").status());
        assertEquals(401, reader.post("/api/volumes", "{}").status(), "logged out");

        reader = loggedIn(Role.READ);
        users.add("some-read", Role.READ);
        assertEquals(401, reader.post("/api/volumes", "{}").status(), "another password");

        reader = loggedIn(Role.READ);
        users.remove("some-read");
        assertEquals(401, reader.post("/api/volumes", "{}").status(), "removed");
    }

    @Test
    void aProgramSendsNameAndPasswordWithEachRequest() throws IOException {
        String password = users.add("script", Role.READ);
        String basic =
                "Basic " + Base64.getEncoder().encodeToString(("script:" + password).getBytes(StandardCharsets.UTF_8));
        RawHttp script = http().with("Authorization", basic);
        assertEquals(
                5, Json.number(script.post("/jolokia/pool0", READ_THRESHOLD).json(), "value"));
        assertEquals(200, script.post("/api/volumes", "{}").status());
        users.remove("script");
        assertEquals(401, script.post("/api/volumes", "{}").status());
        assertEquals(
                401,
                http().with("Authorization", "Basic !")
                        .post("/api/volumes", "{}")
                        .status());
        assertTrue(log.get(log.size() - 1).contains("refused name and password from 127.0.0.1"), log::toString);
    }

    @Test
    void aCertificateMayNameAllHostsOfADomain() throws Exception {
        TlsKeys own = TlsKeys.own(folder, "localhost");
        console.close();
        console = start("127.0.0.1:0", new TlsKeys(own.context(), Set.of("*.wild.example"), own.fingerprint()));
        var https = new RawHttp(trusting(folder.resolve(TlsKeys.FILE)), console.address());
        assertEquals(
                200, https.with("Host", "server.wild.example:8770").get("/").status());
        for (String other : List.of("wild.example", "a.server.wild.example", "wild.example.evil", ".wild.example")) {
            assertEquals(421, https.with("Host", other).get("/").status(), other);
        }
    }

    @Test
    void beyondLoopbackItNeedsTlsAndAUser() throws Exception {
        assertTrue(assertThrows(IOException.class, () -> start("0.0.0.0:0", null))
                .getMessage()
                .contains("--tls"));
        TlsKeys keys = TlsKeys.own(folder, "0.0.0.0");
        assertTrue(keys.names().containsAll(List.of("localhost", "127.0.0.1")), keys::toString);
        assertEquals(
                "rw-------",
                PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(TlsKeys.FILE))));
        assertTrue(assertThrows(IOException.class, () -> start("0.0.0.0:0", keys))
                .getMessage()
                .contains("user add"));
        users.add("admin", Role.CHANGE);
        console.close();
        console = start("0.0.0.0:0", keys);
        var https = new RawHttp(trusting(folder.resolve(TlsKeys.FILE)), console.address());
        assertEquals(200, https.get("/").status(), "the control");
        assertEquals(
                421,
                https.with("Host", "evil.example:" + console.address().getPort())
                        .get("/")
                        .status());
        assertThrows(IOException.class, () -> http().get("/"), "no answer without TLS");
        assertThrows(IOException.class, () -> TlsKeys.read(folder.resolve(TlsKeys.FILE), "another password"));
        assertThrows(IOException.class, () -> TlsKeys.read(folder.resolve("none.p12"), ""));
    }

    private static SocketFactory trusting(Path store) throws Exception {
        KeyStore known = KeyStore.getInstance("PKCS12");
        try (var in = Files.newInputStream(store)) {
            known.load(in, "changeit".toCharArray());
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("console", known.getCertificate("console"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }
}
