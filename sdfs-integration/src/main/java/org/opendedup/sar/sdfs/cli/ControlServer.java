package org.opendedup.sar.sdfs.cli;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the commands over a Unix socket that only the volume's owner may open. One request and one reply a connection, each
 * a line of JSON:
 *
 * <pre>
 * {"version":1,"command":"stats"}              or      {"version":1,"command":"sar-demote","arguments":{"below":5}}
 * {"version":1,"ok":true,"result":{...}}      or      {"version":1,"ok":false,"error":"..."}
 * </pre>
 *
 * <p>Each connection has a thread of its own, for a few seconds at most until its request is there: one that says nothing does
 * not hold up the others. Their number is bounded; more wait in the kernel. A command that starts something long may leave its
 * connection open after the reply: as long as it is, whoever asked is there, running or suspended.
 */
final class ControlServer implements Closeable {
    static final int PROTOCOL_VERSION = 1;

    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);
    private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(5);
    private static final int MAX_CONNECTIONS = 128;

    /** Answers one command. */
    @FunctionalInterface
    interface Handler {
        /**
         * @param arguments of the command, by name; empty if the request has none
         * @param caller who asks
         * @throws IOException whose message goes to who asked
         */
        Map<String, Object> answer(String command, Map<String, Object> arguments, Caller caller) throws IOException;
    }

    /** Who asks, for handlers that want to know how long it is there. */
    static final class Caller {
        private @Nullable Runnable gone;

        /** Has the connection stay open after the reply, and something run when its other end is closed. */
        void whenGone(Runnable action) {
            gone = action;
        }
    }

    private final Path socket;
    private final ServerSocketChannel server;
    private final Handler handler;
    private final Duration timeout;
    private final ThreadFactory connectionThreads;
    /** Those that stay open after their reply. */
    private final Set<MessageChannel> attended = ConcurrentHashMap.newKeySet();

    private final Semaphore free = new Semaphore(MAX_CONNECTIONS);
    private final Thread thread;

    private ControlServer(
            Path socket,
            ServerSocketChannel server,
            Handler handler,
            Duration timeout,
            ThreadFactory connectionThreads) {
        this.socket = socket;
        this.server = server;
        this.handler = handler;
        this.timeout = timeout;
        this.connectionThreads = connectionThreads;
        this.thread = new Thread(this::serve, "sdfs-control");
        thread.setDaemon(true);
    }

    /**
     * Starts to answer. The caller holds the volume's lock, so that a socket found there is left over, and in a folder that
     * only the owner may enter, so that nobody connects before the socket's mode is set.
     */
    static ControlServer start(Path socket, Handler handler) throws IOException {
        return start(socket, handler, CONNECTION_TIMEOUT);
    }

    static ControlServer start(Path socket, Handler handler, Duration timeout) throws IOException {
        return start(socket, handler, timeout, task -> new Thread(task, "sdfs-control-connection"));
    }

    /** @param connectionThreads gives each connection its thread */
    static ControlServer start(Path socket, Handler handler, Duration timeout, ThreadFactory connectionThreads)
            throws IOException {
        ControlSocket.checkLength(socket);
        Files.deleteIfExists(socket);
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(socket));
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        var server = new ControlServer(socket, channel, handler, timeout, connectionThreads);
        server.thread.start();
        return server;
    }

    private void serve() {
        while (server.isOpen()) {
            free.acquireUninterruptibly();
            boolean handedOn = false;
            try {
                handedOn = handOn(server.accept());
            } catch (AsynchronousCloseException e) {
                LOG.debug("control socket closed");
            } catch (IOException e) {
                LOG.info("a control connection failed: {}", e.toString());
            } finally {
                free.release(handedOn ? 0 : 1);
            }
        }
    }

    /** False, with the connection closed, where the machine gives no thread: the next one may get one. */
    private boolean handOn(SocketChannel accepted) throws IOException {
        try {
            Thread answering = connectionThreads.newThread(() -> serve(accepted));
            answering.setDaemon(true);
            answering.start();
            return true;
        } catch (OutOfMemoryError e) {
            LOG.warn("a control command is not answered", e);
            accepted.close();
            return false;
        }
    }

    private void serve(SocketChannel accepted) {
        try (accepted;
                var connection = new MessageChannel(accepted, timeout)) {
            serve(connection);
        } catch (ClosedChannelException | ClosedSelectorException e) {
            LOG.debug("control connection closed", e);
        } catch (IOException e) {
            LOG.info("a control connection failed: {}", e.toString());
        } finally {
            free.release();
        }
    }

    private void serve(MessageChannel connection) throws IOException {
        var caller = new Caller();
        try {
            connection.send(reply(connection.receive(), caller));
            if (caller.gone != null) {
                attended.add(connection);
                if (server.isOpen()) {
                    connection.awaitEnd();
                }
            }
        } finally {
            attended.remove(connection);
            if (caller.gone != null) {
                caller.gone.run();
            }
        }
    }

    private Map<String, Object> reply(Map<String, Object> request, Caller caller) {
        var reply = new LinkedHashMap<String, Object>();
        reply.put("version", PROTOCOL_VERSION);
        try {
            Map<String, Object> result = handler.answer(command(request), arguments(request), caller);
            reply.put("ok", true);
            reply.put("result", result);
        } catch (IOException | UncheckedIOException e) {
            reply.put("ok", false);
            reply.put("error", Printable.line(CommandRunner.messageOf(e)));
        } catch (RuntimeException e) {
            LOG.error("a control command failed", e);
            reply.put("ok", false);
            reply.put("error", Printable.line("internal error, see the log: " + e));
        }
        return reply;
    }

    private static String command(Map<String, Object> request) throws IOException {
        Object version = request.get("version");
        if (!Integer.valueOf(PROTOCOL_VERSION).equals(version)) {
            throw new IOException("protocol version " + version + " is not known; the daemon speaks version "
                    + PROTOCOL_VERSION + ": use the commands of the release that mounted the volume");
        }
        if (!(request.get("command") instanceof String command)) {
            throw new IOException("the request names no command");
        }
        return command;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> arguments(Map<String, Object> request) throws IOException {
        Object arguments = request.getOrDefault("arguments", Map.of());
        if (!(arguments instanceof Map<?, ?>)) {
            throw new IOException("the request's arguments are no JSON object");
        }
        return (Map<String, Object>) arguments;
    }

    /**
     * Stops answering and removes the socket. Whoever is being answered gets the reply still: the one to "unmount" is sent
     * while the daemon ends. Idempotent.
     */
    @Override
    public void close() throws IOException {
        server.close();
        Files.deleteIfExists(socket);
        for (MessageChannel connection : attended) {
            connection.close();
        }
        try {
            thread.join(timeout.toMillis());
            if (!free.tryAcquire(MAX_CONNECTIONS, timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.info("a control connection is still open and is dropped");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
