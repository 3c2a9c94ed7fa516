package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.HookedDirectory;

/**
 * What opening does with containers that were not sealed: it copies what can be read to a new pack, and changes no pack
 * that it finds.
 */
@TestCiphers.PlainAndEncrypted
final class ContainerRecoveryTest extends StoreTest {
    private void forget(BitSet slots) {
        chunks.byId.keySet().removeIf(id -> slots.get(ChunkId.slot(id)));
    }

    @Test
    void anOpenContainerIsCopiedToANewPackAndTheOldOneIsNotChanged() throws IOException {
        FrameTable table = leaveOpen();
        StoredContainer before = fixture.entry(disk, 1);
        String pack = fixture.pack(disk, 1);
        byte[] original = disk.contents(pack);
        assertEquals(State.OPEN, before.state());
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertTrue(store.hasRecovered());
            assertEquals(List.of(1L), store.recovered());
            assertEquals(Map.of(), lost(store));
            chunks.assertAllReadable(store);
            assertEquals(before, fixture.entry(disk, 1), "nothing is committed yet");
            fixture.commit(store);
            assertFalse(store.hasRecovered());
            chunks.assertAllReadable(store);
        }
        StoredContainer after = fixture.entry(disk, 1);
        assertEquals(State.SEALED, after.state());
        assertEquals(before.writing(), after.writing());
        assertEquals(table.slots(), after.slots());
        assertEquals(before.rawBytes(), after.rawBytes());
        assertEquals(0, after.offset() % PackFormat.ALIGNMENT);
        assertArrayEquals(original, disk.contents(pack));
        try (ContainerStore again = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), again.recovered());
            chunks.assertAllReadable(again);
        }
    }

    @Test
    void spaceThatACrashLeftReservedIsGivenBack() throws IOException {
        boolean reserved = false;
        for (int crash = 0; !reserved; crash++) {
            CrashDirectory left;
            try (ContainerStore store = fixture.open(disk)) {
                append(store, 1, 5000, chunks);
                fixture.commit(store);
                left = fixture.crash(disk, crash);
            }
            String pack = fixture.pack(left, fixture.lastId.get());
            reserved = left.reservedBytes(pack) > 0;
            fixture.openWithoutTables(left).close();
            assertEquals(0, left.reservedBytes(pack));
        }
    }

    @Test
    void containersOfSeveralPacksAreCopiedToOne() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            for (int stream = 1; stream <= 3; stream++) {
                append(store, stream, 10_000, chunks);
            }
            fixture.commit(store);
            assertEquals(3, disk.list().size());
        }
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(Set.of(1L, 2L, 3L), new TreeSet<>(store.recovered()));
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
        assertEquals(4, disk.list().size());
        assertEquals(fixture.pack(disk, 1), fixture.pack(disk, 3));
    }

    @Test
    void aBadSectorCostsTheFramesInItAndTheOriginalIsKept() throws IOException {
        FrameTable table = leaveOpen();
        assertTrue(table.frames() > 4);
        StoredContainer entry = fixture.entry(disk, 1);
        String pack = fixture.pack(disk, 1);
        byte[] original = disk.contents(pack);
        int bad = (int) (entry.offset() + table.fileOffset(2) + 10);
        disk.failReads(pack, bad, bad + 1);
        assertThrows(IOException.class, () -> disk.open(pack).readFully(bad, ByteBuffer.allocate(1)));
        BitSet expected = new BitSet();
        for (int frame = 0; frame < table.frames(); frame++) {
            long start = entry.offset() + table.fileOffset(frame);
            long last = start + table.fileLength(frame) - 1;
            if (start / 4096 <= bad / 4096 && last / 4096 >= bad / 4096) {
                expected.set(table.firstSlot(frame), table.firstSlot(frame) + table.slotCount(frame));
            }
        }
        assertTrue(expected.cardinality() < table.slots());
        forget(expected);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            assertEquals(Map.of(1L, expected), lost(store));
            chunks.assertAllReadable(store);
            fixture.commit(store);
        }
        assertArrayEquals(original, disk.contents(pack));
        try (ContainerStore again = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), again.recovered());
            assertFalse(again.hasLost());
            chunks.assertAllReadable(again);
        }
    }

    @Test
    void aDiskThatGivesNothingOfAContainerDoesNotStopTheMount() throws IOException {
        FrameTable table = leaveOpen();
        String pack = fixture.pack(disk, 1);
        byte[] original = disk.contents(pack);
        disk.failReads(pack, 0, Integer.MAX_VALUE);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), store.recovered());
            assertFalse(store.hasRecovered(), "its entry stays");
            assertEquals(Set.of(1L), store.leftOpen());
            assertEquals(slots(0, table.slots()), lost(store));
            fixture.commit(store);
        }
        assertEquals(List.of(pack), disk.list(), "no empty pack is left");
        assertArrayEquals(original, disk.contents(pack));
        disk.failReads(pack, 0, 0);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void aDamagedLastFrameThatNobodyRefersToIsNoLoss() throws IOException {
        FrameTable table = leaveOpen();
        int last = table.frames() - 1;
        byte[] bytes = fixture.contents(disk, 1);
        bytes[(int) table.fileOffset(last) + 60] ^= 1;
        fixture.replace(disk, 1, bytes);
        referTo(table.firstSlot(last));
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            assertEquals(Map.of(), lost(store));
            fixture.commit(store);
        }
        assertEquals(table.firstSlot(last), fixture.entry(disk, 1).slots());
    }

    /** Its frames are found by their own identity. */
    @Test
    void aDamagedHeaderCostsNoFrame() throws IOException {
        leaveOpen();
        byte[] bytes = fixture.contents(disk, 1);
        bytes[9] ^= 1;
        fixture.replace(disk, 1, bytes);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(Map.of(), lost(store));
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void anOpenContainerWithoutAWholeFrameIsRemovedWhenNobodyRefersToIt() throws IOException {
        FrameTable table = leaveOpen();
        String pack = fixture.pack(disk, 1);
        disk.put(pack, new byte[disk.contents(pack).length]);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(slots(0, table.slots()), lost(store));
            assertFalse(store.hasRecovered());
        }
        referTo(0);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(), store.recovered());
            assertFalse(store.hasLost());
            fixture.commit(store);
            assertFalse(store.exists(1));
        }
        assertEquals(0, fixture.table(disk).containers());
        assertEquals(List.of(pack), disk.list(), "no empty pack is left");
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertFalse(store.hasRecovered());
            assertFalse(store.hasLost());
        }
    }

    /** Two frames of which the second was not committed: nothing refers to it, and its slots may be used again. */
    @Test
    void bytesAfterTheLengthInTheTableAreNeverReadAsChunks() throws IOException {
        ContainerChanges uncommitted;
        int committed;
        try (ContainerStore store = fixture.open(disk)) {
            append(store, 1, 10_000, chunks);
            fixture.commit(store);
            committed = store.frameTable(1).slots();
            append(store, 1, 10_000, chunks);
            uncommitted = store.force();
        }
        assertTrue(uncommitted.stored().get(1L).slots() > committed);
        CrashDirectory control = fixture.crash(disk, 1);
        fixture.table(control).commit(uncommitted);
        try (ContainerStore store = fixture.openWithoutTables(control)) {
            fixture.commit(store);
            chunks.assertAllReadable(store);
        }
        assertTrue(fixture.entry(control, 1).slots() > committed, "the control finds them");
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            fixture.commit(store);
            assertEquals(committed, fixture.entry(disk, 1).slots());
            assertThrows(CorruptionException.class, () -> store.frameOf(ChunkId.of(1, committed)));
            chunks.byId.keySet().removeIf(id -> ChunkId.slot(id) >= committed);
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void aMissingPackIsLookedForAgainAtTheNextMount() throws IOException {
        leaveOpen();
        StoredContainer entry = fixture.entry(disk, 1);
        String pack = fixture.pack(disk, 1);
        byte[] away = disk.contents(pack);
        disk.delete(pack);
        disk.sync();
        long id = chunks.byId.keySet().iterator().next();
        for (int mount = 0; mount < 2; mount++) {
            try (ContainerStore store = fixture.openWithoutTables(disk)) {
                assertEquals(List.of(), store.recovered());
                assertFalse(store.hasLost(), "nothing is known to be lost");
                assertFalse(store.exists(1));
                assertThrows(CorruptionException.class, () -> TestChunks.read(store, id));
                fixture.sealAll(store);
            }
            assertEquals(entry, fixture.entry(disk, 1));
        }
        disk.put(pack, away);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            chunks.assertAllReadable(store);
        }
    }

    /** A crash at any step of recovery, or after it and before its changes are committed, loses nothing. */
    @Test
    void aRecoveryThatEndsAtAnyStepIsRepeatedWithTheSameResult() throws IOException {
        try (ContainerStore store = fixture.open(disk)) {
            for (int stream = 1; stream <= 3; stream++) {
                append(store, stream, 20_000, chunks);
            }
            fixture.commit(store);
        }
        List<Long> expected;
        try (ContainerStore store = fixture.openWithoutTables(fixture.crash(disk, 0))) {
            expected = sortedSlots(store, store.force());
        }
        boolean ended = false;
        int steps = 0;
        for (; !ended; steps++) {
            CrashDirectory left = fixture.crash(disk, steps);
            HookedDirectory failing = new HookedDirectory(left);
            fixture.copyTable(left, failing);
            AtomicInteger calls = new AtomicInteger(steps);
            failing.hook = (call, name) -> {
                if (calls.getAndDecrement() <= 0) {
                    throw new IOException("made by the test");
                }
            };
            try (ContainerStore store = fixture.openWithoutTables(failing)) {
                ended = calls.get() > 0;
            } catch (IOException madeByTheTest) {
                ended = false;
            }
            CrashDirectory after = fixture.crash(left, steps);
            try (ContainerStore store = fixture.openWithoutTables(after)) {
                assertEquals(expected, sortedSlots(store, store.force()));
                chunks.assertAllReadable(store);
                fixture.commit(store);
                chunks.assertAllReadable(store);
            }
            try (ContainerStore store = fixture.openWithoutTables(fixture.crash(after, 1))) {
                assertFalse(store.hasRecovered());
                chunks.assertAllReadable(store);
            }
        }
        assertTrue(steps > 20, "steps at which recovery failed: " + steps);
    }

    private static List<Long> sortedSlots(ContainerStore store, ContainerChanges changes) throws IOException {
        assertEquals(Map.of(), lost(store));
        assertEquals(Set.of(), changes.removed());
        return new TreeMap<>(changes.stored())
                .values().stream().map(each -> (long) each.slots()).toList();
    }

    /** Otherwise the next mount would find even less space. */
    @Test
    void aRecoveryThatFindsTheDiskFullDeletesItsPack() throws IOException {
        leaveOpen();
        List<String> before = disk.list();
        for (int room : new int[] {0, 100, 5000, 12_000}) {
            disk.noSpaceAfter(room);
            assertThrows(NoSpaceException.class, () -> fixture.openWithoutTables(disk));
            assertEquals(before, disk.list());
        }
        disk.noSpaceAfter(Long.MAX_VALUE);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void theHighestPackBoundsTheIdsOfContainers() throws IOException {
        leaveOpen();
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            long highest = store.highestPack(0);
            assertTrue(highest >= fixture.entry(disk, 1).pack());
            assertEquals(highest, store.highestPack(highest));
            assertEquals(0, store.highestPack(highest + 1));
        }
    }

    /** No thread waits for ever; the container stays open until the next mount. */
    @Test
    void anErrorWhileAContainerIsCompletedLosesNothing() throws IOException {
        AtomicBoolean broken = new AtomicBoolean();
        Directory failing = failingAppends(broken);
        try (ContainerStore store = fixture.open(failing)) {
            append(store, 1, 3000, chunks);
            fixture.commit(store);
            broken.set(true);
            assertTimeoutPreemptively(Duration.ofMinutes(2), () -> fixture.sealAll(store));
            broken.set(false);
            chunks.assertAllReadable(store);
            append(store, 1, 3000, chunks);
            fixture.sealAll(store);
        }
        assertEquals(State.OPEN, fixture.entry(failing, 1).state());
        assertEquals(State.SEALED, fixture.entry(failing, 2).state());
        fixture.copyTable(failing, disk);
        try (ContainerStore store = fixture.openWithoutTables(disk)) {
            assertEquals(List.of(1L), store.recovered());
            chunks.assertAllReadable(store);
        }
    }

    private Directory failingAppends(AtomicBoolean broken) {
        HookedDirectory hooked = new HookedDirectory(disk);
        hooked.hook = (call, name) -> {
            if (broken.get() && call == HookedDirectory.Call.APPEND) {
                throw new StackOverflowError("made by the test");
            }
        };
        return hooked;
    }
}
