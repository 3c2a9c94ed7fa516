package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The client side of {@link ControlServer}. */
public final class ControlSocket {
    private static final Logger LOG = LoggerFactory.getLogger(ControlSocket.class);

    /** Longest path of a socket in bytes: {@code sizeof(sockaddr_un.sun_path)} without the terminator. */
    private static final int PATH_BYTES_MAX = 107;

    /** Time limit of a connection, and of a request for the daemon's state. A busy machine takes seconds. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(5);

    /**
     * Time limit of a request for the status, which asks each part of the volume: one that waits for its disk holds it
     * up.
     */
    private static final Duration STATUS_LIMIT = Duration.ofSeconds(30);

    /** Time limit of all other requests. Long because unmounting writes back what the kernel holds. */
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /**
     * Longest answers, in bytes, to what is asked of all volumes of the machine, also of those of other users, whose
     * daemons may answer anything. An answer to a command about one volume may have any length.
     */
    static final int STATE_BYTES_MAX = 64 << 10;

    private static final int BEANS_BYTES_MAX = 16 << 20;

    /** What a client sends when bytes may follow the reply. */
    static final byte[] GO = {'\n'};

    private ControlSocket() {}

    /** Sends a command without arguments; see {@link #ask(Path, String, Map)}. */
    public static Optional<Map<String, Object>> ask(Path socket, String command) throws IOException {
        return ask(socket, command, Map.of());
    }

    /**
     * Sends a command.
     *
     * @param arguments arguments by name; daemons of releases without arguments ignore them
     * @return the result; empty if no daemon listens
     * @throws SilentDaemonException if the daemon does not answer in time
     * @throws IOException if the daemon cannot be asked, or refuses
     */
    public static Optional<Map<String, Object>> ask(Path socket, String command, Map<String, ?> arguments)
            throws IOException {
        Optional<Held> held = hold(socket, command, arguments);
        if (held.isEmpty()) {
            return Optional.empty();
        }
        try (Held connection = held.get()) {
            return Optional.of(connection.result);
        }
    }

    /**
     * A result, with the connection over which it arrived. While the connection is open, the daemon knows that the
     * client still exists.
     *
     * @param result as of {@link #ask(Path, String, Map)}
     */
    public record Held(Map<String, Object> result, MessageChannel connection) implements Closeable {
        /** Begins to exchange bytes with a daemon that offers that after this answer. */
        public ByteConnection bytes() throws IOException {
            connection.send(GO);
            return connection.bytes();
        }

        @Override
        public void close() throws IOException {
            connection.close();
        }
    }

    /** As {@link #ask(Path, String, Map)}; the caller closes the connection. */
    public static Optional<Held> hold(Path socket, String command, Map<String, ?> arguments) throws IOException {
        Duration limit = limit(command);
        // The daemon waits a few seconds for a request: a busy machine takes as long to make one.
        byte[] request = MessageChannel.line(request(command, arguments));
        Optional<SocketChannel> connected = connect(socket);
        if (connected.isEmpty()) {
            return Optional.empty();
        }
        var connection = new MessageChannel(connected.get(), limit);
        try {
            connection.send(request);
            return Optional.of(new Held(result(connection.receive(longest(command))), connection));
        } catch (SocketTimeoutException e) {
            connection.close();
            throw new SilentDaemonException(socket, limit.toSeconds());
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private static int longest(String command) {
        return switch (command) {
            case VolumeCommands.PING -> STATE_BYTES_MAX;
            case JmxControl.COMMAND -> BEANS_BYTES_MAX;
            default -> Integer.MAX_VALUE;
        };
    }

    private static Duration limit(String command) {
        return switch (command) {
            case VolumeCommands.PING -> ANSWER_LIMIT;
            case VolumeCommands.STATUS, VolumeCommands.INFO, JmxControl.COMMAND -> STATUS_LIMIT;
            default -> LIMIT;
        };
    }

    /** Returns whether a process listens. */
    public static boolean isListenedTo(Path socket) throws IOException {
        Optional<SocketChannel> connected = connect(socket);
        if (connected.isPresent()) {
            connected.get().close();
        }
        return connected.isPresent();
    }

    /** Returns a connection; empty if no daemon listens. The kernel lets a caller wait if many wait already. */
    private static Optional<SocketChannel> connect(Path socket) throws IOException {
        if (Files.notExists(socket)) {
            return Optional.empty();
        }
        checkLength(socket);
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        Future<?> tooLong = CompletableFuture.runAsync(
                () -> close(channel),
                CompletableFuture.delayedExecutor(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS));
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return Optional.of(channel);
        } catch (ConnectException e) {
            // The socket is left from a killed daemon.
            channel.close();
            return Optional.empty();
        } catch (ClosedChannelException e) {
            throw new SilentDaemonException(socket, ANSWER_LIMIT.toSeconds());
        } catch (IOException e) {
            channel.close();
            if (Files.notExists(socket)) {
                return Optional.empty(); // The daemon has just ended.
            }
            throw new IOException(socket + ": " + e.getMessage(), e);
        } finally {
            tooLong.cancel(false);
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("a connection was not closed", e);
        }
    }

    /** Makes a request. Without arguments, daemons of all releases understand it. The process is for the audit log. */
    private static Map<String, Object> request(String command, Map<String, ?> arguments) {
        var request = new LinkedHashMap<String, Object>();
        request.put("version", MessageChannel.PROTOCOL_VERSION);
        request.put(ControlServer.PID, ProcessHandle.current().pid());
        request.put("command", command);
        if (!arguments.isEmpty()) {
            request.put("arguments", arguments);
        }
        return request;
    }

    /**
     * Asks for the daemon's state, for callers that poll. Returns empty if there is no answer: a daemon that is just
     * starting or ending may drop the connection.
     */
    public static Optional<Map<String, Object>> ping(Path socket) {
        try {
            return ask(socket, VolumeCommands.PING);
        } catch (IOException e) {
            LOG.debug("{} does not answer", socket, e);
            return Optional.empty();
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> result(Map<String, Object> reply) throws IOException {
        if (Boolean.TRUE.equals(reply.get("ok")) && reply.get("result") instanceof Map<?, ?> result) {
            return (Map<String, Object>) result;
        }
        throw new IOException("the daemon refused: " + reply.getOrDefault("error", reply));
    }

    /** @throws IOException if the path is longer than the kernel accepts for a socket */
    static void checkLength(Path socket) throws IOException {
        int bytes = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > PATH_BYTES_MAX) {
            throw new IOException("the control socket " + socket + " has a path of " + bytes + " bytes; Linux allows "
                    + PATH_BYTES_MAX + ": set SDFS_RUN_DIR to a folder with a shorter path");
        }
    }
}
