package org.opendedup.sar.sdfs.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the figures of a volume to Prometheus: {@code GET /metrics}, and nothing else. There is no password and no
 * encryption: whoever reaches the address reads the figures, and can change nothing.
 *
 * <p>A client can bind few resources: threads and connections are bounded, the figures are made by one thread at a
 * time, and the JDK's server ends a connection whose request or answer takes longer than some seconds.
 */
public final class MetricsServer implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(MetricsServer.class);

    private static final String PATH = "/metrics";
    /** As many as connections: each client that sends its request slowly holds one. */
    private static final int THREADS = 32;

    private static final int MOST_WAITING = 16;
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int NOT_ALLOWED = 405;
    private static final int FAILED = 503;

    /** Settings of the JDK's server, which reads them when its first one is made: seconds, and connections. */
    private static final Map<String, String> BOUNDS = Map.of(
            "sun.net.httpserver.maxReqTime", "5",
            "sun.net.httpserver.maxRspTime", "30",
            "jdk.httpserver.maxConnections", Integer.toString(THREADS));

    private final HttpServer server;
    private final ThreadPoolExecutor threads;
    private final Supplier<String> text;

    private MetricsServer(HttpServer server, ThreadPoolExecutor threads, Supplier<String> text) {
        this.server = server;
        this.threads = threads;
        this.text = text;
    }

    /**
     * Starts to serve.
     *
     * @param address where to listen; port 0: any free one
     * @param text makes the text; throws {@link UncheckedIOException} if the figures are not known now
     * @throws IOException if the address cannot be used; the message names it
     */
    public static MetricsServer start(InetSocketAddress address, Supplier<String> text) throws IOException {
        BOUNDS.forEach((name, bound) -> {
            if (System.getProperty(name) == null) {
                System.setProperty(name, bound);
            }
        });
        InetSocketAddress resolved = new InetSocketAddress(address.getHostString(), address.getPort());
        HttpServer server;
        try {
            if (resolved.isUnresolved()) {
                throw new IOException("no such host");
            }
            server = HttpServer.create(resolved, MOST_WAITING);
        } catch (IOException e) {
            throw new IOException("metrics cannot be served at " + shown(resolved) + ": " + e.getMessage(), e);
        }
        var threads = new ThreadPoolExecutor(
                THREADS, THREADS, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(), Threads.named("sdfs-metrics"));
        threads.allowCoreThreadTimeOut(true);
        var metrics = new MetricsServer(server, threads, text);
        server.setExecutor(threads);
        server.createContext("/", metrics::answer);
        server.start();
        return metrics;
    }

    /** Returns the address at which it listens. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    /** Returns an address as a part of a URL. */
    public static String shown(InetSocketAddress address) {
        String host = address.isUnresolved()
                ? address.getHostString()
                : address.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!exchange.getRequestURI().getPath().equals(PATH)) {
                send(exchange, NOT_FOUND, "The figures are at " + PATH + "\n");
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                send(exchange, NOT_ALLOWED, "Only GET\n");
            } else {
                sendFigures(exchange);
            }
        }
    }

    private void sendFigures(HttpExchange exchange) throws IOException {
        String figures;
        try {
            synchronized (this) {
                figures = text.get();
            }
        } catch (RuntimeException e) {
            LOG.warn("the figures for Prometheus are not known: {}", e.toString());
            send(exchange, FAILED, "The figures are not known now; the log says why\n");
            return;
        }
        exchange.getResponseHeaders().set("Content-Type", PrometheusText.MEDIA_TYPE);
        send(exchange, OK, figures);
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    /** Ends to listen, and drops connections. Idempotent. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
