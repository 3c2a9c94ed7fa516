package org.opendedup.sar.sdfs.cli.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;

@Timeout(30)
class ControlServerTest {
    @TempDir
    Path folder;

    private Path socket;
    private ControlServer server;

    @BeforeEach
    void start() throws IOException {
        socket = folder.resolve("control.sock");
        Map<String, Handler> handlers = Map.of(
                "fail",
                (arguments, caller) -> {
                    throw new IOException("no luck today");
                },
                "forbid",
                (arguments, caller) -> {
                    throw new IllegalArgumentException("less than 1");
                },
                "crash",
                (arguments, caller) -> {
                    throw new IllegalStateException("a bug");
                },
                "echo",
                (arguments, caller) -> arguments,
                "ping",
                (arguments, caller) -> new Answer("ping"));
        server = ControlServer.start(socket, handlers, command -> "nobody knows " + command);
    }

    /** What handlers answer. */
    public record Answer(String command) {}

    private static ControlServer start(Path socket, Handler all, Duration timeout, ThreadFactory threads)
            throws IOException {
        return ControlServer.start(
                socket,
                null,
                Map.of("ping", all, "echo", all, "unmount", all, "stay", all),
                command -> "nobody knows " + command,
                timeout,
                threads);
    }

    private static ControlServer start(Path socket, Handler all, Duration timeout) throws IOException {
        return start(socket, all, timeout, Thread::new);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    @Test
    void answersACommand() throws IOException {
        assertEquals(Optional.of(Map.of("command", "ping")), ControlSocket.ask(socket, "ping"));
    }

    @Test
    void changesAreToldWithTheUserThatTheKernelNames() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        server.audit(
                Set.of("look"),
                (command, arguments, who, result) ->
                        told.add(command + " " + arguments + " " + who.user() + " " + who.pid() + " " + result));
        String me = System.getProperty("user.name");
        long pid = ProcessHandle.current().pid();
        ControlSocket.ask(socket, "echo", Map.of("action", "start"));
        ControlSocket.ask(socket, "echo", Map.of("action", "status"));
        ControlSocket.ask(socket, "ping");
        assertThrows(IOException.class, () -> ControlSocket.ask(socket, "fail"));
        server.add(Map.of(VolumeCommands.RESUME, (arguments, caller) -> Map.of()));
        ControlSocket.ask(socket, VolumeCommands.RESUME, Map.of("action", "status"));
        assertEquals(
                List.of(
                        "echo {action=start} " + me + " " + pid + " done",
                        "fail {} " + me + " " + pid + " refused: no luck today",
                        "resume {action=status} " + me + " " + pid + " done"),
                told);
        told.clear();
        // A process of another user, if there is one: that of this test belongs to nobody else.
        long other = ProcessHandle.allProcesses()
                .filter(process ->
                        process.info().user().map(user -> !user.equals(me)).orElse(false))
                .mapToLong(ProcessHandle::pid)
                .findFirst()
                .orElse(Long.MAX_VALUE);
        send(socket, "{\"version\":1,\"pid\":" + other + ",\"command\":\"echo\"}\n");
        TestWait.until(() -> !told.isEmpty());
        assertEquals(List.of("echo {} " + me + " null done"), told);
    }

    @Test
    void ofTheConsolesRequestsThoseThatMayChangeAreTold() {
        List<String> told = new CopyOnWriteArrayList<>();
        server.audit(Set.of(), (command, arguments, who, result) -> told.add(command + " " + arguments));
        String set = "{\"type\":\"write\",\"mbean\":\"m\",\"attribute\":\"a\",\"value\":1}";
        for (String request : List.of("{\"type\":\"read\"}", "no JSON", set, "[{\"type\":\"list\"}," + set + "]")) {
            assertThrows(
                    IOException.class,
                    () -> ControlSocket.ask(socket, JmxControl.COMMAND, Map.of(JmxControl.REQUEST, request)));
        }
        assertEquals(List.of("jmx {request=" + set + "}", "jmx {request=[{\"type\":\"list\"}," + set + "]}"), told);
    }

    private static void send(Path socket, String line) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
            assertTrue(channel.read(ByteBuffer.allocate(100)) > 0);
        }
    }

    @Test
    void answersTheNextCommandWhenThereWasNoThreadForOne() throws IOException {
        Path other = folder.resolve("other.sock");
        AtomicBoolean exhausted = new AtomicBoolean(true);
        ThreadFactory threads = task -> new Thread(task) {
            @Override
            public void start() {
                if (exhausted.getAndSet(false)) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                super.start();
            }
        };
        try (ControlServer some = start(other, (arguments, caller) -> Map.of(), Duration.ofSeconds(5), threads)) {
            assertThrows(IOException.class, () -> ControlSocket.ask(other, "ping"));
            assertEquals(Optional.of(Map.of()), ControlSocket.ask(other, "ping"));
        }
    }

    @Test
    void handsTheArgumentsOn() throws IOException {
        assertEquals(Optional.of(Map.of("below", 5)), ControlSocket.ask(socket, "echo", Map.of("below", 5)));
        assertEquals(Optional.of(Map.of()), ControlSocket.ask(socket, "echo"));
        String reply = exchange("{\"version\":1,\"command\":\"echo\",\"arguments\":[1]}\n");
        assertTrue(reply.contains("no JSON object"), reply);
    }

    @Test
    void tellsWhyItCannot() throws IOException {
        var refused = assertThrows(IOException.class, () -> ControlSocket.ask(socket, "fail"));
        assertTrue(refused.getMessage().contains("no luck today"), refused.getMessage());
        var forbidden = assertThrows(IOException.class, () -> ControlSocket.ask(socket, "forbid"));
        assertTrue(forbidden.getMessage().endsWith(": less than 1"), forbidden.getMessage());
        var crashed = assertThrows(IOException.class, () -> ControlSocket.ask(socket, "crash"));
        assertTrue(crashed.getMessage().contains("a bug"), crashed.getMessage());
        assertAnswers();
    }

    @Test
    void answersACommandWhileItHasAHandler() throws IOException {
        assertTrue(refusal("late").contains("nobody knows late"));
        server.add(Map.of("late", (arguments, caller) -> Map.of("came", true)));
        assertEquals(Optional.of(Map.of("came", true)), ControlSocket.ask(socket, "late"));
        server.remove(Set.of("late"));
        assertTrue(refusal("late").contains("nobody knows late"));
    }

    private String refusal(String command) {
        return assertThrows(IOException.class, () -> ControlSocket.ask(socket, command))
                .getMessage();
    }

    @Test
    void refusesAnotherVersionOfTheProtocol() throws IOException {
        String reply = exchange("{\"version\":2,\"command\":\"ping\"}\n");
        assertTrue(reply.contains("\"ok\":false") && reply.contains("protocol version 2"), reply);
    }

    @Test
    void survivesWhatIsNoRequest() throws IOException {
        exchange("GET / HTTP/1.0\r\n\r\n");
        exchange("[]\n");
        exchange("null\n");
        exchange("{\"version\":1}\n");
        exchange("\n\n\n");
        exchange("[".repeat(60_000) + "\n");
        byte[] random = new byte[50_000];
        new Random(2).nextBytes(random);
        exchange(new String(random, StandardCharsets.ISO_8859_1) + "\n");
        assertAnswers();
    }

    @Test
    void survivesALineWithoutEnd() throws IOException {
        assertEquals("", exchange("x".repeat(MessageChannel.REQUEST_BYTES_MAX + 10_000)));
        assertAnswers();
    }

    /** The console and the list of volumes ask the daemons of all users. */
    @Test
    void anAnswerThatIsMuchTooLongForAStateIsNotKeptInMemory() throws IOException {
        Path talkative = folder.resolve("talkative.sock");
        var more = Map.of("more", "x".repeat(ControlSocket.STATE_BYTES_MAX + 10_000));
        try (ControlServer server = start(talkative, (arguments, caller) -> more, Duration.ofSeconds(20))) {
            assertEquals(Optional.of(more), ControlSocket.ask(talkative, "echo"), "of one volume");
            var e = assertThrows(IOException.class, () -> ControlSocket.ask(talkative, VolumeCommands.PING));
            assertTrue(e.getMessage().contains("a line of more than"), e.getMessage());
        }
    }

    @Test
    void aClientThatSaysNothingDelaysNobodyAndIsDropped() throws IOException {
        try (var silent = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            assertAnswers();
        }
        Path hasty = folder.resolve("hasty.sock");
        try (var impatient = start(hasty, (arguments, caller) -> arguments, Duration.ofMillis(1));
                var silent = SocketChannel.open(UnixDomainSocketAddress.of(hasty))) {
            assertEquals(-1, silent.read(ByteBuffer.allocate(1)));
        }
    }

    @Test
    void manyClientsThatDoNotEndTheirRequestsDelayNobody() throws IOException {
        List<SocketChannel> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 120; i++) {
                SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                silent.add(client);
                client.write(ByteBuffer.wrap("{\"version\":1,\"command\":".getBytes(StandardCharsets.UTF_8)));
            }
            assertAnswers();
        } finally {
            for (SocketChannel client : silent) {
                client.close();
            }
        }
        assertAnswers();
    }

    @Test
    void controlAServerOfOneThreadIsHeldUpByASilentClient() throws Exception {
        Path one = folder.resolve("one.sock");
        ThreadFactory inTurn = task -> new Thread(task) {
            @Override
            public void start() {
                task.run();
            }
        };
        var asking = new FutureTask<>(() -> ControlSocket.ask(one, "ping"));
        try (ControlServer server = start(one, (arguments, caller) -> Map.of(), Duration.ofHours(1), inTurn)) {
            try (SocketChannel silent = SocketChannel.open(UnixDomainSocketAddress.of(one))) {
                new Thread(asking, "ask").start();
                assertThrows(TimeoutException.class, () -> asking.get(100, TimeUnit.MILLISECONDS));
            }
            assertEquals(Optional.of(Map.of()), asking.get());
        }
    }

    /** The daemon waits for the request of a client that is connected only for a short time. */
    @Test
    void aClientConnectsWhenItHasMadeItsRequest() throws IOException {
        Path late = Files.createFile(folder.resolve("late.sock"));
        List<ControlServer> started = new ArrayList<>();
        Map<String, Object> slow = new AbstractMap<>() {
            @Override
            public Set<Entry<String, Object>> entrySet() {
                try {
                    if (started.isEmpty()) {
                        started.add(start(late, (arguments, caller) -> arguments, Duration.ofSeconds(5)));
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return Set.of(Map.entry("below", 5));
            }
        };
        assertEquals(Optional.of(Map.of("below", 5)), ControlSocket.ask(late, "echo", slow));
        started.get(0).close();
    }

    /** As while a disk hangs: their clients give up, and ask again. */
    @Test
    void requestsThatHangLeaveConnectionsToOthers() throws Exception {
        server.close();
        var disk = new CountDownLatch(1);
        Handler answers = (arguments, caller) -> new Answer("ping");
        Handler hangs = (arguments, caller) -> {
            try {
                disk.await();
            } catch (InterruptedException e) {
                throw new InterruptedIOException();
            }
            return new Answer("status");
        };
        server = ControlServer.start(
                socket,
                null,
                Map.of("ping", answers, "status", hangs),
                command -> "nobody knows " + command,
                Duration.ofSeconds(1),
                Thread::new);
        for (int i = 0; i < 140; i++) {
            try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                client.write(ByteBuffer.wrap(MessageChannel.line(Map.of("version", 1, "command", "status"))));
            }
        }
        assertEquals(Optional.of(Map.of("command", "ping")), ControlSocket.ask(socket, "ping"));
        IOException refused = assertThrows(IOException.class, () -> ControlSocket.ask(socket, "status"));
        assertTrue(refused.getMessage().contains("16 requests 'status' are not answered yet"), refused::toString);
        disk.countDown();
        // The control.
        TestWait.until(this::isStatusAnswered);
    }

    /** Requests that hung may still be in the way of this one. */
    private boolean isStatusAnswered() {
        try {
            return ControlSocket.ask(socket, "status").equals(Optional.of(Map.of("command", "status")));
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void sendsAReplyThatIsUnderWayBeforeItCloses() throws Exception {
        var answering = new CountDownLatch(1);
        var slow = start(
                folder.resolve("slow.sock"),
                (arguments, caller) -> {
                    answering.countDown();
                    LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
                    return Map.of("state", "done");
                },
                Duration.ofSeconds(10));
        var asking = new FutureTask<>(() -> ControlSocket.ask(folder.resolve("slow.sock"), "unmount"));
        new Thread(asking, "ask").start();
        answering.await();
        slow.close();
        assertEquals(Optional.of(Map.of("state", "done")), asking.get());
    }

    /** Bytes that look like a reply, and more of them than the pipe holds, in both directions at once. */
    @Test
    void aConnectionCarriesBytesAfterTheReply() throws Exception {
        byte[] bytes = new byte[3 << 20];
        new Random(1).nextBytes(bytes);
        bytes[0] = '\n';
        server.add(Map.of("exchange", (arguments, caller) -> {
            caller.thenExchange(client -> {
                client.out().write(bytes);
                client.endOutput();
                assertArrayEquals(bytes, client.in().readAllBytes());
            });
            return arguments;
        }));
        try (ControlSocket.Held held =
                        ControlSocket.hold(socket, "exchange", Map.of("a", "b")).orElseThrow();
                ByteConnection connection = held.bytes()) {
            assertEquals(Map.of("a", "b"), held.result());
            FutureTask<byte[]> read = new FutureTask<>(() -> connection.in().readAllBytes());
            new Thread(read).start();
            connection.out().write(bytes);
            connection.endOutput();
            assertArrayEquals(bytes, read.get());
        }
        assertAnswers();
    }

    /** A client that ends before it is ready for the bytes, and a server that ends while it exchanges them. */
    @Test
    void anExchangeEndsWithEitherSide() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        server.add(Map.of("exchange", (arguments, caller) -> {
            caller.thenExchange(client -> {
                begun.countDown();
                try {
                    assertEquals(-1, client.in().read());
                } finally {
                    ended.countDown();
                }
            });
            return arguments;
        }));
        ControlSocket.hold(socket, "exchange", Map.of()).orElseThrow().close();
        try (ControlSocket.Held held =
                        ControlSocket.hold(socket, "exchange", Map.of()).orElseThrow();
                ByteConnection connection = held.bytes()) {
            begun.await();
            server.close();
            ended.await();
            assertEquals(-1, connection.in().read());
        }
        assertEquals(0, begun.getCount());
    }

    @Test
    void nobodyListensAfterClose() throws IOException {
        server.close();
        assertEquals(Optional.empty(), ControlSocket.ask(socket, "ping"));
    }

    /** Volumes with files in different folders can have one name, and their sockets one folder: SDFS_RUN_DIR. */
    @Test
    void theSocketOfAnotherVolumeStays() throws IOException {
        var e = assertThrows(IOException.class, () -> ControlServer.start(socket, Map.of(), command -> "refused"));
        assertTrue(e.getMessage().contains("SDFS_RUN_DIR"), e.getMessage());
        assertAnswers();
        server.close();
        Handler answers = (arguments, caller) -> new Answer("ping");
        server = ControlServer.start(socket, Map.of("ping", answers), command -> "the control");
        assertAnswers();
    }

    @Test
    void saysWhenThePathIsTooLongForASocket() {
        Path longPath = folder.resolve("x".repeat(120));
        var e = assertThrows(IOException.class, () -> ControlServer.start(longPath, Map.of(), command -> "refused"));
        assertTrue(e.getMessage().contains("SDFS_RUN_DIR"), e.getMessage());
    }

    private void assertAnswers() throws IOException {
        assertTrue(ControlSocket.ask(socket, "ping").isPresent());
    }

    /** Sends raw bytes and reads to the end. */
    private String exchange(String request) throws IOException {
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            ByteBuffer bytes = ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8));
            try {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                ByteBuffer reply = ByteBuffer.allocate(10_000);
                while (channel.read(reply) >= 0) {
                    assertTrue(reply.hasRemaining());
                }
                return new String(reply.array(), 0, reply.position(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                return ""; // closed on us while we wrote: as refused as can be
            }
        }
    }

    @Test
    void aServerThatEndsDoesNotWaitForOneWhoStaysAndSaysThatItIsGone() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        Path stayed = folder.resolve("stayed.sock");
        var staying = start(
                stayed,
                (arguments, caller) -> {
                    caller.whenGone(gone::countDown);
                    return Map.of("stay", true);
                },
                Duration.ofSeconds(5));
        try (ControlSocket.Held held =
                ControlSocket.hold(stayed, "stay", Map.of()).orElseThrow()) {
            assertEquals(Map.of("stay", true), held.result());
            assertEquals(1, gone.getCount(), "the control");
            staying.close();
            assertTrue(gone.await(30, TimeUnit.SECONDS));
        }
    }
}
