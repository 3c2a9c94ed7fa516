package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;
import org.opendedup.sar.volume.receive.SnapshotReceiver;
import org.opendedup.sar.volume.receive.SnapshotReceiver.Received;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.send.SendReport;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamMessage.Start;
import org.opendedup.sar.volume.stream.StreamPoint;
import org.opendedup.sar.volume.stream.StreamPosition;
import org.opendedup.sar.volume.stream.StreamReader;
import org.opendedup.sar.volume.stream.StreamWriter;

/** A replica has the snapshots that it received, whatever the trees are, and nothing else changes it. */
@Timeout(300)
class ReceiveTest {
    private static final Owner OWNER = new Owner(1, 1);

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final RandomTree tree = new RandomTree(random);
    /** What each snapshot showed when it was made. */
    private final Map<String, Map<String, String>> shown = new TreeMap<>();

    private VolumeInMemory sourceStores;
    private VolumeInMemory replicaStores;
    private Volume source;

    @BeforeEach
    void create() throws IOException {
        sourceStores = VolumeInMemory.create(config("source"), seed);
        source = sourceStores.open();
        replicaStores = VolumeInMemory.create(config("replica"), seed);
    }

    private VolumeConfig config(String name) throws IOException {
        return config(name, Chunking.VARIABLE_SHA256);
    }

    private VolumeConfig config(String name, Chunking chunking) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder.resolve(name), 4L << 30, chunking);
        Files.createDirectories(config.locations().metadata());
        return config;
    }

    @AfterEach
    void close() throws IOException {
        source.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private void snapshot(String name) throws IOException {
        source.snapshots().create(name, 0, false);
        shown.put(name, in(source, name));
    }

    private static Map<String, String> in(Volume volume, String snapshot) throws IOException {
        return TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, snapshot));
    }

    private static Received receive(SnapshotReceiver receiver, byte[] stream) throws IOException {
        return receiver.receive(TestSender.begun(stream), null, false, Progress.NONE);
    }

    private Received receive(byte[] stream) throws IOException {
        try (SnapshotReceiver receiver = replicaStores.receiver()) {
            return receive(receiver, stream);
        }
    }

    private void store(Volume volume, String name, byte[] content) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, OWNER);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(content));
        volume.close(file);
        volume.forget(made.inode(), 1);
    }

    /** Checks that the replica shows the snapshots as the source did, and that its files are those of the last one. */
    private void assertShows(String... names) throws IOException {
        try (Volume replica = replicaStores.open()) {
            assertEquals(List.of(), VolumeChecker.check(replica), "seed " + seed);
            for (String name : names) {
                assertEquals(shown.get(name), in(replica, name), name + ", seed " + seed);
            }
            assertEquals(shown.get(names[names.length - 1]), TreeDigest.of(replica, Inode.ROOT), "seed " + seed);
            assertEquals(names.length, replica.snapshots().list().size());
        }
    }

    @Test
    void aReplicaFollowsAVolumeBySnapshots() throws IOException {
        tree.change(source, 150);
        snapshot("first");
        Received all = receive(TestSender.stream(source, "first", null));
        assertEquals("first", all.snapshot().name());
        assertEquals(source.snapshots().get("first").createdMs(), all.snapshot().createdMs());
        assertShows("first");
        for (int round = 2; round <= 4; round++) {
            String base = round == 2 ? "first" : "round" + (round - 1);
            tree.change(source, 100);
            snapshot("round" + round);
            Received more = receive(TestSender.stream(source, "round" + round, base));
            assertTrue(more.changed() > 0, "seed " + seed);
        }
        assertShows("first", "round2", "round3", "round4");
    }

    /**
     * Somebody has a copy of the replica's disks that was made while it received; it may not tell which files it has.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void fingerprintsAreInNoScratchFileOfAnEncryptedReplica(boolean isEncrypted) throws IOException {
        // More than what is received before it is stored.
        byte[] content = new byte[6 << 20];
        random.nextBytes(content);
        store(source, "known", content);
        snapshot("first");
        byte[] stream = TestSender.stream(source, "first", null);
        List<Long> entries = new ArrayList<>();
        for (StreamMessage message : TestSender.messages(stream)) {
            if (message instanceof StreamMessage.Chunks chunks) {
                StreamMessage.ChunkList list = chunks.chunks();
                for (int i = 0; i < list.count(); i++) {
                    int prefix = Fingerprints.fingerprintPrefix(list.fingerprints(), i * Fingerprints.BYTES);
                    entries.add((long) prefix << Integer.SIZE | list.lengths()[i]);
                }
            }
        }
        assertTrue(entries.size() > 10, "seed " + seed);
        VolumeConfig config = config("sealed").withKeys(isEncrypted ? TestKeys.of(3) : null);
        replicaStores = VolumeInMemory.create(config, seed);
        Path scratch = config.locations().metadata().resolve("receive");
        int[] found = {-1};
        InputStream in = new FilterInputStream(new ByteArrayInputStream(stream)) {
            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                if (found[0] < 0 && available() < 1000) {
                    found[0] = count(scratch, entries);
                }
                return super.read(target, offset, length);
            }
        };
        try (SnapshotReceiver receiver = replicaStores.receiver();
                StreamReader begun = Objects.requireNonNull(StreamReader.begin(in, "the stream"))) {
            var unused = receiver.receive(begun, null, false, Progress.NONE);
        }
        // The control: a replica that is not encrypted has them.
        assertTrue(isEncrypted ? found[0] == 0 : found[0] > 0, found[0] + " found, seed " + seed);
        assertShows("first");
    }

    /** Returns how many of the entries are in files of a folder. */
    private static int count(Path folder, List<Long> entries) throws IOException {
        Set<Long> present = new HashSet<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                ByteBuffer all = ByteBuffer.wrap(bytes);
                while (all.remaining() >= Long.BYTES) {
                    present.add(all.getLong());
                }
            }
        }
        return (int) entries.stream().filter(present::contains).count();
    }

    @Test
    void aStreamThatEndsAnywhereGoesOnWhereItWas() throws IOException {
        tree.change(source, 100);
        snapshot("first");
        receive(TestSender.stream(source, "first", null));
        tree.change(source, 100);
        snapshot("second");
        byte[] whole = TestSender.stream(source, "second", "first");
        StreamPosition reached = StreamPosition.START;
        for (int cut = 0; cut < 6; cut++) {
            byte[] rest = TestSender.stream(source, "second", "first", reached);
            // The chunks of a window come first, and then what refers to them.
            int fromEnd = 1 + random.nextInt(cut % 2 == 0 ? Math.min(2000, rest.length - 1) : rest.length - 1);
            byte[] part = Arrays.copyOf(rest, rest.length - fromEnd);
            try (SnapshotReceiver receiver = replicaStores.receiver()) {
                assertThrows(EOFException.class, () -> receive(receiver, part), "seed " + seed);
                StreamPoint point = receiver.reached();
                if (point != null) {
                    assertTrue(
                            point.position().compareTo(reached) >= 0, point + " after " + reached + ", seed " + seed);
                    reached = point.position();
                }
            }
        }
        assertTrue(reached.inode() > 0, "seed " + seed);
        assertEquals(
                Reason.EBUSY,
                assertThrows(PosixException.class, replicaStores::open).reason());
        StreamPosition behind = new StreamPosition(reached.inode(), reached.page() + 1);
        assertEquals(Reason.EINVAL, refusalOf(TestSender.stream(source, "second", "first", behind)));
        // From the beginning is allowed, too.
        StreamPosition from = random.nextBoolean() ? reached : StreamPosition.START;
        receive(TestSender.stream(source, "second", "first", from));
        assertShows("first", "second");
        assertEquals(Reason.EEXIST, refusalOf(whole));
    }

    @Test
    void aChangedStreamIsNotTakenForWhole() throws IOException {
        tree.change(source, 60);
        snapshot("first");
        byte[] stream = TestSender.stream(source, "first", null);
        for (int round = 0; round < 5; round++) {
            byte[] changed = stream.clone();
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
            try (SnapshotReceiver receiver = replicaStores.receiver()) {
                assertThrows(IOException.class, () -> receive(receiver, changed), "seed " + seed);
                assertEquals(List.of(), receiver.greeting().snapshots());
            }
        }
        receive(stream);
        assertShows("first");
    }

    /** Receives a part of a stream. */
    private void interrupt(String target, @Nullable String base) throws IOException {
        byte[] stream = TestSender.stream(source, target, base);
        byte[] part = Arrays.copyOf(stream, stream.length - 1 - random.nextInt(stream.length / 2));
        try (SnapshotReceiver receiver = replicaStores.receiver()) {
            assertThrows(EOFException.class, () -> receive(receiver, part), "seed " + seed);
        }
    }

    private interface Step {
        void run(SnapshotReceiver receiver) throws IOException;
    }

    private void with(Step step) throws IOException {
        try (SnapshotReceiver receiver = replicaStores.receiver()) {
            step.run(receiver);
        }
    }

    @Test
    void whatIsGivenUpLeavesTheBase() throws IOException {
        tree.change(source, 80);
        snapshot("first");
        interrupt("first", null);
        with(SnapshotReceiver::abort);
        try (Volume empty = replicaStores.open()) {
            assertEquals(List.of(), VolumeChecker.check(empty), "seed " + seed);
            assertEquals(Set.of("/"), TreeDigest.of(empty, Inode.ROOT).keySet());
            assertEquals(1, empty.context().metadata().totals().files());
            assertEquals(0, empty.context().metadata().totals().logicalBytes());
        }
        receive(TestSender.stream(source, "first", null));
        tree.change(source, 80);
        snapshot("second");
        interrupt("second", "first");
        assertEquals(
                Reason.EBUSY,
                assertThrows(PosixException.class, () -> with(SnapshotReceiver::end))
                        .reason());
        with(SnapshotReceiver::abort);
        assertShows("first");
        assertEquals(
                Reason.ENOENT,
                assertThrows(PosixException.class, () -> with(SnapshotReceiver::abort))
                        .reason());
        receive(TestSender.stream(source, "second", "first"));
        assertShows("first", "second");
    }

    /** Numbers of inodes are never used again. A stream says which ones it has before anything else of it is known. */
    @Test
    void aStreamThatIsGivenUpTakesNoNumbersOfInodes() throws IOException {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        SnapshotIdentity target = new SnapshotIdentity(new UUID(1, 2), 1, 0);
        try (StreamWriter writer = new StreamWriter(stream, null)) {
            writer.write(new Start(
                    new StreamPoint(target, null, StreamPosition.START),
                    source.context().metadata().header().pageBytes(),
                    ContentHash.SHA_256,
                    "all numbers",
                    0,
                    false,
                    SnapshotIds.MAX_INODE + 1,
                    0,
                    0));
            writer.flush();
        }
        try (SnapshotReceiver receiver = replicaStores.receiver()) {
            assertThrows(EOFException.class, () -> receive(receiver, stream.toByteArray()));
            receiver.abort();
        }
        try (Volume empty = replicaStores.open()) {
            store(empty, "file", bytes("content"));
        }
    }

    @Test
    void whatOthersChangedIsGivenUpOnlyIfAsked() throws IOException {
        tree.change(source, 80);
        snapshot("first");
        receive(TestSender.stream(source, "first", null));
        with(SnapshotReceiver::end);
        try (Volume own = replicaStores.open()) {
            new RandomTree(random.split()).change(own, 40);
            store(own, "own", bytes("content"));
        }
        tree.change(source, 80);
        snapshot("second");
        byte[] stream = TestSender.stream(source, "second", "first");
        assertEquals(Reason.EBUSY, refusalOf(stream));
        try (Volume own = replicaStores.open()) {
            assertTrue(TreeDigest.of(own, Inode.ROOT).containsKey("/own"));
        }
        with(receiver -> receiver.receive(TestSender.begun(stream), null, true, Progress.NONE));
        assertShows("first", "second");
    }

    @Test
    void aReplicaThatWasUsedSendsBack() throws IOException {
        tree.change(source, 60);
        snapshot("first");
        receive(TestSender.stream(source, "first", null));
        with(SnapshotReceiver::end);
        byte[] back;
        Map<String, String> expected;
        try (Volume own = replicaStores.open()) {
            new RandomTree(random.split()).change(own, 60);
            own.snapshots().create("there", 0, false);
            expected = in(own, "there");
            back = TestSender.stream(own, "there", "first");
        }
        store(source, "lost", bytes("written here meanwhile"));
        source.close();
        try (SnapshotReceiver receiver = sourceStores.receiver()) {
            receiver.receive(TestSender.begun(back), null, true, Progress.NONE);
        }
        source = sourceStores.open();
        assertEquals(expected, in(source, "there"), "seed " + seed);
        assertEquals(expected, TreeDigest.of(source, Inode.ROOT), "seed " + seed);
        assertEquals(shown.get("first"), in(source, "first"), "seed " + seed);
        assertEquals(List.of(), VolumeChecker.check(source), "seed " + seed);
    }

    @Test
    void aSenderIsToldWhatTheReplicaHas() throws Exception {
        byte[] content = new byte[3 << 20];
        random.nextBytes(content);
        store(source, "file", content);
        snapshot("first");
        assertTrue(sendTo("first").chunks() > 100);
        // It ends where no chunk of the file ends.
        store(source, "copy", Arrays.copyOf(content, 2 << 20));
        snapshot("second");
        SendReport sent = sendTo("second");
        assertEquals("first", sent.since());
        assertEquals(1, sent.chunks());
        assertShows("first", "second");
        assertTrue(sendTo("second").known());
    }

    @Test
    void aSenderThatLostTheBaseOfWhatIsUnderWaySaysHowToGoOn() throws Exception {
        byte[] content = new byte[1 << 20];
        random.nextBytes(content);
        store(source, "file", content);
        snapshot("first");
        assertTrue(sendTo("first").chunks() > 0);
        random.nextBytes(content);
        store(source, "other", content);
        snapshot("second");
        byte[] stream = TestSender.stream(source, "second", "first");
        try (SnapshotReceiver receiver = replicaStores.receiver()) {
            assertThrows(EOFException.class, () -> receive(receiver, Arrays.copyOf(stream, stream.length - 10)));
        }
        source.snapshots().delete("first");
        IOException refused = assertThrows(IOException.class, () -> sendTo("second"));
        assertTrue(refused.getMessage().contains("receive --abort"), refused.getMessage());
    }

    /** Sends to a receiver that answers, in another thread. */
    private SendReport sendTo(String snapshot) throws Exception {
        var stream = new PipedOutputStream();
        var answers = new PipedInputStream(1 << 16);
        var in = new PipedInputStream(stream, 1 << 16);
        var out = new PipedOutputStream(answers);
        Thread receiving = new Thread(() -> {
            try (SnapshotReceiver receiver = replicaStores.receiver();
                    StreamWriter writer = new StreamWriter(out, null)) {
                writer.write(receiver.greeting());
                writer.flush();
                StreamReader begun = StreamReader.begin(in, "the stream");
                if (begun != null) {
                    receiver.receive(begun, writer, false, Progress.NONE);
                    writer.write(new StreamMessage.Received());
                    writer.flush();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        receiving.start();
        try {
            return source.maintenance().snapshotSend(null, Progress.NONE).run(snapshot, null, stream, answers);
        } finally {
            stream.close();
            receiving.join();
        }
    }

    @Test
    void whatDoesNotFitIsRefused() throws IOException {
        store(source, "file", bytes("content"));
        snapshot("first");
        store(source, "other", bytes("content"));
        snapshot("second");
        byte[] all = TestSender.stream(source, "first", null);
        byte[] more = TestSender.stream(source, "second", "first");
        assertEquals(Reason.ENOENT, refusalOf(more));
        try (Volume used = replicaStores.open()) {
            store(used, "own", bytes("content"));
        }
        assertEquals(Reason.ENOTEMPTY, refusalOf(all));
        try (Volume used = replicaStores.open()) {
            used.unlink(Inode.ROOT, bytes("own"));
        }
        receive(all);
        assertEquals(Reason.EEXIST, refusalOf(all));
        receive(more);
        assertShows("first", "second");
    }

    private Reason refusalOf(byte[] stream) {
        return assertThrows(PosixException.class, () -> receive(stream)).reason();
    }

    /** Attributes have no chunks, so nothing else bounds the memory that they take. */
    @Test
    void attributesAreStoredAsTheyCome() throws IOException {
        for (int i = 0; i < 300; i++) {
            Attributes made = source.makeNode(Inode.ROOT, bytes("file" + i), 0100644, 0, OWNER);
            source.setExtendedAttribute(made.inode(), bytes("user.large"), new byte[60_000], SetMode.CREATE);
            source.forget(made.inode(), 1);
        }
        snapshot("first");
        byte[] stream = TestSender.stream(source, "first", null);
        InputStream in =
                new SequenceInputStream(new ByteArrayInputStream(stream, 0, stream.length - 100), new InputStream() {
                    @Override
                    public int read() {
                        throw new IllegalStateException("the receiver dies");
                    }
                });
        try (SnapshotReceiver receiver = replicaStores.receiver()) {
            StreamReader begun = Objects.requireNonNull(StreamReader.begin(in, "the stream"));
            assertThrows(IllegalStateException.class, () -> receiver.receive(begun, null, false, Progress.NONE));
            assertTrue(receiver.reached().position().inode() > 100, receiver.reached()::toString);
        }
        receive(stream);
        assertShows("first");
    }

    /** A volume of chunks of 4 KiB has longer ones then. */
    @Test
    void chunksAreRewrittenThatAnotherChunkerCut() throws IOException {
        byte[] old = new byte[24 << 20];
        random.nextBytes(old);
        store(source, "old", old);
        int piece = 128 << 10;
        byte[] content = new byte[(old.length >> 20) * piece];
        for (int i = 0; i < old.length >> 20; i++) {
            System.arraycopy(old, i << 20, content, i * piece, piece);
        }
        store(source, "file", content);
        snapshot("first");
        replicaStores = VolumeInMemory.create(config("fixed", Chunking.SHA256), seed);
        receive(TestSender.stream(source, "first", null));
        with(SnapshotReceiver::end);
        try (Volume own = replicaStores.open()) {
            long file = own.lookup(Inode.ROOT, bytes("file")).inode();
            Defragmentation done = own.maintenance()
                    .defragment(file, DiskModel.HDD, new Defragmentation.Limits(1, false), Progress.NONE);
            overwrite(own, file, content);
            own.forget(file, 1);
            assertEquals(List.of(), VolumeChecker.check(own), "seed " + seed);
            assertTrue(done.rewrittenBytes() > content.length / 2, done + ", seed " + seed);
        }
    }

    /** Writes at random places, as programs do, and checks that the file has these bytes and the others of before. */
    private void overwrite(Volume volume, long inode, byte[] content) throws IOException {
        OpenFile file = volume.open(inode, true);
        for (int i = 0; i < 100; i++) {
            byte[] some = new byte[1 + random.nextInt(20_000)];
            random.nextBytes(some);
            int at = random.nextInt(content.length - some.length);
            volume.write(file, at, ByteBuffer.wrap(some));
            System.arraycopy(some, 0, content, at, some.length);
            if (i % 10 == 0) {
                volume.sync();
            }
        }
        volume.sync();
        ByteBuffer found = ByteBuffer.allocate(content.length);
        while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {}
        volume.close(file);
        assertTrue(Arrays.equals(content, found.array()), "seed " + seed);
    }

    @Test
    void programsDoNotChangeAReplica() throws IOException {
        store(source, "file", bytes("content"));
        snapshot("first");
        receive(TestSender.stream(source, "first", null));
        try (Volume replica = replicaStores.open()) {
            assertEquals(
                    Reason.EROFS,
                    assertThrows(PosixException.class, () -> store(replica, "other", bytes("content")))
                            .reason());
        }
        assertShows("first");
    }
}
