package org.opendedup.sar.sdfs.metrics;

import com.sun.net.httpserver.HttpExchange;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.opendedup.sar.sdfs.http.BoundedHttpServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the figures of a volume to Prometheus: {@code GET /metrics}, and nothing else. There is no password and no
 * encryption: whoever reaches the address reads the figures, and can change nothing.
 *
 * <p>The figures are made by one thread at a time.
 */
public final class MetricsServer implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(MetricsServer.class);

    private static final String PATH = "/metrics";
    private static final int CONNECTIONS_MAX = 32;
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int NOT_ALLOWED = 405;
    private static final int OF_ANOTHER_NAME = 421;
    private static final int FAILED = 503;

    /** An address cannot be led elsewhere by a name server, as another name can. */
    private static final Pattern OWN_HOST = Pattern.compile("(?i)(localhost|[0-9.]+|\\[[0-9a-f:.]+])(:[0-9]+)?");

    private final BoundedHttpServer server;
    private final Supplier<String> text;

    private MetricsServer(InetSocketAddress address, Supplier<String> text) throws IOException {
        this.text = text;
        server = new BoundedHttpServer(address, null, CONNECTIONS_MAX, "sdfs-metrics", this::answer);
    }

    /**
     * Starts to serve.
     *
     * @param address where to listen; port 0: any free one
     * @param text makes the text; throws {@link UncheckedIOException} if the figures are not known now
     * @throws IOException if the address cannot be used; the message names it
     */
    public static MetricsServer start(InetSocketAddress address, Supplier<String> text) throws IOException {
        InetSocketAddress resolved = new InetSocketAddress(address.getHostString(), address.getPort());
        try {
            if (resolved.isUnresolved()) {
                throw new IOException("no such host");
            }
            var metrics = new MetricsServer(resolved, text);
            metrics.server.start();
            return metrics;
        } catch (IOException e) {
            throw new IOException("metrics cannot be served at " + shown(resolved) + ": " + e.getMessage(), e);
        }
    }

    /** Returns the address at which it listens. */
    public InetSocketAddress address() {
        return server.address();
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
            if (isOfAnotherName(exchange)) {
                send(exchange, OF_ANOTHER_NAME, "Ask for localhost, or for the address\n");
            } else if (!exchange.getRequestURI().getPath().equals(PATH)) {
                send(exchange, NOT_FOUND, "The figures are at " + PATH + "\n");
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                send(exchange, NOT_ALLOWED, "Only GET\n");
            } else {
                sendFigures(exchange);
            }
        }
    }

    /**
     * Returns whether this comes from a page in a browser of this machine, whose own name leads here (DNS rebinding).
     * Beyond loopback the administrator decided who reaches the port.
     */
    private boolean isOfAnotherName(HttpExchange exchange) {
        String host = exchange.getRequestHeaders().getFirst("Host");
        return address().getAddress().isLoopbackAddress()
                && host != null
                && !OWN_HOST.matcher(host).matches();
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
        server.close();
    }
}
