package org.opendedup.sar.volume.send;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.volume.RandomTree;
import org.opendedup.sar.volume.TreeDigest;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.stream.StreamKeys;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamPoint;
import org.opendedup.sar.volume.stream.StreamPosition;
import org.opendedup.sar.volume.stream.StreamReader;
import org.opendedup.sar.volume.stream.StreamWriter;

/** What a stream says, applied to what it is based on, is the snapshot that was sent. */
@Timeout(300)
class SnapshotSendTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final byte[] KNOWN = "known content of a file ".repeat(3000).getBytes(ISO_8859_1);
    private static final StreamKeys KEYS = new StreamKeys(TestKeys.of(7), new byte[] {1, 2, 3});

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private VolumeConfig config;
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config, Verification.CHECKSUMS);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private void store(String name, long offset, byte[] content) throws IOException {
        Attributes found;
        try {
            found = volume.lookup(Inode.ROOT, bytes(name));
        } catch (PosixException e) {
            found = volume.makeNode(Inode.ROOT, bytes(name), 0100644, 0, OWNER);
        }
        OpenFile file = volume.open(found.inode(), true);
        volume.write(file, offset, ByteBuffer.wrap(content));
        volume.close(file);
        volume.forget(found.inode(), 1);
    }

    private byte[] random(int length) {
        byte[] content = new byte[length];
        random.nextBytes(content);
        return content;
    }

    private Map<String, String> in(String snapshot) throws IOException {
        return TreeDigest.of(volume, TreeDigest.snapshotRoot(volume, snapshot));
    }

    private void snapshot(String name) throws IOException {
        volume.snapshots().create(name, 0, false);
    }

    private SnapshotSend send(Progress progress) {
        return volume.maintenance().snapshotSend(config.keys() == null ? null : KEYS, progress);
    }

    private SnapshotSend send() {
        return send(Progress.NONE);
    }

    private byte[] stream(String snapshot, @Nullable String base) throws IOException {
        return stream(send().point(snapshot, base));
    }

    private byte[] stream(StreamPoint point) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SendReport report = send().run(point, bytes);
        assertEquals(bytes.size(), report.streamBytes());
        return bytes.toByteArray();
    }

    private static List<StreamMessage> messages(byte[] stream) throws IOException {
        List<StreamMessage> messages = new ArrayList<>();
        try (StreamReader reader = StreamReader.begin(new ByteArrayInputStream(stream), "the stream")) {
            if (reader == null) {
                throw new EOFException("no stream");
            }
            if (reader.isSealed()) {
                reader.unseal(KEYS.keys());
            }
            do {
                messages.add(reader.read());
            } while (!(messages.get(messages.size() - 1) instanceof StreamMessage.End));
        }
        return messages;
    }

    private static ReplicaModel apply(byte[] stream, ReplicaModel replica) throws IOException {
        for (StreamMessage message : messages(stream)) {
            replica.apply(message);
        }
        assertTrue(replica.isComplete());
        assertEquals(0, replica.unnamed());
        return replica;
    }

    private void assertReplica(String snapshot, ReplicaModel replica) throws IOException {
        assertEquals(in(snapshot), replica.digest(), snapshot + ", seed " + seed);
    }

    @Test
    void randomSnapshotsArriveOneAfterAnother() throws Exception {
        RandomTree tree = new RandomTree(random);
        ReplicaModel each = new ReplicaModel();
        ReplicaModel some = new ReplicaModel();
        for (int round = 0; round < 6; round++) {
            tree.change(volume, 30);
            String name = "s" + round;
            snapshot(name);
            apply(stream(name, round == 0 ? null : "s" + (round - 1)), each);
            assertReplica(name, each);
            if (round % 3 == 0) {
                apply(stream(name, round == 0 ? null : "s" + (round - 3)), some);
                assertReplica(name, some);
            }
            if (random.nextInt(3) == 0) {
                volume.close();
                volume = Volume.open(config, Verification.CHECKSUMS);
            }
        }
        // An old snapshot is sent whole, while the volume goes on.
        tree.change(volume, 30);
        ReplicaModel whole = new ReplicaModel();
        apply(stream("s2", null), whole);
        assertReplica("s2", whole);
    }

    /** A file without a name is not in a snapshot; when it gets one, all of it is sent. */
    @Test
    void aFileGetsItsFirstNameAfterTheBase() throws IOException {
        Attributes unnamed = volume.makeUnnamed(Inode.ROOT, 0644, OWNER);
        OpenFile file = volume.open(unnamed.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(random(1 << 20)));
        volume.sync(file);
        Attributes lost = volume.makeUnnamed(Inode.ROOT, 0644, OWNER);
        snapshot("before");
        volume.forget(volume.link(unnamed.inode(), Inode.ROOT, bytes("named")).inode(), 1);
        volume.write(file, 5000, ByteBuffer.wrap(random(100)));
        volume.close(file);
        volume.forget(unnamed.inode(), 1);
        snapshot("after");
        volume.forget(lost.inode(), 1);
        ReplicaModel replica = apply(stream("before", null), new ReplicaModel());
        assertReplica("before", replica);
        apply(stream("after", "before"), replica);
        assertReplica("after", replica);
    }

    @Test
    void aChangeOfOneChunkCostsOneChunk() throws IOException {
        store("image", 0, random(8 << 20));
        snapshot("before");
        ReplicaModel replica = apply(stream("before", null), new ReplicaModel());
        store("image", 5 << 20, random(4096));
        snapshot("after");
        byte[] difference = stream("after", "before");
        assertTrue(difference.length < 80_000, difference.length + " bytes, seed " + seed);
        apply(difference, replica);
        assertReplica("after", replica);
        // The control: without a base, all of it is sent.
        assertTrue(stream("after", null).length > 8 << 20);
    }

    @Test
    void aFileThatShrinksAndGrowsAgainHasZerosInBetween() throws IOException {
        store("file", 0, random(3 << 20));
        snapshot("before");
        ReplicaModel replica = apply(stream("before", null), new ReplicaModel());
        Attributes file = volume.lookup(Inode.ROOT, bytes("file"));
        volume.change(file.inode(), AttributeChange.ofSize(700_001));
        snapshot("shrunk");
        volume.change(file.inode(), AttributeChange.ofSize(2 << 20));
        volume.forget(file.inode(), 1);
        snapshot("grown");
        apply(stream("shrunk", "before"), replica);
        assertReplica("shrunk", replica);
        apply(stream("grown", "shrunk"), replica);
        assertReplica("grown", replica);
    }

    /** A stream that ended anywhere is continued by another one from there. */
    @Test
    void aStreamGoesOnWhereAnotherEnded() throws IOException {
        RandomTree tree = new RandomTree(random);
        tree.change(volume, 30);
        snapshot("before");
        store("long", 0, random(3 << 20));
        tree.change(volume, 30);
        snapshot("after");
        for (String base : new String[] {null, "before"}) {
            List<StreamMessage> whole = messages(stream("after", base));
            for (int cut = 1; cut < whole.size(); cut += 1 + whole.size() / 5) {
                ReplicaModel replica = new ReplicaModel();
                if (base != null) {
                    apply(stream("before", null), replica);
                }
                for (StreamMessage message : whole.subList(0, cut)) {
                    replica.apply(message);
                }
                StreamPoint begun = send().point("after", base);
                StreamPoint reached = new StreamPoint(begun.target(), begun.base(), replica.position());
                apply(stream(StreamPoint.parse(reached.toString())), replica);
                assertReplica("after", replica);
            }
        }
    }

    /** Answers as a receiver does that has what the replica has. */
    private SendReport sendTo(ReplicaModel replica, String snapshot, StreamMessage.Greeting greeting) throws Exception {
        PipedInputStream streamEnd = new PipedInputStream(1 << 16);
        PipedOutputStream stream = new PipedOutputStream(streamEnd);
        PipedInputStream answers = new PipedInputStream(1 << 10);
        PipedOutputStream answersEnd = new PipedOutputStream(answers);
        CompletableFuture<Void> receiver = CompletableFuture.runAsync(() -> {
            try (StreamWriter out = new StreamWriter(answersEnd, null)) {
                out.write(greeting);
                out.flush();
                answer(replica, streamEnd, out);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        SendReport report = send().run(snapshot, null, stream, answers);
        stream.close();
        receiver.get();
        return report;
    }

    private static void answer(ReplicaModel replica, InputStream in, StreamWriter out) throws IOException {
        try (StreamReader reader = StreamReader.begin(in, "the stream")) {
            if (reader == null) {
                return; // Nothing was sent.
            }
            StreamMessage message = null;
            while (!(message instanceof StreamMessage.End)) {
                message = reader.read();
                replica.apply(message);
                if (message instanceof StreamMessage.Offer offer) {
                    out.write(replica.answer(offer));
                    out.flush();
                }
            }
            out.write(new StreamMessage.Received());
            out.flush();
        }
    }

    private StreamMessage.Greeting greeting(@Nullable StreamPoint reached, String... snapshots) throws IOException {
        List<SnapshotIdentity> known = new ArrayList<>();
        for (String snapshot : snapshots) {
            known.add(send().point(snapshot, null).target());
        }
        return new StreamMessage.Greeting(
                volume.context().metadata().header().pageBytes(), ContentHash.SHA_256, known, reached);
    }

    @Test
    void aReceiverGetsTheChunksThatItLacksAlone() throws Exception {
        RandomTree tree = new RandomTree(random);
        tree.change(volume, 100);
        byte[] large = random(12 << 20);
        store("large", 0, large);
        snapshot("first");
        ReplicaModel replica = new ReplicaModel();
        SendReport whole = sendTo(replica, "first", greeting(null));
        assertReplica("first", replica);
        assertTrue(whole.chunkBytes() > large.length);
        // The content moves to another file: only what follows from the cut at its beginning is new.
        store("copy", 0, large);
        snapshot("second");
        SendReport difference = sendTo(replica, "second", greeting(null, "first"));
        assertReplica("second", replica);
        assertEquals("first", difference.since());
        assertTrue(difference.chunkBytes() < 1 << 20, difference.toString());
        assertTrue(sendTo(replica, "second", greeting(null, "first", "second")).known());
        // Without answers, the chunks of the copy are sent.
        assertTrue(stream("second", "first").length > large.length);
    }

    @Test
    void aReceiverThatStoppedGetsTheRest() throws Exception {
        RandomTree tree = new RandomTree(random);
        tree.change(volume, 100);
        snapshot("first");
        ReplicaModel replica = new ReplicaModel();
        List<StreamMessage> all = messages(stream("first", null));
        for (StreamMessage message : all.subList(0, all.size() / 2)) {
            replica.apply(message);
        }
        StreamPoint begun = send().point("first", null);
        StreamPoint reached = new StreamPoint(begun.target(), null, replica.position());
        // Also if a younger one is asked for: that comes next.
        tree.change(volume, 10);
        snapshot("second");
        assertEquals("first", sendTo(replica, "second", greeting(reached)).snapshot());
        assertReplica("first", replica);
        assertEquals(
                "second", sendTo(replica, "second", greeting(null, "first")).snapshot());
        assertReplica("second", replica);
    }

    @Test
    void aReceiverIsRefusedThatCannotUseTheStream() throws Exception {
        store("file", 0, random(1000));
        snapshot("first");
        snapshot("second");
        SnapshotIdentity foreign = new SnapshotIdentity(new UUID(1, 2), 1, 3);
        StreamMessage.Greeting stranger =
                new StreamMessage.Greeting(greeting(null).pageBytes(), ContentHash.SHA_256, List.of(foreign), null);
        StreamMessage.Greeting otherPages = new StreamMessage.Greeting(512, ContentHash.SHA_256, List.of(), null);
        StreamMessage.Greeting busy = greeting(new StreamPoint(foreign, null, StreamPosition.START));
        assertEquals(true, refusal("second", stranger).contains("none of the snapshots"));
        assertEquals(true, refusal("second", otherPages).contains("pages of 512 bytes"));
        assertEquals(true, refusal("second", busy).contains("a part of a snapshot that"));
        ByteArrayOutputStream refused = new ByteArrayOutputStream();
        try (StreamWriter out = new StreamWriter(refused, null)) {
            out.write(greeting(null));
            out.write(new StreamMessage.Refused("there is no space"));
            out.flush();
        }
        IOException e = assertThrows(
                IOException.class,
                () -> send().run(
                                "second",
                                null,
                                new ByteArrayOutputStream(),
                                new ByteArrayInputStream(refused.toByteArray())));
        assertEquals("the receiver: there is no space", e.getMessage());
        assertThrows(IOException.class, () -> send().point("first", "second"));
    }

    /** A receiver is another machine's program: the heap of the volume is not for all that it says. */
    @Test
    void aReceiverThatSaysMoreThanItIsAskedIsNotListenedTo() throws Exception {
        for (byte[] said : List.of(answers(1000, 1000), answers(1, 8 << 20))) {
            ByteArrayInputStream in = new ByteArrayInputStream(said);
            try (Answers answers = new Answers(in, () -> {})) {
                // Waits for its thread, which reads until it has too much.
                assertEquals(null, answers.refusal());
                assertTrue(in.available() > said.length / 2, () -> in.available() + " bytes not read");
            }
        }
    }

    private byte[] answers(int count, int bytes) throws IOException {
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        try (StreamWriter out = new StreamWriter(answers, null)) {
            out.write(greeting(null));
            for (int i = 0; i < count; i++) {
                out.write(new StreamMessage.Answer(new byte[bytes]));
            }
            out.flush();
        }
        return answers.toByteArray();
    }

    private String refusal(String snapshot, StreamMessage.Greeting greeting) throws IOException {
        ByteArrayOutputStream answers = new ByteArrayOutputStream();
        try (StreamWriter out = new StreamWriter(answers, null)) {
            out.write(greeting);
            out.flush();
        }
        return assertThrows(
                        IOException.class,
                        () -> send().run(
                                        snapshot,
                                        null,
                                        new ByteArrayOutputStream(),
                                        new ByteArrayInputStream(answers.toByteArray())))
                .getMessage();
    }

    @Test
    void whatIsStoppedOrCannotBeWrittenEndsWithWords() throws IOException {
        store("file", 0, random(4 << 20));
        snapshot("first");
        StreamPoint point = send().point("first", null);
        assertThrows(
                InterruptedIOException.class,
                () -> send((stage, done, of) -> {
                            if (stage.startsWith("MiB") && done > 0) {
                                throw new InterruptedIOException("stopped");
                            }
                        })
                        .run(point, new ByteArrayOutputStream()));
        IOException broken = assertThrows(
                IOException.class,
                () -> send().run(point, new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("Broken pipe");
                    }
                }));
        assertEquals("the stream cannot be written: Broken pipe", broken.getMessage());
        // Without a word of this the stream would seem to be sent.
        assertThrows(
                IOException.class,
                () -> send().run(point, new OutputStream() {
                    @Override
                    public void write(int b) {
                        throw new OutOfMemoryError("no heap");
                    }
                }));
        assertFalse(Files.exists(config.locations().metadata().resolve("send")));
    }

    @Test
    void aDamagedChunkEndsTheStreamAndItsFileIsNamed() throws IOException {
        Attributes directory = volume.makeDirectory(Inode.ROOT, bytes("folder"), 0755, OWNER);
        Attributes made = volume.makeNode(directory.inode(), bytes("damaged"), 0100644, 0, OWNER);
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(random(1 << 20)));
        volume.close(file);
        volume.forget(made.inode(), 1);
        volume.forget(directory.inode(), 1);
        snapshot("first");
        volume.close();
        damage();
        volume = Volume.open(config, Verification.CHECKSUMS);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        IOException e = assertThrows(IOException.class, () -> send().run(send().point("first", null), out));
        assertTrue(e.getMessage().startsWith("a chunk of /folder/damaged cannot be read"), e.getMessage());
        assertThrows(IOException.class, () -> messages(out.toByteArray()));
    }

    /** As of a wrong entry of the index: what no reader gets must not arrive in a replica either. */
    @Test
    void aReferenceToOtherContentEndsTheStreamAndItsFileIsNamed() throws IOException {
        store("right", 0, random(100_000));
        store("wrong", 0, random(100_000));
        volume.sync();
        snapshot("before");
        refer("wrong", "right", 0);
        snapshot("same");
        refer("wrong", "right", 1);
        snapshot("other");
        ReplicaModel replica = apply(stream("before", null), new ReplicaModel());
        apply(stream("same", "before"), replica);
        assertReplica("same", replica);
        for (String base : new String[] {null, "before", "same"}) {
            IOException e = assertThrows(IOException.class, () -> stream("other", base));
            assertTrue(e.getMessage().startsWith("a chunk of /wrong cannot be read"), e.getMessage());
        }
    }

    /**
     * Makes a file refer to the chunks of another one.
     *
     * @param more what is added to the first bytes of the fingerprints
     */
    private void refer(String from, String to, int more) throws IOException {
        long source = volume.lookup(Inode.ROOT, bytes(to)).inode();
        long target = volume.lookup(Inode.ROOT, bytes(from)).inode();
        RecipeStore recipes = volume.context().metadata().recipes();
        RecipePage page = recipes.page(source, 0);
        RecipePage.Builder made = new RecipePage.Builder();
        for (int entry = 0; entry < page.count(); entry++) {
            made.add(
                    page.chunkId(entry),
                    page.chunkOffset(entry),
                    page.length(entry),
                    page.fingerprintPrefix(entry) + more);
        }
        volume.context().committer().changes().lock();
        try {
            recipes.replace(target, 0, made.build());
        } finally {
            volume.context().committer().changes().unlock();
        }
        volume.forget(source, 1);
        volume.forget(target, 1);
    }

    private void damage() throws IOException {
        try (var files = Files.walk(config.locations().data())) {
            for (Path pack :
                    files.filter(path -> path.toString().endsWith(".pack")).toList()) {
                byte[] content = Files.readAllBytes(pack);
                content[content.length / 2] ^= 1;
                Files.write(pack, content);
            }
        }
    }

    @Test
    void anEncryptedVolumeIsSentSealed() throws IOException {
        store("plain", 0, KNOWN);
        snapshot("first");
        assertTrue(has(stream("first", null), "plain"), "the control");
        volume.close();
        config = VolumeConfigs.in(folder.resolve("sealed"), 4L << 30, Chunking.VARIABLE_SHA256)
                .withKeys(KEYS.keys());
        Volume.create(config);
        volume = Volume.open(config, Verification.CHECKSUMS);
        store("plain", 0, KNOWN);
        store("random", 0, random(1 << 20));
        snapshot("first");
        byte[] sealed = stream("first", null);
        assertFalse(has(sealed, "plain"));
        assertFalse(has(sealed, "known content"));
        ReplicaModel replica = apply(sealed, new ReplicaModel());
        assertReplica("first", replica);
        assertThrows(IllegalArgumentException.class, () -> volume.maintenance().snapshotSend(null, Progress.NONE));
    }

    private static boolean has(byte[] stream, String text) {
        return new String(stream, ISO_8859_1).contains(text);
    }

    @Test
    void aVolumeThatIsReadOnlyIsSent() throws IOException {
        store("file", 0, random(100_000));
        snapshot("first");
        volume.close();
        volume = Volume.openReadOnly(config, Verification.CHECKSUMS);
        assertReplica("first", apply(stream("first", null), new ReplicaModel()));
    }

    @Test
    void chunksOfManyContainersAreForgotten() {
        SentChunks sent = new SentChunks(2);
        assertTrue(sent.add(1L << 16));
        assertFalse(sent.add(1L << 16));
        assertTrue(sent.add(2L << 16));
        assertTrue(sent.add(1L << 16 | 5));
        assertTrue(sent.add(3L << 16));
        assertFalse(sent.add(1L << 16));
        assertTrue(sent.add(2L << 16));
    }
}
