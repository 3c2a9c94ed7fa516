package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.StoreProgress;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;

/** An index whose SSD is not its permanent place. */
class StashHomeTest {
    private static final UUID VOLUME = new UUID(1, 2);
    private static final int SLOTS = 100;

    private CrashDirectory ssd = new CrashDirectory(1);
    private CrashDirectory home = new CrashDirectory(2);

    private static ChunkStashIndex open(Directory ssd, Directory home) throws IOException {
        return ChunkStashIndexFactory.open(
                ssd,
                SmallChunkStashIndexTest.SMALL,
                new StashLimits(IndexSpace.UNBOUNDED, null, new StashHome(() -> home)),
                () -> {});
    }

    private static void fill(ChunkStashIndex index, long container) throws IOException {
        Segment segment = TestSegments.of(container * SLOTS, SLOTS);
        index.lookup(segment);
        for (int slot = 0; slot < SLOTS; slot++) {
            segment.setChunkId(slot, ChunkId.of(container, slot));
            segment.setFresh(slot, true);
        }
        index.insert(segment);
        index.cover(container, new byte[100]);
    }

    private static boolean has(ChunkStashIndex index, long container) throws IOException {
        Segment segment = TestSegments.of(container * SLOTS, SLOTS);
        index.lookup(segment);
        int found = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            found += segment.hint(slot) == ChunkId.of(container, slot) ? 1 : 0;
        }
        boolean isCovered = index.frameTable(container) != null;
        assertEquals(isCovered ? SLOTS : 0, found, "container " + container);
        return isCovered;
    }

    /** Returns the number of containers from 1 on that the index has; it has no others. */
    private static int containers(ChunkStashIndex index) throws IOException {
        int count = 0;
        while (has(index, count + 1)) {
            count++;
        }
        for (int container = count + 1; container < count + 20; container++) {
            assertFalse(has(index, container));
        }
        return count;
    }

    private void fillAndStore(int from, int to) throws IOException {
        try (ChunkStashIndex index = open(ssd, home)) {
            if (index.epoch() == null) {
                index.stamp(new Epoch(VOLUME, 1, 1));
            }
            for (int container = from; container <= to; container++) {
                fill(index, container);
            }
            assertTrue(index.store(StoreProgress.NONE));
        }
    }

    private static long bytes(CrashDirectory directory) throws IOException {
        long bytes = 0;
        for (String name : directory.list()) {
            bytes += directory.length(name);
        }
        return bytes;
    }

    @Test
    void anEmptiedSsdHasTheSameAnswersAfterALoad() throws IOException {
        fillAndStore(1, 20);
        long generation = StashFiles.readIdentity(ssd);
        ssd = new CrashDirectory(3);
        assertTrue(StashHome.load(home, ssd, VOLUME));
        assertEquals(generation, StashFiles.readIdentity(ssd));
        fillAndStore(21, 30);
        ssd = new CrashDirectory(4);
        assertTrue(StashHome.load(home, ssd, VOLUME));
        try (ChunkStashIndex index = open(ssd, home)) {
            assertEquals(30, containers(index));
            assertEquals(30 * SLOTS, index.estimatedChunks());
            assertEquals(new Epoch(VOLUME, 1, 1), index.epoch());
            assertEquals(30, index.highestContainer());
        }
    }

    /** The control: without a load an emptied SSD knows nothing. */
    @Test
    void controlAnEmptiedSsdKnowsNothing() throws IOException {
        fillAndStore(1, 20);
        try (ChunkStashIndex index = open(new CrashDirectory(3), home)) {
            assertEquals(0, containers(index));
        }
    }

    @Test
    void onlyWhatIsNewIsWritten() throws IOException {
        fillAndStore(1, 40);
        List<String> before = home.list();
        long bytesBefore = bytes(home);
        fillAndStore(41, 42);
        List<String> after = home.list();
        long kept = before.stream().filter(after::contains).count();
        assertEquals(before.size() - 1, kept, "all but the checkpoint");
        assertTrue(bytes(home) - bytesBefore < 3 * SLOTS * StashRecords.ENTRY_BYTES + 2000);
        assertFalse(StashHome.load(home, ssd, VOLUME), "the SSD has the same");
    }

    @Test
    void anIndexThatIsStoredWhileInUseGoesOn() throws IOException {
        try (ChunkStashIndex index = open(ssd, home)) {
            index.stamp(new Epoch(VOLUME, 1, 1));
            for (int container = 1; container <= 30; container++) {
                fill(index, container);
                if (container % 7 == 0) {
                    index.store(StoreProgress.NONE);
                    CrashDirectory other = new CrashDirectory(container);
                    assertTrue(StashHome.load(home, other, VOLUME));
                    try (ChunkStashIndex loaded = open(other, new CrashDirectory(9))) {
                        assertEquals(container, containers(loaded));
                    }
                }
            }
            assertEquals(30, containers(index));
        }
    }

    @Test
    void aStoreSaysHowFarItIsAndOneThatIsStoppedLeavesTheHomeAsItWas() throws IOException {
        fillAndStore(1, 10);
        List<String> before = home.list();
        try (ChunkStashIndex index = open(ssd, home)) {
            for (int container = 11; container <= 30; container++) {
                fill(index, container);
            }
            long[] last = new long[2];
            assertThrows(
                    InterruptedIOException.class,
                    () -> index.store((bytes, of) -> {
                        last[0] = bytes;
                        last[1] = of;
                        return false;
                    }));
            assertTrue(0 < last[0] && last[0] < last[1], () -> last[0] + " of " + last[1]);
            assertTrue(home.list().containsAll(before));
            CrashDirectory other = new CrashDirectory(5);
            assertTrue(StashHome.load(home, other, VOLUME));
            try (ChunkStashIndex loaded = open(other, new CrashDirectory(9))) {
                assertEquals(10, containers(loaded));
            }
            assertTrue(index.store((bytes, of) -> {
                last[0] = bytes;
                last[1] = of;
                return true;
            }));
            assertEquals(last[1], last[0]);
        }
    }

    @Test
    void anIndexWithoutAHomeIsNotStored() throws IOException {
        try (ChunkStashIndex index =
                ChunkStashIndexFactory.open(ssd, SmallChunkStashIndexTest.SMALL, StashLimits.NONE, () -> {})) {
            assertFalse(index.store(StoreProgress.NONE));
        }
    }

    /** A power cut, or a failure, at each step of a store leaves the old home or the new one. */
    @Test
    void aStoreThatIsCutLeavesTheOldHomeOrTheNewOne() throws IOException {
        Random random = new Random(TestSeed.next());
        int old = 0;
        int fresh = 0;
        for (int step = 1; step <= 40; step++) {
            ssd = new CrashDirectory(random.nextLong());
            home = new CrashDirectory(random.nextLong());
            fillAndStore(1, 10);
            if (step % 2 == 0) {
                home.failAppend(step / 2);
            } else {
                home.failForce(step / 2 + 1);
            }
            try {
                fillAndStore(11, 15);
            } catch (IOException e) {
                assertTrue(e.getMessage().contains("Input/output error"), e.getMessage());
            }
            int found = containersAfter(home.crash(random.nextLong()));
            assertTrue(found == 10 || found == 15, found + " containers after step " + step);
            old += found == 10 ? 1 : 0;
            fresh += found == 15 ? 1 : 0;
        }
        assertTrue(old > 3 && fresh > 3, old + " old, " + fresh + " new");
    }

    private static int containersAfter(CrashDirectory home) throws IOException {
        CrashDirectory loaded = new CrashDirectory(5);
        assertTrue(StashHome.load(home, loaded, VOLUME));
        try (ChunkStashIndex index = open(loaded, home)) {
            return containers(index);
        }
    }

    /** The control: of a home that is not forced a power cut leaves neither. */
    @Test
    void controlAHomeThatIsNotForcedIsLost() throws IOException {
        Random random = new Random(TestSeed.next());
        int lost = 0;
        for (int round = 0; round < 30; round++) {
            ssd = new CrashDirectory(random.nextLong());
            home = new CrashDirectory(random.nextLong(), true);
            fillAndStore(1, 10);
            CrashDirectory loaded = new CrashDirectory(5);
            CrashDirectory after = home.crash(random.nextLong());
            if (!StashHome.load(after, loaded, VOLUME)) {
                lost++;
                continue;
            }
            try (ChunkStashIndex index = open(loaded, after)) {
                lost += index.estimatedChunks() == 10 * SLOTS ? 0 : 1;
            } catch (CorruptionException e) {
                lost++;
            }
        }
        assertTrue(lost > 0);
    }

    /** A crash in the middle of a load leaves no index, so that the next mount loads it again. */
    @Test
    void aLoadThatIsCutIsRepeated() throws IOException {
        Random random = new Random(TestSeed.next());
        fillAndStore(1, 20);
        for (int step = 1; step < 20; step++) {
            CrashDirectory target = new CrashDirectory(random.nextLong());
            target.failForce(step);
            try {
                StashHome.load(home, target, VOLUME);
            } catch (IOException e) {
                target = target.crash(random.nextLong());
                assertTrue(StashHome.load(home, target, VOLUME), "step " + step);
            }
            try (ChunkStashIndex index = open(target, home)) {
                assertEquals(20, containers(index));
            }
        }
    }

    @Test
    void aStaleHomeDoesNotReplaceANewerIndexAndLacksWhatCameLater() throws IOException {
        fillAndStore(1, 10);
        CrashDirectory stale = home;
        home = stale.crash(7);
        fillAndStore(11, 15);
        assertFalse(StashHome.load(stale, ssd, VOLUME), "of the same log");
        assertEquals(10, containersAfter(stale), "the others are read from the containers");
        // Of another log: the epochs decide.
        CrashDirectory other = new CrashDirectory(8);
        try (ChunkStashIndex index = open(other, new CrashDirectory(9))) {
            index.stamp(new Epoch(VOLUME, 2, 3));
        }
        assertFalse(StashHome.load(home, other, VOLUME), "that of the home is older");
        CrashDirectory older = new CrashDirectory(8);
        try (ChunkStashIndex index = open(older, new CrashDirectory(9))) {
            index.stamp(new Epoch(VOLUME, 0, 3));
        }
        assertTrue(StashHome.load(home, older, VOLUME));
    }

    @Test
    void aForeignHomeIsNeitherLoadedNorOverwritten() throws IOException {
        fillAndStore(1, 10);
        assertFalse(StashHome.load(home, new CrashDirectory(3), new UUID(5, 6)));
        CrashDirectory other = new CrashDirectory(4);
        try (ChunkStashIndex index = open(other, home)) {
            index.stamp(new Epoch(new UUID(5, 6), 1, 1));
            IOException e = assertThrows(IOException.class, () -> index.store(StoreProgress.NONE));
            assertTrue(e.getMessage().contains(VOLUME.toString()), e.getMessage());
        }
        assertEquals(10, containersAfter(home));
    }

    @Test
    void aDamagedIndexDoesNotReplaceItsHome() throws IOException {
        fillAndStore(1, 10);
        try (ChunkStashIndex index = open(ssd, home)) {
            fill(index, 11);
            ssd.create(StashFiles.DAMAGED).close();
            assertThrows(IOException.class, () -> index.store(StoreProgress.NONE));
        }
        assertEquals(10, containersAfter(home));
        assertTrue(StashHome.load(home, ssd, VOLUME), "in place of the damaged one");
    }

    @Test
    void aHomeThatIsHalfLostIsNotLoadedAndIsWrittenAnew() throws IOException {
        fillAndStore(1, 40);
        List<String> files = home.list();
        for (String lost : files) {
            CrashDirectory half = home.crash(1);
            half.delete(lost);
            assertFalse(StashHome.load(half, new CrashDirectory(3), VOLUME), lost);
        }
        byte[] damaged = home.contents(StashHome.CONTENTS);
        damaged[damaged.length / 2] ^= 1;
        home.put(StashHome.CONTENTS, damaged);
        assertFalse(StashHome.load(home, new CrashDirectory(3), VOLUME));
        fillAndStore(41, 41);
        assertEquals(41, containersAfter(home));
    }
}
