package org.opendedup.sar.sdfs.cli.control;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
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
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.audit.Actor;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the commands over a Unix socket that only the volume's owner may open, or those that only tell the status
 * over one that a group may open too. Each connection carries one request and one reply, each a line of JSON:
 *
 * <pre>
 * {"version":1,"command":"stats"}      or      {"version":1,"pid":4711,"command":"sar","arguments":{"action":"demote"}}
 * {"version":1,"ok":true,"result":{...}}      or      {"version":1,"ok":false,"error":"..."}
 * </pre>
 *
 * <p>Each connection has its own thread and must send its request within a few seconds, so a silent client does not
 * delay the others. The number of connections is bounded; further ones wait in the kernel. A command that starts a long
 * operation may leave its connection open after the reply: while it is open, the caller still exists, running or
 * suspended. After the replies of some commands, the connection carries bytes.
 */
public final class ControlServer implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);
    private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(5);
    private static final int MAX_CONNECTIONS = 128;
    /** Time between a connection that could not be accepted and the next one, in nanoseconds. */
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(200);
    /**
     * Requests of one command at a time. While a disk hangs, those that ask it are not answered, and their clients give
     * up and ask again; other commands still need connections.
     */
    private static final int SAME_AT_ONCE_MAX = 16;

    /** Answers one command. */
    @FunctionalInterface
    public interface Handler {
        /**
         * @param arguments arguments of the command, by name; empty if the request has none
         * @param caller the client that sent the command
         * @return the result: a record, or values by name
         * @throws IllegalArgumentException if an argument is not allowed; the message is sent to the client
         * @throws IOException if the command fails; the message is sent to the client
         */
        Object answer(Map<String, Object> arguments, Caller caller) throws IOException;
    }

    /** Exchanges bytes with the client after the reply. */
    @FunctionalInterface
    public interface Exchange {
        void with(ByteConnection client) throws IOException;
    }

    /** Receives the requests that change something, when they are answered. */
    @FunctionalInterface
    public interface Auditor {
        /** @param result {@code done}, or why the request was refused or failed */
        void note(String command, Map<String, Object> arguments, Actor who, String result);
    }

    /** Says why a command without a handler is not answered. */
    @FunctionalInterface
    public interface Refusal {
        String of(String command);
    }

    /** The client that sent a command, for handlers that must know who it is, or when it ends. */
    public static final class Caller {
        private final @Nullable SocketChannel connection;
        private @Nullable Runnable gone;
        private @Nullable Exchange exchange;

        /** Makes a caller that has no connection. */
        Caller() {
            connection = null;
        }

        private Caller(SocketChannel connection) {
            this.connection = connection;
        }

        /** Returns whether the client runs as the user of this process: SO_PEERCRED of unix(7). */
        public boolean isOwnUser() throws IOException {
            return connection != null
                    && connection
                            .getOption(ExtendedSocketOptions.SO_PEERCRED)
                            .user()
                            .equals(Files.getOwner(Path.of("/proc/self")));
        }

        /**
         * Lets the connection carry bytes after the reply, once the client is ready for them. The connection is closed
         * when the exchange returns.
         */
        public void thenExchange(Exchange bytes) {
            exchange = bytes;
        }

        /** Keeps the connection open after the reply, and runs the action when the client closes its end. */
        void whenGone(Runnable action) {
            gone = action;
        }
    }

    /** In a request: the number of the client's process, as the client states it. */
    static final String PID = "pid";

    private static final String OWNER_ONLY = "rw-------";
    private static final String OWNER_AND_GROUP = "rw-rw----";

    /** Commands that change something whatever arguments, which they ignore, a request has. */
    private static final Set<String> ALWAYS_CHANGING = Set.of(VolumeCommands.UNMOUNT, VolumeCommands.RESUME);

    /** Commands that change nothing, and (next) actions of the others that change nothing. */
    private static final Set<String> READING = Set.of(
            VolumeCommands.PING,
            VolumeCommands.INFO,
            VolumeCommands.STATUS,
            VolumeCommands.STATS,
            VolumeCommands.METRICS,
            ChunkControl.COMMAND,
            JvmControl.COMMAND);

    private static final Set<String> READING_ACTIONS = Set.of(
            JobControl.STATUS, BackupControl.LIST, SnapshotControl.SELECT, SarControl.EXPLAIN, SarControl.CHUNKS);

    private final Path socket;
    private final ServerSocketChannel server;
    private final Map<String, Handler> handlers = new ConcurrentHashMap<>();
    private final Refusal refusal;
    private final Duration timeout;
    private final ThreadFactory connectionThreads;
    /** Connections that stay open after their reply. */
    private final Set<MessageChannel> attended = ConcurrentHashMap.newKeySet();

    private volatile Set<String> reading = READING;
    private volatile Auditor auditor = (command, arguments, who, result) -> {};

    private final Semaphore free = new Semaphore(MAX_CONNECTIONS);
    private final Map<String, Semaphore> freeOf = new ConcurrentHashMap<>();
    private final Thread thread;

    private ControlServer(
            Path socket,
            ServerSocketChannel server,
            Refusal refusal,
            Duration timeout,
            ThreadFactory connectionThreads) {
        this.socket = socket;
        this.server = server;
        this.refusal = refusal;
        this.timeout = timeout;
        this.connectionThreads = connectionThreads;
        this.thread = new Thread(this::serve, "sdfs-control");
        thread.setDaemon(true);
    }

    /**
     * Starts the server. The caller must hold the volume's lock, so that no other process of this volume listens. The
     * socket must be in a folder that only the owner may enter, so that no other user can connect before the socket's
     * mode is set.
     *
     * @param handlers by the names of their commands; others can be added
     * @throws IOException also if a process listens there already: one of another volume, whose name is the same
     */
    public static ControlServer start(Path socket, Map<String, Handler> handlers, Refusal refusal) throws IOException {
        return start(
                socket,
                null,
                handlers,
                refusal,
                CONNECTION_TIMEOUT,
                task -> new Thread(task, "sdfs-control-connection"));
    }

    /** As {@link #start(Path, Map, Refusal)}; the members of a group may connect too. The folder may be open to all. */
    public static ControlServer startFor(
            GroupPrincipal group, Path socket, Map<String, Handler> handlers, Refusal refusal) throws IOException {
        return start(
                socket,
                group,
                handlers,
                refusal,
                CONNECTION_TIMEOUT,
                task -> new Thread(task, "sdfs-status-connection"));
    }

    /**
     * @param group may connect as well; null: none
     * @param connectionThreads makes the thread of each connection
     */
    static ControlServer start(
            Path socket,
            @Nullable GroupPrincipal group,
            Map<String, Handler> handlers,
            Refusal refusal,
            Duration timeout,
            ThreadFactory connectionThreads)
            throws IOException {
        ControlSocket.checkLength(socket);
        if (ControlSocket.isListenedTo(socket)) {
            throw new IOException("another process answers at " + socket + ", such as that of another volume with this"
                    + " name: set SDFS_RUN_DIR to another folder for one of the two");
        }
        Files.deleteIfExists(socket);
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(socket));
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString(OWNER_ONLY));
            if (group != null) {
                Files.getFileAttributeView(socket, PosixFileAttributeView.class).setGroup(group);
                Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString(OWNER_AND_GROUP));
            }
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        var server = new ControlServer(socket, channel, refusal, timeout, connectionThreads);
        server.add(handlers);
        server.thread.start();
        return server;
    }

    /**
     * Sets the receiver of requests that change something; there is only one.
     *
     * @param alsoReading commands that change nothing, besides those that each volume has
     */
    public void audit(Set<String> alsoReading, Auditor toTell) {
        reading = Stream.concat(READING.stream(), alsoReading.stream()).collect(Collectors.toUnmodifiableSet());
        auditor = toTell;
    }

    /** Adds handlers, as when a volume is mounted; one takes the place of another of the same command. */
    public void add(Map<String, Handler> more) {
        handlers.putAll(more);
    }

    /** Answers these commands no more. */
    public void remove(Set<String> commands) {
        handlers.keySet().removeAll(commands);
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
                // While the process has no descriptor left, each call fails at once.
                LockSupport.parkNanos(RETRY_NS);
            } finally {
                free.release(handedOn ? 0 : 1);
            }
        }
    }

    /**
     * Starts a thread that answers. If the machine cannot start one, closes the connection and returns false; the next
     * connection may succeed.
     */
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
            serve(connection, new Caller(accepted), accepted);
        } catch (ClosedChannelException | ClosedSelectorException e) {
            LOG.debug("control connection closed", e);
        } catch (IOException e) {
            LOG.info("a control connection failed: {}", e.toString());
        } finally {
            free.release();
        }
    }

    private void serve(MessageChannel connection, Caller caller, SocketChannel client) throws IOException {
        try {
            Map<String, Object> request = connection.receive(MessageChannel.REQUEST_BYTES_MAX);
            // Before the answer: the client may end as soon as it has that.
            Actor who = isChange(request) ? Actor.of(client, pid(request)) : null;
            Reply reply = reply(request, caller);
            if (who != null) {
                tellAuditor(request, who, reply);
            }
            connection.send(reply);
            if (caller.gone != null || caller.exchange != null) {
                attended.add(connection);
                if (server.isOpen()) {
                    attend(connection, caller.exchange);
                }
            }
        } finally {
            attended.remove(connection);
            if (caller.gone != null) {
                caller.gone.run();
            }
        }
    }

    private static void attend(MessageChannel connection, @Nullable Exchange exchange) throws IOException {
        if (exchange == null) {
            connection.awaitEnd();
            return;
        }
        // The client has read the whole reply when it sends this: nothing of what follows is taken for a part of it.
        ByteConnection client = connection.bytes();
        if (client.in().read() == ControlSocket.GO[0]) {
            exchange.with(client);
        }
    }

    private boolean isChange(Map<String, Object> request) {
        Object arguments = request.get("arguments");
        Object action = arguments instanceof Map<?, ?> given ? given.get("action") : null;
        return request.get("command") instanceof String command
                && !reading.contains(command)
                && (!command.equals(JmxControl.COMMAND) || JmxControl.mayChange(arguments))
                && (action == null
                        || ALWAYS_CHANGING.contains(command)
                        || !READING_ACTIONS.contains(action.toString()));
    }

    private static @Nullable Long pid(Map<String, Object> request) {
        return request.get(PID) instanceof Number number ? number.longValue() : null;
    }

    private void tellAuditor(Map<String, Object> request, Actor who, Reply reply) {
        try {
            auditor.note(
                    command(request),
                    arguments(request),
                    who,
                    reply.error() == null ? "done" : "refused: " + reply.error());
        } catch (IOException | RuntimeException e) {
            LOG.warn("a request is not in the audit log: {}", e.toString());
        }
    }

    private Reply reply(Map<String, Object> request, Caller caller) {
        try {
            String command = command(request);
            Handler handler = handlers.get(command);
            if (handler == null) {
                throw new IOException(refusal.of(command));
            }
            return Reply.of(answer(command, handler, arguments(request), caller));
        } catch (IOException | UncheckedIOException e) {
            return Reply.refused(FailureText.of(e));
        } catch (IllegalArgumentException e) {
            LOG.debug("a control command has an argument that is not allowed", e);
            return Reply.refused(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            LOG.error("a control command failed", e);
            return Reply.refused("internal error, see the log: " + e);
        }
    }

    private Object answer(String command, Handler handler, Map<String, Object> arguments, Caller caller)
            throws IOException {
        Semaphore turns = freeOf.computeIfAbsent(command, any -> new Semaphore(SAME_AT_ONCE_MAX));
        try {
            if (!turns.tryAcquire(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException(
                        SAME_AT_ONCE_MAX + " requests '" + command + "' are not answered yet; a disk may" + " hang");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        try {
            return handler.answer(arguments, caller);
        } finally {
            turns.release();
        }
    }

    /**
     * An answer.
     *
     * @param result null if the command failed
     * @param error null if it did not
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Reply(
            int version,
            boolean ok,
            @Nullable Object result,
            @Nullable String error) {
        static Reply of(Object result) {
            return new Reply(MessageChannel.PROTOCOL_VERSION, true, result, null);
        }

        static Reply refused(String error) {
            return new Reply(MessageChannel.PROTOCOL_VERSION, false, null, Printable.line(error));
        }
    }

    private static String command(Map<String, Object> request) throws IOException {
        Object version = request.get("version");
        if (!Integer.valueOf(MessageChannel.PROTOCOL_VERSION).equals(version)) {
            throw new IOException("protocol version " + version + " is not known; the daemon speaks version "
                    + MessageChannel.PROTOCOL_VERSION + ": use the commands of the release that mounted the volume");
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
     * Stops the server and removes the socket. Requests in progress still get their reply: the reply to "unmount" is
     * sent while the daemon ends. Idempotent.
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
