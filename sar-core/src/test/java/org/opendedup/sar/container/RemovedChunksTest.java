package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.BitSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;

/** A store reads a container that was written anew without two frames and some further chunks. */
@TestCiphers.PlainAndEncrypted
class RemovedChunksTest extends StoreTest {
    private final BitSet removed = new BitSet();
    /** The frames of the first generation. */
    private FrameTable table;

    @BeforeEach
    void writeAnew() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 40, 1500);
            fixture.sealAll(store);
            table = store.frameTable(1);
        }
        int last = table.frames() - 1;
        assertTrue(last >= 4, "frames of 4 KiB for 30 KB");
        removed.set(table.firstSlot(1), table.firstSlot(2));
        removed.set(table.firstSlot(2));
        removed.set(table.firstSlot(last), table.slots());
        ContainerBytes.remove(disk, fixture.table(disk), 1, removed, fixture.options.compression(), fixture.cipher);
    }

    @Test
    void whatStaysIsReadWithTheIndexsOldTableAndWithout() throws IOException {
        // The control: the index has the table of the first generation.
        assertTrue(fixture.frameTables.containsKey(1L));
        try (ContainerStore store = fixture.open(disk)) {
            checkChunks(store);
        }
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            checkChunks(store);
        }
    }

    private void checkChunks(ContainerStore store) throws IOException {
        int read = 0;
        for (Map.Entry<Long, byte[]> each : chunks.byId.entrySet()) {
            long id = each.getKey();
            int slot = ChunkId.slot(id);
            int frame = table.frameOf(slot);
            if (isRemoved(frame)) {
                assertThrows(CorruptionException.class, () -> store.frameOf(id));
                // The tables are in memory now.
                assertEquals(-1, store.knownFrameOf(id));
            } else {
                assertEquals(frame, store.frameOf(id));
                assertEquals(!removed.get(slot), store.frame(1, frame, true).holds(slot));
            }
            if (!removed.get(slot)) {
                assertArrayEquals(each.getValue(), TestChunks.read(store, id), "slot " + slot);
                read++;
            }
        }
        assertEquals(40 - removed.cardinality(), read);
    }

    private boolean isRemoved(int frame) {
        return removed.nextClearBit(table.firstSlot(frame)) >= table.firstSlot(frame) + table.slotCount(frame);
    }

    @Test
    void aRemovedFrameIsAnErrorAndIsNotRequested() throws IOException {
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            CorruptionException refused = assertThrows(CorruptionException.class, () -> store.frame(1, 1, false));
            assertTrue(refused.getMessage().contains("container 1, slots"), refused.getMessage());
            Received received = read(store, new int[] {1, table.frames() - 1});
            assertEquals(Set.of(1, table.frames() - 1), received.damaged);
            assertEquals(0, received.requests);
        }
    }

    @Test
    void theOtherFramesAreReadAsOne() throws IOException {
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            Received received = read(store, IntStream.range(0, table.frames()).toArray());
            assertEquals(Set.of(1, table.frames() - 1), received.damaged);
            assertEquals(table.frames() - 2, received.frames.size());
            assertEquals(1, received.requests);
            FrameTable now = store.frameTable(1);
            assertEquals(now.fileOffset(table.frames() - 1) - now.fileOffset(0), received.bytes);
        }
    }

    private static final class Received implements FrameConsumer {
        final TreeSet<Integer> frames = new TreeSet<>();
        final TreeSet<Integer> damaged = new TreeSet<>();
        int requests;
        int bytes;

        @Override
        public synchronized void frame(int number, Frame frame) {
            frames.add(number);
        }

        @Override
        public synchronized void damaged(int number, IOException cause) {
            damaged.add(number);
        }

        @Override
        public void requested(long pack, long offset, int length, long nanos) {
            requests++;
            bytes += length;
        }
    }

    private static Received read(ContainerStore store, int[] frames) throws IOException {
        Received received = new Received();
        store.readFrames(1, frames, frames.length, 0, received);
        return received;
    }
}
