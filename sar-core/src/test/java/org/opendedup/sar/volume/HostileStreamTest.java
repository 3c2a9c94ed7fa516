package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.receive.SnapshotReceiver;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamMessage.Attribute;
import org.opendedup.sar.volume.stream.StreamMessage.Changed;
import org.opendedup.sar.volume.stream.StreamMessage.ChunkList;
import org.opendedup.sar.volume.stream.StreamMessage.Chunks;
import org.opendedup.sar.volume.stream.StreamMessage.End;
import org.opendedup.sar.volume.stream.StreamMessage.Name;
import org.opendedup.sar.volume.stream.StreamMessage.Names;
import org.opendedup.sar.volume.stream.StreamMessage.Pages;
import org.opendedup.sar.volume.stream.StreamMessage.Removed;
import org.opendedup.sar.volume.stream.StreamPage;
import org.opendedup.sar.volume.stream.StreamPosition;

/**
 * A stream whose messages contradict each other, or the rules of a volume, is refused, and giving it up leaves an empty
 * volume.
 */
@Timeout(300)
class HostileStreamTest {
    private static final int FILE_BYTES = 600_000;
    /** Has no chunk of the file. */
    private static final long OTHER_CHUNK = 1L << 40;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);

    /** The messages of a stream with one file, without the last one. */
    private List<StreamMessage> messages;

    private long file;
    private long chunk;
    private Map<String, String> shown;
    private VolumeInMemory stores;

    private VolumeConfig config(String name) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder.resolve(name), 4L << 30, Chunking.VARIABLE_SHA256);
        Files.createDirectories(config.locations().metadata());
        return config;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    @BeforeEach
    void send() throws IOException {
        try (Volume source = VolumeInMemory.create(config("source"), seed).open()) {
            Attributes made = source.makeNode(Inode.ROOT, bytes("file"), 0100644, 0, new Owner(1, 1));
            file = made.inode();
            OpenFile open = source.open(file, true);
            byte[] content = new byte[FILE_BYTES];
            random.nextBytes(content);
            source.write(open, 0, ByteBuffer.wrap(content));
            source.close(open);
            source.forget(file, 1);
            source.snapshots().create("snapshot", 0, false);
            shown = TreeDigest.of(source, Inode.ROOT);
            messages = TestSender.messages(TestSender.stream(source, "snapshot", null));
        }
        messages = messages.subList(0, messages.size() - 1);
        chunk = messages.stream()
                .filter(Chunks.class::isInstance)
                .map(message -> ((Chunks) message).chunks().ids()[0])
                .findFirst()
                .orElseThrow();
        stores = VolumeInMemory.create(config("replica"), seed);
    }

    /** Returns the stream with some more messages before the file, or at the end. */
    private byte[] with(boolean isBefore, StreamMessage... more) throws IOException {
        List<StreamMessage> all = new ArrayList<>(messages);
        int place = all.size();
        for (int i = 0; isBefore && i < messages.size(); i++) {
            if (messages.get(i) instanceof Changed changed && changed.inode().id() == Inode.ROOT) {
                place = i + 1;
            }
        }
        all.addAll(place, List.of(more));
        long changed = all.stream().filter(Changed.class::isInstance).count();
        long removed = all.stream().filter(Removed.class::isInstance).count();
        List<ChunkList> chunks = all.stream()
                .filter(Chunks.class::isInstance)
                .map(message -> ((Chunks) message).chunks())
                .toList();
        all.add(new End(
                removed,
                changed,
                chunks.stream().mapToLong(ChunkList::count).sum(),
                chunks.stream().mapToLong(ChunkList::bytes).sum()));
        return TestSender.stream(all);
    }

    private void receive(byte[] stream) throws IOException {
        try (SnapshotReceiver receiver = stores.receiver()) {
            receiver.receive(TestSender.begun(stream), null, false, Progress.NONE);
        }
    }

    private void assertRefused(boolean isBefore, StreamMessage... more) throws IOException {
        byte[] stream = with(isBefore, more);
        assertThrows(CorruptionException.class, () -> receive(stream), () -> List.of(more) + ", seed " + seed);
        try (SnapshotReceiver receiver = stores.receiver()) {
            receiver.abort();
        }
        try (Volume empty = stores.open()) {
            assertEquals(List.of(), VolumeChecker.check(empty), "seed " + seed);
            assertEquals(Set.of("/"), TreeDigest.of(empty, Inode.ROOT).keySet());
            assertEquals(List.of(), empty.snapshots().list());
        }
    }

    private void assertRefusedAfter(StreamMessage... more) throws IOException {
        assertRefused(false, more);
    }

    private static Inode inode(long number, long size) {
        return Inode.of(number, 0100644, Inode.Times.ofCreation(1)).withBytes(size, 0);
    }

    private static Names name(long directory, String name, long inode, int type) {
        return new Names(directory, List.of(new Name(bytes(name), inode, type)));
    }

    private static StreamMessage.Attributes attribute(long inode, String name, byte[] value) {
        return new StreamMessage.Attributes(inode, List.of(new Attribute(bytes(name), value)));
    }

    private Pages page(long number, int zeros, long of, int length) {
        StreamPage.Builder page = new StreamPage.Builder();
        if (zeros > 0) {
            page.addZeros(zeros);
        }
        return new Pages(file, List.of(page.addChunk(of, 0, length).build(number)));
    }

    @Test
    void theControlIsReceived() throws IOException {
        receive(with(false, page(0, 0, chunk, 100), attribute(file, "user.name", bytes("value"))));
        stores = VolumeInMemory.create(config("second"), seed);
        receive(with(true));
        try (Volume replica = stores.open()) {
            assertEquals(List.of(), VolumeChecker.check(replica), "seed " + seed);
            assertEquals(shown, TreeDigest.of(replica, Inode.ROOT), "seed " + seed);
        }
    }

    @Test
    void theRootIsNotRemoved() throws IOException {
        messages = messages.subList(0, 1);
        assertRefusedAfter(new Removed(Inode.ROOT));
    }

    @Test
    void attributesTakeNoMoreThanThoseOfAFile() throws IOException {
        StreamMessage[] values = new StreamMessage[40];
        for (int i = 0; i < values.length; i++) {
            values[i] = attribute(file, "user." + i, new byte[60_000]);
        }
        assertRefusedAfter(values);
        StreamMessage[] names = new StreamMessage[600];
        for (int i = 0; i < names.length; i++) {
            names[i] = attribute(file, "user." + i + "x".repeat(240), new byte[0]);
        }
        assertRefusedAfter(names);
    }

    @Test
    void inodesAreThoseThatTheSenderHas() throws IOException {
        assertRefusedAfter(new Changed(inode(SnapshotIds.MAX_INODE, 0)));
        assertRefusedAfter(new Changed(inode(file + 1, 0)));
        assertRefusedAfter(new Changed(inode(file, 100)));
        assertRefusedAfter(new Removed(file), new Changed(inode(file, 0)));
        messages = messages.subList(0, 2);
        assertRefusedAfter(new Changed(inode(file, Long.MAX_VALUE)));
    }

    @Test
    void namesAreInDirectoriesAndLeadNotBack() throws IOException {
        assertRefusedAfter(name(file, "name", file, Modes.REGULAR));
        assertRefused(true, name(Inode.ROOT, Namespace.SNAPSHOT_FOLDER, file, Modes.REGULAR));
        assertRefused(true, name(Inode.ROOT, "name", Inode.ROOT, Modes.DIRECTORY));
        assertRefused(true, name(Inode.ROOT, "name", file + 1, Modes.REGULAR));
    }

    @Test
    void attributesAreThoseThatAFileCanHave() throws IOException {
        assertRefusedAfter(attribute(file, "", bytes("value")));
        assertRefusedAfter(attribute(file, "user.a\0b", bytes("value")));
        assertRefusedAfter(attribute(file, "user.name", new byte[1 << 17]));
    }

    @Test
    void pagesEndWithTheFile() throws IOException {
        // Multiplied by the bytes of a page, this has a remainder of 64 bits that lies within the file.
        assertRefusedAfter(page(1L << 48, 0, chunk, 100));
        assertRefusedAfter(page(2, 100_000, chunk, 1000));
        assertRefusedAfter(page(3, 0, chunk, 1));
    }

    @Test
    void chunksAreNotLongerThanAVolumeCutsThem() throws IOException {
        byte[] data = new byte[Chunker.LONGEST_BYTES + 1];
        random.nextBytes(data);
        byte[] fingerprint = Sha256.newDigest().digest(data);
        ChunkList list = new ChunkList(new long[] {OTHER_CHUNK}, new int[] {data.length}, fingerprint);
        assertRefusedAfter(new Chunks(list, data), page(0, 0, OTHER_CHUNK, data.length));
    }

    /** What is noted of chunks lies in sparse files by their ids, each of which takes a descriptor. */
    @Test
    void chunksHaveIdsOfOneVolume() throws IOException {
        byte[] data = {1};
        byte[] fingerprint = Sha256.newDigest().digest(data);
        StreamMessage[] many = new StreamMessage[1000];
        for (int i = 0; i < many.length; i++) {
            long id = OTHER_CHUNK * (i + 1);
            many[i] = new Chunks(new ChunkList(new long[] {id}, new int[] {1}, fingerprint), data);
        }
        assertRefusedAfter(many);
    }

    /** What is sent after that begins where the receiver says. */
    @Test
    void ofAStreamWhoseEndSaysThatSomethingIsMissingNothingIsBelieved() throws IOException {
        List<StreamMessage> all = new ArrayList<>(messages);
        // So much that it is stored before the end.
        for (int i = 0; i < 50; i++) {
            all.add(attribute(file, "user." + i, new byte[60_000]));
        }
        all.add(new End(0, 3, 0, 0));
        byte[] stream = TestSender.stream(all);
        try (SnapshotReceiver receiver = stores.receiver()) {
            assertThrows(
                    CorruptionException.class,
                    () -> receiver.receive(TestSender.begun(stream), null, false, Progress.NONE));
            assertEquals(
                    StreamPosition.START,
                    Objects.requireNonNull(receiver.reached()).position());
        }
    }
}
