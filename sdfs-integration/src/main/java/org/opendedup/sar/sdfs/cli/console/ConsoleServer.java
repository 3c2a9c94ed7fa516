package org.opendedup.sar.sdfs.cli.console;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.console.ConsoleUsers.User;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.http.BoundedHttpServer;
import org.opendedup.sar.sdfs.jolokia.Agent;

/**
 * Serves the page of all volumes, and answers its requests. Who may change what is decided by the daemons; this class
 * decides who asks. Each request for data has its own credentials in the header {@code Authorization}, so nothing that
 * a browser sends by itself, such as a cookie, gives a right. Requests have a bounded size and time.
 */
public final class ConsoleServer implements Closeable {
    /** Longest request for data, in bytes: it must fit into one of the control socket, with what is escaped in it. */
    public static final int REQUEST_BYTES_MAX = 24 << 10;

    /** Requests of the Jolokia protocol in one list. */
    static final int REQUESTS_MAX = 60;

    private static final int NAME_SHOWN_MAX = 40;
    /** A browser has six. */
    private static final int CONNECTIONS_MAX = 64;

    private static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "X-Frame-Options",
            "DENY",
            "X-Content-Type-Options",
            "nosniff",
            "Referrer-Policy",
            "no-referrer",
            "Cross-Origin-Opener-Policy",
            "same-origin",
            "Cross-Origin-Resource-Policy",
            "same-origin",
            "Cache-Control",
            "no-store");

    private final BoundedHttpServer server;
    private final String scheme;
    private final Set<String> hosts = new HashSet<>();
    private final StaticFiles files = new StaticFiles();
    private final ConsoleVolumes volumes;
    private final Sessions sessions;
    private final Consumer<String> log;
    private final Clock clock;

    /** An answer. */
    private record Answer(int status, String type, byte[] content) {
        private static final String JSON = "application/json; charset=utf-8";

        static Answer json(String content) {
            return new Answer(200, JSON, content.getBytes(StandardCharsets.UTF_8));
        }

        static Answer json(Map<String, ?> content) {
            return json(Json.line(content));
        }
    }

    /** A request that is not answered. */
    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    private ConsoleServer(
            Environment environment,
            ListenAddress address,
            @Nullable TlsKeys tls,
            ConsoleUsers users,
            Consumer<String> log,
            Clock clock)
            throws IOException {
        volumes = new ConsoleVolumes(environment);
        sessions = new Sessions(users, clock);
        this.log = log;
        this.clock = clock;
        scheme = tls == null ? "http" : "https";
        server = new BoundedHttpServer(
                address.socketAddress(),
                tls == null ? null : tls.context(),
                CONNECTIONS_MAX,
                "sdfs-console",
                this::handle);
        allow("localhost");
        allow("127.0.0.1");
        allow("[::1]");
        allow(address.host());
        if (tls != null) {
            tls.names().forEach(this::allow);
        }
    }

    /**
     * Starts to serve.
     *
     * @param tls null: without TLS
     * @param log gets a line for each change and each refused login
     * @throws IOException if it cannot listen, or may not: beyond loopback it needs TLS and a user
     */
    public static ConsoleServer start(
            Environment environment,
            ListenAddress address,
            @Nullable TlsKeys tls,
            ConsoleUsers users,
            Consumer<String> log,
            Clock clock)
            throws IOException {
        requireTls(address, tls != null);
        if (!address.isLoopback() && users.all().isEmpty()) {
            throw new IOException("beyond this machine the console needs a user: sdfscli console user add NAME");
        }
        var console = new ConsoleServer(environment, address, tls, users, log, clock);
        console.server.start();
        return console;
    }

    /** @throws IOException if programs of other machines can connect, without TLS */
    public static void requireTls(ListenAddress address, boolean hasTls) throws IOException {
        if (!hasTls && !address.isLoopback()) {
            throw new IOException("beyond this machine the console needs TLS: add --tls");
        }
    }

    /** Returns where it listens. */
    public InetSocketAddress address() {
        return server.address();
    }

    /** Returns the address of the page. */
    public URI page(String host) {
        String shown = host.contains(":") ? "[" + host + "]" : host;
        return URI.create(scheme + "://" + shown + ":" + address().getPort() + "/");
    }

    /**
     * Allows a name of the machine in the header Host: a page of another name that leads here, by a name server, is
     * refused.
     */
    private void allow(String host) {
        hosts.add(normal(host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host));
    }

    /** Returns a host as it is compared: an IPv6 address has several spellings. */
    private static String normal(String host) {
        if (host.startsWith("[")) {
            try {
                return "[" + InetAddress.getByName(host).getHostAddress() + "]";
            } catch (UnknownHostException e) {
                return host; // Not one of ours.
            }
        }
        return host.toLowerCase(Locale.ROOT);
    }

    private void handle(HttpExchange exchange) throws IOException {
        Answer answer;
        try (exchange) {
            try {
                answer = answer(exchange);
            } catch (Refused e) {
                answer = new Answer(
                        e.status,
                        Answer.JSON,
                        Json.line(Map.of("error", String.valueOf(e.getMessage())))
                                .getBytes(StandardCharsets.UTF_8));
            } catch (IOException | RuntimeException e) {
                log("a request failed: " + FailureText.of(e));
                answer = new Answer(
                        500, Answer.JSON, "{\"error\":\"the request failed\"}".getBytes(StandardCharsets.UTF_8));
            }
            HEADERS.forEach(exchange.getResponseHeaders()::set);
            exchange.getResponseHeaders().set("Content-Type", answer.type);
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(
                    answer.status, isHead || answer.content.length == 0 ? -1 : answer.content.length);
            if (!isHead) {
                exchange.getResponseBody().write(answer.content);
            }
        }
    }

    private Answer answer(HttpExchange exchange) throws IOException, Refused {
        requireOwnHost(exchange.getRequestHeaders());
        String path = exchange.getRequestURI().getPath();
        switch (exchange.getRequestMethod()) {
            case "GET", "HEAD" -> {
                StaticFiles.StaticFile file = files.find(path)
                        .orElseThrow(() -> new Refused(404, "there is no page " + Printable.line(path)));
                return new Answer(200, file.type(), file.content());
            }
            case "POST" -> {
                requireOwnPage(exchange.getRequestHeaders());
                return data(exchange, path);
            }
            default -> throw new Refused(405, "only GET and POST are answered");
        }
    }

    private void requireOwnHost(Headers headers) throws Refused {
        List<String> named = headers.get("Host");
        if (named == null || named.size() != 1 || !isOwn(named.get(0))) {
            throw new Refused(421, "this is no name of the console; its names are " + new TreeSet<>(hosts));
        }
    }

    /** @param named a host, and perhaps a port: of a tunnel, whose near end may have any port */
    private boolean isOwn(String named) {
        String host = normal(named.replaceFirst(":\\d+$", ""));
        int dot = host.indexOf('.');
        // A certificate may name all hosts of a domain (RFC 6125, section 6.4.3).
        return hosts.contains(host) || dot > 0 && hosts.contains("*" + host.substring(dot));
    }

    /** Another page may send requests through a user's browser, which then names that page. */
    private void requireOwnPage(Headers headers) throws Refused {
        String origin = headers.getFirst("Origin");
        if (origin != null && !origin.equalsIgnoreCase(scheme + "://" + headers.getFirst("Host"))) {
            throw new Refused(403, "requests of other pages are not answered");
        }
        String site = headers.getFirst("Sec-Fetch-Site");
        if (site != null && !site.equals("same-origin") && !site.equals("none")) {
            throw new Refused(403, "requests of other pages are not answered");
        }
        String type = String.valueOf(headers.getFirst("Content-Type"));
        if (!type.replaceFirst(";.*", "").strip().equalsIgnoreCase("application/json")) {
            throw new Refused(415, "a request is of type application/json");
        }
    }

    private Answer data(HttpExchange exchange, String path) throws IOException, Refused {
        if (path.equals("/api/login")) {
            return login(exchange, object(body(exchange)));
        }
        String header = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization"))
                .orElse("");
        Optional<User> known;
        try {
            known = sessions.user(header);
        } catch (Sessions.BusyException e) {
            throw new Refused(429, String.valueOf(e.getMessage()));
        }
        if (known.isEmpty() && header.startsWith(Sessions.BASIC)) {
            log("refused name and password from " + from(exchange));
        }
        // Without WWW-Authenticate, which would make a browser ask for a password and keep it.
        User user = known.orElseThrow(() -> new Refused(401, "log in first"));
        if (path.equals("/api/logout")) {
            sessions.logout(header);
            return Answer.json(Map.of());
        } else if (path.equals("/api/volumes")) {
            return Answer.json(Map.of("user", user.name(), "role", user.role().toString(), "volumes", volumes.all()));
        } else if (path.startsWith("/jolokia/")) {
            return jolokia(exchange, user, path.substring("/jolokia/".length()));
        }
        throw new Refused(404, "there is no request " + Printable.line(path));
    }

    private Answer login(HttpExchange exchange, Map<String, Object> request) throws IOException, Refused {
        String name = String.valueOf(request.get("user"));
        Optional<Sessions.Login> login;
        try {
            login = sessions.login(name, String.valueOf(request.get("password")));
        } catch (Sessions.BusyException e) {
            throw new Refused(429, String.valueOf(e.getMessage()));
        }
        if (login.isEmpty()) {
            // Anyone may send it, as long as a request may be, and as often.
            log("refused login of " + Printable.line(name.substring(0, Math.min(name.length(), NAME_SHOWN_MAX)))
                    + " from " + from(exchange));
            throw new Refused(401, "user or password is wrong");
        }
        User user = login.get().user();
        return Answer.json(Map.of(
                "token",
                login.get().token(),
                "user",
                user.name(),
                "role",
                user.role().toString()));
    }

    private Answer jolokia(HttpExchange exchange, User user, String volume) throws IOException, Refused {
        String body = body(exchange);
        List<Map<String, Object>> requests = requests(body);
        for (Map<String, Object> request : requests) {
            String type = String.valueOf(request.get("type"));
            if (Agent.isChange(type.toUpperCase(Locale.ROOT))) {
                log(Printable.line(user.name() + " (" + user.role() + ") from " + from(exchange) + ": "
                        + type.toLowerCase(Locale.ROOT) + " "
                        + request.get("mbean") + " "
                        + request.getOrDefault("operation", request.getOrDefault("attribute", ""))));
            }
        }
        try {
            return Answer.json(volumes.ask(volume, user, body));
        } catch (ConsoleVolumes.NoAnswerException e) {
            throw new Refused(503, String.valueOf(e.getMessage()));
        }
    }

    /** Reads one request of the Jolokia protocol, or a list of them: also so that its nesting is bounded. */
    private static List<Map<String, Object>> requests(String body) throws Refused {
        List<Map<String, Object>> requests;
        try {
            requests = body.strip().startsWith("[")
                    ? Json.objects(Json.read("{\"all\":" + body + "}"), "all")
                    : List.of(Json.read(body));
            if (requests.size() > REQUESTS_MAX) {
                throw new Refused(413, "a list has at most " + REQUESTS_MAX + " requests");
            }
            for (Object request : requests) {
                if (!(request instanceof Map<?, ?>)) {
                    throw new Refused(400, "a request is an object of JSON");
                }
            }
        } catch (IOException e) {
            throw new Refused(400, "the request is no JSON");
        }
        return requests;
    }

    private static Map<String, Object> object(String body) throws Refused {
        try {
            return Json.read(body);
        } catch (IOException e) {
            throw new Refused(400, "the request is no JSON object");
        }
    }

    private static String body(HttpExchange exchange) throws IOException, Refused {
        byte[] bytes = exchange.getRequestBody().readNBytes(REQUEST_BYTES_MAX + 1);
        if (bytes.length > REQUEST_BYTES_MAX) {
            throw new Refused(413, "a request has at most " + REQUEST_BYTES_MAX + " bytes");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String from(HttpExchange exchange) {
        return exchange.getRemoteAddress().getAddress().getHostAddress();
    }

    private void log(String line) {
        log.accept(Instant.now(clock).truncatedTo(ChronoUnit.SECONDS) + " " + line);
    }

    @Override
    public void close() {
        server.close();
    }
}
