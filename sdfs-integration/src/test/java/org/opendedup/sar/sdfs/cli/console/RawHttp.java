package org.opendedup.sar.sdfs.cli.console;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.net.SocketFactory;
import org.opendedup.sar.sdfs.cli.report.Json;

/** An HTTP client that sends any header, also wrong ones. */
final class RawHttp {
    private final SocketFactory sockets;
    private final InetSocketAddress server;
    private final Map<String, String> headers = new LinkedHashMap<>();

    /** What the server answered. */
    record Answer(int status, Map<String, String> headers, String body) {
        Map<String, Object> json() throws IOException {
            return Json.read(body);
        }
    }

    RawHttp(SocketFactory sockets, InetSocketAddress server) {
        this.sockets = sockets;
        this.server = server;
        headers.put("Host", "localhost:" + server.getPort());
        headers.put("Connection", "close");
        headers.put("Content-Type", "application/json");
    }

    /** Sends a header from now on; null: does not send it. */
    RawHttp with(String header, String value) {
        if (value == null) {
            headers.remove(header);
        } else {
            headers.put(header, value);
        }
        return this;
    }

    Answer get(String path) throws IOException {
        return send("GET", path, "");
    }

    Answer post(String path, String body) throws IOException {
        return send("POST", path, body.replace('\'', '"'));
    }

    Answer send(String method, String path, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        var request = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
        headers.forEach((name, value) -> request.append(name + ": " + value + "\r\n"));
        request.append("Content-Length: " + bytes.length + "\r\n\r\n");
        try (Socket socket = sockets.createSocket("127.0.0.1", server.getPort())) {
            socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
            return parsed(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    private static Answer parsed(String answer) throws IOException {
        String[] parts = answer.split("\r\n\r\n", 2);
        if (parts.length < 2) {
            throw new IOException("this is no answer of HTTP");
        }
        String[] lines = parts[0].split("\r\n");
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = 1; i < lines.length; i++) {
            String[] header = lines[i].split(": *", 2);
            headers.put(header[0].toLowerCase(Locale.ROOT), header[1]);
        }
        return new Answer(Integer.parseInt(lines[0].split(" ")[1]), headers, parts[1]);
    }
}
