package org.opendedup.sar.sdfs.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MetricsServerTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private volatile boolean unknown;
    private MetricsServer server;

    @BeforeEach
    void start() throws IOException {
        server = MetricsServer.start(ANY_PORT, () -> {
            if (unknown) {
                throw new UncheckedIOException(new IOException("the disk hangs"));
            }
            return "figures\n";
        });
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private HttpURLConnection ask(String method, String path) throws Exception {
        URI uri = URI.create("http://" + MetricsServer.shown(server.address()) + path);
        var connection = (HttpURLConnection) uri.toURL().openConnection();
        connection.setRequestMethod(method);
        connection.setRequestProperty("Connection", "close");
        return connection;
    }

    @Test
    void servesFiguresAndNothingElse() throws Exception {
        HttpURLConnection figures = ask("GET", "/metrics");
        assertEquals(200, figures.getResponseCode());
        assertEquals("figures\n", new String(figures.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertEquals(PrometheusText.MEDIA_TYPE, figures.getContentType());
        assertEquals(404, ask("GET", "/").getResponseCode());
        assertEquals(404, ask("GET", "/metrics/../etc/passwd").getResponseCode());
        assertEquals(405, ask("POST", "/metrics").getResponseCode());
        assertTrue(server.address().getAddress().isLoopbackAddress());
    }

    @Test
    void figuresThatAreNotKnownAreAnError() throws Exception {
        unknown = true;
        assertEquals(503, ask("GET", "/metrics").getResponseCode());
        unknown = false;
        assertEquals(200, ask("GET", "/metrics").getResponseCode());
    }

    /** A page of another site whose name its owner lets lead to 127.0.0.1 could read the figures. */
    @Test
    void aNameThatOnlyLeadsHereIsRefused() throws Exception {
        for (String host : List.of("evil.example", "evil.example:9100", "127.0.0.1.evil.example", "localhost.evil")) {
            assertEquals("HTTP/1.1 421", statusOf(host), host);
        }
        for (String host : List.of("localhost", "127.0.0.1:9100", "[::1]:9100")) {
            assertEquals("HTTP/1.1 200", statusOf(host), host);
        }
    }

    private String statusOf(String host) throws IOException {
        try (Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort())) {
            String request = "GET /metrics HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void silentClientsDoNotHoldUpOthers() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                Socket socket = new Socket(
                        server.address().getAddress(), server.address().getPort());
                socket.getOutputStream().write("GET /metr".getBytes());
                silent.add(socket);
            }
            assertEquals(200, ask("GET", "/metrics").getResponseCode());
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void aPortInUseIsNamed() {
        var e = assertThrows(IOException.class, () -> MetricsServer.start(server.address(), () -> ""));
        assertTrue(e.getMessage()
                .startsWith("metrics cannot be served at 127.0.0.1:"
                        + server.address().getPort()));
    }
}
