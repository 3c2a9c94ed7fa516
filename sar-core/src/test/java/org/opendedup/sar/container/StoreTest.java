package org.opendedup.sar.container;

import java.io.IOException;
import java.util.BitSet;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.CrashDirectory;

/** What tests of a container store have in common: a disk, chunks, and containers that were not sealed. */
abstract class StoreTest {
    final long seed = TestSeed.next();
    final Random random = new Random(seed);
    final TestChunks chunks = new TestChunks();
    final CrashDirectory disk = new CrashDirectory(seed);

    @RegisterExtension
    final StoreFixture fixture = new StoreFixture();

    /** That of {@link TestCiphers.PlainAndEncrypted}. */
    @Parameter
    ContainerCipher cipher = ContainerCipher.NONE;

    @BeforeEach
    void encrypt() {
        fixture.cipher = cipher;
    }

    void appendSome(ContainerStore store, long stream, int count) throws IOException {
        appendSome(store, stream, count, 1000);
    }

    void appendSome(ContainerStore store, long stream, int count, int maxBytes) throws IOException {
        try (ContainerWriter writer = store.writer(stream)) {
            for (int i = 0; i < count; i++) {
                chunks.append(writer, TestChunks.chunk(random, maxBytes));
            }
        }
    }

    /** Appends chunks until they have at least the given number of bytes together. */
    void append(ContainerStore store, long stream, int bytes, TestChunks to) throws IOException {
        try (ContainerWriter writer = store.writer(stream)) {
            for (int appended = 0; appended < bytes; ) {
                byte[] chunk = TestChunks.chunk(random, 1000);
                to.append(writer, chunk);
                appended += chunk.length;
            }
        }
    }

    /** Leaves container 1 committed and not sealed, with all its slots referred to. Returns its frame table. */
    FrameTable leaveOpen() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            append(store, 1, 30_000, chunks);
            fixture.commit(store);
            FrameTable table = store.frameTable(1);
            referTo(table.slots());
            return table;
        }
    }

    /** Makes the volume refer to the first slots of container 1. */
    void referTo(int slots) {
        BitSet live = new BitSet();
        live.set(0, slots);
        fixture.table(disk).live.put(1L, live);
    }

    static Map<Long, BitSet> lost(ContainerStore store) throws IOException {
        Map<Long, BitSet> lost = new TreeMap<>();
        store.forEachLost((container, first, end) ->
                lost.computeIfAbsent(container, key -> new BitSet()).set(first, end));
        return lost;
    }

    /** Returns slots {@code first} to {@code end} of container 1, without {@code end}. */
    static Map<Long, BitSet> slots(int first, int end) {
        BitSet slots = new BitSet();
        slots.set(first, end);
        return Map.of(1L, slots);
    }
}
