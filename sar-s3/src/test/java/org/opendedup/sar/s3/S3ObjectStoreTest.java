package org.opendedup.sar.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStoreContract;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.opendedup.sar.objects.reliable.Limits;
import org.opendedup.sar.objects.reliable.ObjectStoreStatistics;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;
import org.opendedup.sar.objects.reliable.Timer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** The contract over a gateway of S3 in this JVM, and that the failures of a network cost no byte. */
class S3ObjectStoreTest extends ObjectStoreContract {
    private static final TimeLimits SHORT =
            new TimeLimits(Duration.ofSeconds(2), Duration.ofMillis(500), Duration.ofSeconds(5));

    private static final int OBJECTS = 60;

    private static MemoryGateway gateway;

    @BeforeAll
    static void start() throws IOException {
        gateway = new MemoryGateway();
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    private static AwsCredentialsProvider credentials(String accessKey) {
        return StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey, MemoryGateway.SECRET_KEY));
    }

    private static ObjectStore open(URI endpoint, TimeLimits limits) throws IOException {
        URI address = URI.create("s3://" + MemoryGateway.BUCKET + "/volumes/one?endpoint=" + endpoint);
        return S3Provider.open(S3Address.of(address), credentials(MemoryGateway.ACCESS_KEY), limits);
    }

    @Override
    protected ObjectStore newStore() throws IOException {
        gateway.clear();
        return open(gateway.endpoint(), TimeLimits.DEFAULT);
    }

    @Override
    protected int manyNames() {
        return 1600;
    }

    @Test
    void aRequestMayTakeLongerIfItSendsMuch() {
        TimeLimits limits = TimeLimits.DEFAULT;
        assertEquals(Duration.ofSeconds(60), limits.toSend(0));
        assertEquals(Duration.ofSeconds(60), limits.toSend(32 << 20));
        assertEquals(Duration.ofSeconds(120), limits.toSend((32 << 20) + 1));
        assertEquals(Duration.ofSeconds(120), limits.toSend(64 << 20));
    }

    @Test
    void aPrefixSeparatesStores() throws IOException {
        URI address = URI.create("s3://" + MemoryGateway.BUCKET + "?endpoint=" + gateway.endpoint());
        try (ObjectStore whole =
                S3Provider.open(S3Address.of(address), credentials(MemoryGateway.ACCESS_KEY), TimeLimits.DEFAULT)) {
            store().put("a", ObjectSource.of(new byte[1]));
            whole.put("a", ObjectSource.of(new byte[2]));
            assertEquals(List.of("a", "volumes/one/a"), whole.list("", "", 10).names());
            assertEquals(List.of("a"), store().list("", "", 10).names());
            assertEquals("s3://bucket/volumes/one/", store().toString());
        }
    }

    @Test
    void theStoreSaysWhenAnObjectWasPut() throws IOException {
        store().put("a", ObjectSource.of(new byte[1]));
        assertEquals(Optional.of(Instant.parse("2026-11-30T04:00:00Z")), store().madeAt("a"));
        assertThrows(NoSuchFileException.class, () -> store().madeAt("b"));
    }

    @Test
    void whatTheStoreRefusesSaysWhy() throws IOException {
        URI address = URI.create("s3://bucket/one?endpoint=" + gateway.endpoint());
        try (ObjectStore wrong = S3Provider.open(S3Address.of(address), credentials("other"), TimeLimits.DEFAULT)) {
            assertThrows(AccessDeniedException.class, () -> wrong.status("a"));
            assertThrows(AccessDeniedException.class, () -> wrong.put("a", ObjectSource.of(new byte[1])));
        }
        URI none = URI.create("s3://no-bucket/one?endpoint=" + gateway.endpoint());
        try (ObjectStore wrong =
                S3Provider.open(S3Address.of(none), credentials(MemoryGateway.ACCESS_KEY), TimeLimits.DEFAULT)) {
            IOException missing = assertThrows(IOException.class, () -> wrong.list("", "", 1));
            assertEquals("s3://no-bucket/one/: there is no such bucket", missing.getMessage());
            assertFalse(missing instanceof UnavailableException);
        }
    }

    @Test
    void nobodyListening() throws IOException {
        // It has the port, so that no other process listens there.
        try (Socket holder = new Socket()) {
            holder.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            try (ObjectStore none = open(URI.create("http://127.0.0.1:" + holder.getLocalPort()), SHORT)) {
                assertThrows(UnavailableException.class, () -> none.status("a"));
                assertThrows(UnavailableException.class, () -> none.put("a", ObjectSource.of(new byte[1])));
            }
        }
    }

    /** What the SDK throws for them is not always an exception of the SDK, or one with a cause that is of input. */
    @Test
    void anAnswerThatIsCutMeansThatAnotherMayCome() throws Exception {
        String head = "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: ";
        List<String> cut = List.of(
                head + "43",
                head + "4300\r\nLast-Modified: Mon, 30 Nov 2026 08:",
                head + "4300\r\n\r\n",
                head + "4300\r\n\r\n<ListBucketResult>");
        for (String answer : cut) {
            try (ServerSocket server = new ServerSocket(0);
                    ObjectStore store = open(URI.create("http://127.0.0.1:" + server.getLocalPort()), SHORT)) {
                Thread serving = new Thread(() -> answerAll(server, answer));
                serving.start();
                ByteBuffer bytes = ByteBuffer.allocate(100);
                assertThrows(UnavailableException.class, () -> store.list("", "", 10), answer);
                if (!answer.endsWith("\r\n\r\n") && !answer.endsWith(">")) {
                    assertThrows(UnavailableException.class, () -> store.read("a", 0, bytes), answer);
                }
                server.close();
                serving.join();
            }
        }
    }

    private static void answerAll(ServerSocket server, String answer) {
        while (!server.isClosed()) {
            try (Socket client = server.accept()) {
                client.getInputStream().read(new byte[1 << 16]);
                client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                // The client, or the test, has ended.
            }
        }
    }

    @Test
    void bytesThatChangeOnTheNetworkAreSentAgain() throws IOException {
        gateway.changeBytesOnce();
        assertThrows(UnavailableException.class, () -> store().put("a", ObjectSource.of(bytes(1000, 1))));
        store().put("a", ObjectSource.of(bytes(1000, 1)));
        assertArrayEquals(bytes(1000, 1), store().readWhole("a", 1000));
    }

    @Test
    void anObjectOfAnotherProgramIsNoneOfOurs() throws IOException {
        store().put("a", ObjectSource.of(bytes(1000, 1)));
        gateway.removeMetadata("volumes/one/a");
        assertThrows(CorruptionException.class, () -> store().status("a"));
    }

    /** Names of headers are the same in any case (RFC 9110, section 5.1); Go's server writes them with capitals. */
    @Test
    void namesOfMetadataComeInAnyCase() throws IOException {
        String value = S3Metadata.of(ObjectSource.of(bytes(1000, 1)))
                .values()
                .iterator()
                .next();
        assertTrue(S3Metadata.status("a", Map.of("Sar-Object", value)).isPresent());
        assertTrue(S3Metadata.status("a", Map.of("Other", value)).isEmpty());
    }

    @Test
    void aGatewayWithoutConditionsIsFound() throws IOException {
        try (MemoryGateway old = new MemoryGateway()) {
            old.ignoreConditions();
            try (ObjectStore store = open(old.endpoint(), TimeLimits.DEFAULT)) {
                IOException found = assertThrows(IOException.class, () -> ObjectStores.checkConditions(store, "check"));
                assertTrue(found.getMessage().contains("If-None-Match"), found::getMessage);
            }
        }
    }

    /** Connections that break, and pauses that are real but short. */
    @Test
    void behindABrokenNetworkNoByteIsWrongAndNoPutIsLost() throws IOException {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        Limits limits = new Limits(
                Duration.ofSeconds(60), Duration.ofMillis(2), Duration.ofMillis(50), 100_000, 5 << 20, 5 << 20, 4);
        try (FaultyProxy proxy = new FaultyProxy(gateway.address(), 0.05, seed);
                ReliableObjectStore store = new ReliableObjectStore(
                        open(proxy.endpoint(), SHORT), limits, Timer.SYSTEM, new Random(seed))) {
            for (int number = 0; number < OBJECTS; number++) {
                // Every twentieth is put in parts.
                int length = number % 20 == 19 ? (5 << 20) + random.nextInt(3 << 20) : random.nextInt(300_000);
                byte[] bytes = bytes(length, seed + number);
                store.put("objects/" + number, ObjectSource.of(bytes));
                byte[] read = new byte[length];
                store.read("objects/" + number, 0, ByteBuffer.wrap(read));
                assertArrayEquals(bytes, read);
                assertArrayEquals(bytes, store().readWhole("objects/" + number, length));
            }
            assertEquals(OBJECTS, store.list("objects/", "", 1000).objects().size());
            ReplaceableObjects objects = store.replaceable().orElseThrow();
            String version = null;
            for (int step = 0; step < 50; step++) {
                version = objects.replace("lease", version, UUID.randomUUID(), new byte[] {(byte) step});
            }
            assertEquals(Optional.of(version), objects.current("lease").map(ReplaceableObjects.Version::version));
            ObjectStoreStatistics statistics = store.statistics();
            System.out.println(statistics + ", broken connections: " + proxy.faults());
            assertTrue(statistics.unansweredRequests() > 5, statistics::toString);
        }
    }

    @Test
    void controlWithoutRepetitionsTheBrokenNetworkIsSeen() throws IOException {
        try (FaultyProxy proxy = new FaultyProxy(gateway.address(), 0.05, TestSeed.next());
                ObjectStore store = open(proxy.endpoint(), SHORT)) {
            assertThrows(UnavailableException.class, () -> {
                for (int number = 0; number < 1000; number++) {
                    store.put("objects/" + number, ObjectSource.of(bytes(1000, number)));
                }
            });
        }
    }
}
