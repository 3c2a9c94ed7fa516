package org.opendedup.sar.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.reliable.Limits;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;
import org.opendedup.sar.objects.reliable.Timer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Answers that a store of S3 gives seldom, and those of what stands in front of one. */
@Timeout(120)
class S3AnswersTest {
    /** Longer than any answer here takes: none is decided by them. */
    private static final TimeLimits LIMITS =
            new TimeLimits(Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(60));

    private static final String PAGE = "<html><body>Please log in</body></html>";

    private static ObjectStore open(URI endpoint, String bucket) throws IOException {
        URI address = URI.create("s3://" + bucket + "/volumes/one?endpoint=" + endpoint);
        return S3Provider.open(
                S3Address.of(address),
                StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(MemoryGateway.ACCESS_KEY, MemoryGateway.SECRET_KEY)),
                LIMITS);
    }

    /** A server that answers each request by a function of its head. */
    private static final class Server implements Closeable {
        private final ServerSocket socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        private final Thread thread;
        private final AtomicInteger requests = new AtomicInteger();

        Server(UnaryOperator<String> answers) throws IOException {
            thread = new Thread(() -> serve(answers));
            thread.start();
        }

        private void serve(UnaryOperator<String> answers) {
            while (!socket.isClosed()) {
                try (Socket client = socket.accept()) {
                    String head = head(client.getInputStream());
                    requests.incrementAndGet();
                    client.getOutputStream().write(answers.apply(head).getBytes(US_ASCII));
                } catch (IOException e) {
                    // The client, or the test, has ended.
                }
            }
        }

        /** Reads a request with the bytes that it sends. */
        private static String head(InputStream in) throws IOException {
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            while (!head.toString(US_ASCII).endsWith("\r\n\r\n")) {
                int next = in.read();
                if (next < 0) {
                    throw new EOFException("a request that was cut");
                }
                head.write(next);
            }
            Matcher length = Pattern.compile("(?i)content-length: (\\d+)").matcher(head.toString(US_ASCII));
            in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
            return head.toString(US_ASCII);
        }

        URI endpoint() {
            return URI.create("http://127.0.0.1:" + socket.getLocalPort());
        }

        @Override
        public void close() throws IOException {
            socket.close();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static String answer(String status, String headers, String body) {
        return "HTTP/1.1 " + status + "\r\nConnection: close\r\n" + headers + "Content-Length: " + body.length()
                + "\r\n\r\n" + body;
    }

    private static String refusal(String status, String headers, String code) {
        return answer(
                status,
                headers + "Content-Type: application/xml\r\n",
                "<Error><Code>" + code + "</Code><Message>refused</Message></Error>");
    }

    /** The control is a store that has the object. */
    @Test
    void aPageOfAProxyIsNoPut() throws IOException {
        for (String tag : List.of("", "ETag: \"a\"\r\n")) {
            try (Server server = new Server(head -> answer("200 OK", tag, PAGE));
                    ObjectStore store = open(server.endpoint(), "bucket")) {
                if (tag.isEmpty()) {
                    assertThrows(
                            UnavailableException.class, () -> store.put("a", ObjectSource.of(new byte[] {1, 2, 3})));
                } else {
                    store.put("a", ObjectSource.of(new byte[] {1, 2, 3}));
                }
            }
        }
    }

    /** It has more bytes than are asked for, or fewer. */
    @Test
    void aPageOfAProxyIsNoDamage() throws IOException {
        try (Server server = new Server(head -> answer("200 OK", "", PAGE));
                ObjectStore store = open(server.endpoint(), "bucket")) {
            for (int bytes : List.of(10, 100)) {
                assertThrows(UnavailableException.class, () -> store.read("a", 0, ByteBuffer.allocate(bytes)));
            }
        }
    }

    @Test
    void aPageThatSomethingIsMissingIsNoMissingObject() throws IOException {
        try (Server server = new Server(head -> answer("404 Not Found", "", head.startsWith("HEAD") ? "" : PAGE));
                ObjectStore store = open(server.endpoint(), "bucket")) {
            assertThrows(UnavailableException.class, () -> store.read("a", 0, ByteBuffer.allocate(10)));
            assertThrows(UnavailableException.class, () -> store.status("a"));
        }
    }

    /** The control is an object that is missing in a bucket. */
    @Test
    void aMissingBucketIsNoMissingObject() throws IOException {
        try (MemoryGateway gateway = new MemoryGateway();
                ObjectStore none = open(gateway.endpoint(), "no-bucket");
                ObjectStore store = open(gateway.endpoint(), MemoryGateway.BUCKET)) {
            IOException refused = assertThrows(AccessDeniedException.class, () -> none.status("a"));
            assertEquals("s3://no-bucket/volumes/one/a: there is no such bucket", refused.getMessage());
            assertTrue(NoAnswer.is(refused), "or a scrub would take it for damage");
            assertThrows(AccessDeniedException.class, () -> none.read("a", 0, ByteBuffer.allocate(10)));
            assertThrows(NoSuchFileException.class, () -> store.status("a"));
        }
    }

    @Test
    void anObjectInAnArchiveIsNotDamaged() throws IOException {
        try (MemoryGateway gateway = new MemoryGateway();
                ObjectStore store = open(gateway.endpoint(), MemoryGateway.BUCKET)) {
            store.put("a", ObjectSource.of(new byte[10]));
            gateway.archive("volumes/one/a");
            assertEquals(10, store.status("a").length());
            IOException refused = assertThrows(IOException.class, () -> store.read("a", 0, ByteBuffer.allocate(10)));
            assertTrue(refused.getMessage().contains("archive (S3 Glacier)"), refused::getMessage);
            assertTrue(NoAnswer.is(refused));
        }
    }

    /** What a store refuses for no known reason says nothing about what is stored. */
    @Test
    void whatIsRefusedIsNotDamaged() throws IOException {
        for (String status :
                List.of("400 Bad Request", "405 Method Not Allowed", "501 Not Implemented", "409 Conflict")) {
            try (Server server = new Server(head -> refusal(status, "", "Unknown"));
                    ObjectStore store = open(server.endpoint(), "bucket")) {
                IOException refused =
                        assertThrows(IOException.class, () -> store.read("a", 0, ByteBuffer.allocate(10)), status);
                assertTrue(NoAnswer.is(refused), status);
                assertFalse(refused instanceof UnavailableException, status);
            }
        }
    }

    /** A request for what is stated of an object has no text in its answer. */
    @Test
    void whatIsRefusedSaysWhyAlsoIfTheAnswerHasNoText() throws IOException {
        try (Server server = new Server(head -> head.startsWith("HEAD")
                        ? answer("400 Bad Request", "", "")
                        : refusal("400 Bad Request", "", "ExpiredToken"));
                ObjectStore store = open(server.endpoint(), "bucket")) {
            IOException refused = assertThrows(AccessDeniedException.class, () -> store.status("a"));
            assertTrue(refused.getMessage().contains("refused"), refused::getMessage);
        }
    }

    /** Signatures and bytes are for the server of the address only. */
    @Test
    void nobodyIsFollowedToAnotherServer() throws IOException {
        try (Server other = new Server(head -> answer("200 OK", "ETag: \"a\"\r\n", ""))) {
            for (String status : List.of("301 Moved Permanently", "302 Found", "307 Temporary Redirect")) {
                String place = "Location: " + other.endpoint() + "/bucket/volumes/one/a\r\n";
                try (Server server = new Server(head -> refusal(status, place, "Redirect"));
                        ObjectStore store = open(server.endpoint(), "bucket")) {
                    IOException refused = assertThrows(
                            IOException.class, () -> store.put("a", ObjectSource.of(new byte[] {1})), status);
                    assertEquals(status.startsWith("307"), refused instanceof UnavailableException, status);
                    assertThrows(IOException.class, () -> store.read("a", 0, ByteBuffer.allocate(10)), status);
                    assertThrows(IOException.class, () -> store.status("a"), status);
                }
            }
            assertEquals(0, other.requests.get());
        }
    }

    /** The control is the first request, which the store refuses. */
    @Test
    void aClockThatIsWrongByAnHourHoldsNothingUp() throws IOException {
        Duration ahead = Duration.ofHours(1);
        UnaryOperator<String> answers = head -> {
            Instant there = Instant.now().plus(ahead);
            Matcher signed = Pattern.compile("(?i)x-amz-date: (\\S+)").matcher(head);
            assertTrue(signed.find());
            Instant here = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssX", Locale.ROOT)
                    .parse(signed.group(1), Instant::from);
            String date = "Date: " + DateTimeFormatter.RFC_1123_DATE_TIME.format(there.atZone(ZoneOffset.UTC)) + "\r\n";
            boolean isSkewed = Duration.between(here, there).abs().toMinutes() >= 15;
            if (isSkewed) {
                return head.startsWith("HEAD")
                        ? answer("403 Forbidden", date, "")
                        : refusal("403 Forbidden", date, "RequestTimeTooSkewed");
            }
            String stated = S3Metadata.of(ObjectSource.of(new byte[10]))
                    .values()
                    .iterator()
                    .next();
            String headers = date + "ETag: \"a\"\r\nx-amz-meta-sar-object: " + stated + "\r\n";
            return answer("200 OK", headers, head.startsWith("HEAD") ? "" : "0123456789");
        };
        try (Server server = new Server(answers)) {
            try (ObjectStore once = open(server.endpoint(), "bucket")) {
                assertThrows(UnavailableException.class, () -> once.read("a", 0, ByteBuffer.allocate(10)));
                once.read("a", 0, ByteBuffer.allocate(10));
            }
            try (ReliableObjectStore store = new ReliableObjectStore(
                    open(server.endpoint(), "bucket"), Limits.DEFAULT, Timer.SYSTEM, new Random(1))) {
                assertEquals(10, store.status("a").length());
                ByteBuffer read = ByteBuffer.allocate(10);
                store.read("a", 0, read);
                assertArrayEquals("0123456789".getBytes(US_ASCII), read.array());
            }
        }
    }

    /** Tools that show folders put objects whose names end with a slash. */
    @Test
    void objectsWithOtherNamesAreInNoList() throws IOException {
        try (MemoryGateway gateway = new MemoryGateway();
                ObjectStore store = open(gateway.endpoint(), MemoryGateway.BUCKET)) {
            for (String key : List.of("", "packs/", "packs/.hidden", "packs/a b", "packs/a&b", "packs/a/", "z z")) {
                gateway.putForeign("volumes/one/" + key);
            }
            for (int i = 0; i < 1200; i++) {
                gateway.putForeign("volumes/one/packs/b " + i);
            }
            store.put("packs/a/1", ObjectSource.of(new byte[1]));
            store.put("packs/c", ObjectSource.of(new byte[1]));
            assertEquals(List.of("packs/a/1"), store.list("", "", 1).names());
            assertEquals(
                    List.of("packs/c"), store.list("packs/", "packs/a/1", 1).names());
            assertEquals(2, store.listAll("", "").size());
            assertEquals(List.of(), store.listAll("z", ""));
        }
    }
}
