package org.opendedup.sar.hot.promotion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.RawFrame;
import org.opendedup.sar.hot.copies.FakeSsd;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.hot.policy.Settings;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.OfferAnswer;

/** On real containers with eight chunks per frame, of which every third was wanted while the queue was full. */
@Timeout(60)
class OfferRetriesTest {
    private static final int CHUNK = StoredHome.CHUNK;
    private static final int CHUNKS = 600;

    private final FakeSsd ssd = new FakeSsd(Long.MAX_VALUE);
    private final SelectivePromotion promotion = new SelectivePromotion(
            Settings.of(Policy.REFERENCE_COUNT), ssd, Admission.OPEN, (chunkId, length) -> false, CHUNKS);
    private final Map<Long, byte[]> wanted = new HashMap<>();
    private final Map<Long, Integer> counts = new HashMap<>();
    private LongSupplier diskUse = () -> 0;

    @TempDir
    Path folder;

    @AutoClose
    private StoredHome stored;

    private HomeDouble home;

    @BeforeEach
    void store() throws IOException {
        stored = new StoredHome(folder, 1 << 18, CHUNKS);
        home = stored.frames;
        ChunkRequest duplicates = new ChunkRequest();
        int i = 0;
        for (Map.Entry<Long, byte[]> chunk : stored.chunks.entrySet()) {
            if (i++ % 3 == 0) {
                wanted.put(chunk.getKey(), chunk.getValue());
                counts.put(chunk.getKey(), 9);
                duplicates.add(chunk.getKey(), CHUNK, 0, -1);
                duplicates.setData(duplicates.count() - 1, chunk.getValue(), 0, CHUNK);
                duplicates.setReferences(duplicates.count() - 1, 9);
            }
        }
        ssd.answer = OfferAnswer.QUEUE_FULL;
        promotion.onDuplicatesWritten(1, duplicates);
        ssd.answer = OfferAnswer.TAKEN;
        assertEquals(wanted.size(), promotion.remembered());
    }

    private IdleDisk disk() {
        return new IdleDisk(() -> diskUse.getAsLong());
    }

    private void bringBack(IdleDisk disk) throws PromotionStopped {
        new OfferRetries(promotion, stored.sources(id -> counts.getOrDefault(id, 0), diskUse), disk).work();
    }

    private void assertThere(Set<Long> chunks) {
        assertEquals(chunks, ssd.entries.keySet());
        for (long chunkId : chunks) {
            assertArrayEquals(wanted.get(chunkId), ssd.bytes.get(chunkId));
        }
        PromotionStatistics figures = promotion.statistics();
        assertEquals(
                figures.offered(), figures.promoted() + figures.allRefused() + figures.waiting(), figures::toString);
    }

    @Test
    void whatIsNotInMemoryIsReadFromTheDiskAFewFramesAtATurn() throws Exception {
        bringBack(disk());
        assertThere(wanted.keySet());
        assertEquals(0, promotion.remembered());
        assertTrue(home.turns.stream().allMatch(frames -> frames <= 32), home.turns::toString);
        // Eight chunks a frame: each frame once.
        assertEquals(
                CHUNKS / StoredHome.PER_FRAME,
                home.turns.stream().mapToInt(Integer::intValue).sum());
    }

    @Test
    void whatIsInMemoryIsNotRead() throws Exception {
        for (long chunkId : wanted.keySet()) {
            long container = ChunkId.container(chunkId);
            int frame = stored.containers.frameOf(chunkId);
            new HomeDouble(stored.containers).read(container, new int[] {frame}, 1, new FrameConsumer() {
                @Override
                public void frame(int number, Frame contents) {
                    home.memory.put(HomeDouble.key(container, number), contents);
                }

                @Override
                public void damaged(int number, IOException failure) {
                    throw new AssertionError(failure);
                }
            });
        }
        bringBack(disk());
        assertThere(wanted.keySet());
        assertEquals(List.of(), home.turns);
    }

    @Test
    void whatIsDamagedAtHomeIsGivenUpAndCounted() throws Exception {
        long first = wanted.keySet().stream().min(Long::compare).orElseThrow();
        int frame = stored.containers.frameOf(first);
        long container = ChunkId.container(first);
        home.damaged.add(HomeDouble.key(container, frame));
        Set<Long> whole = new HashSet<>();
        for (long chunkId : wanted.keySet()) {
            if (ChunkId.container(chunkId) != container || stored.containers.frameOf(chunkId) != frame) {
                whole.add(chunkId);
            }
        }
        bringBack(disk());
        assertThere(whole);
        assertEquals(wanted.size() - whole.size(), promotion.statistics().refused(Refusal.UNREADABLE));
        assertEquals(0, promotion.remembered());
    }

    @Test
    void whatItsContainerWasWrittenAnewWithoutIsGivenUpAndCounted() throws Exception {
        long removed = wanted.keySet().stream().min(Long::compare).orElseThrow();
        long container = ChunkId.container(removed);
        int frame = stored.containers.frameOf(removed);
        home.memory.put(
                HomeDouble.key(container, frame), without(removed, stored.containers.frame(container, frame, false)));
        Set<Long> whole = new HashSet<>(wanted.keySet());
        whole.remove(removed);
        bringBack(disk());
        assertThere(whole);
        assertEquals(1, promotion.statistics().refused(Refusal.UNREADABLE));
        assertEquals(0, promotion.remembered());
    }

    private static Frame without(long removed, Frame frame) {
        RawFrame raw = new RawFrame(frame.data().length);
        raw.start(frame.firstSlot());
        for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
            if (slot == ChunkId.slot(removed)) {
                raw.addRemoved();
            } else {
                raw.add(frame.data(), frame.offset(slot), frame.length(slot), new byte[Fingerprints.BYTES], 0);
            }
        }
        return raw.toFrame(frame.container());
    }

    @Test
    void whatNothingRefersToAnyMoreIsForgottenUnread() throws Exception {
        counts.clear();
        bringBack(disk());
        assertThere(Set.of());
        assertEquals(wanted.size(), promotion.statistics().refused(Refusal.UNREFERENCED));
        assertEquals(List.of(), home.turns);
    }

    @Test
    void whileTheDiskIsInUseNothingIsLookedAt() {
        AtomicLong uses = new AtomicLong();
        IdleDisk[] disk = new IdleDisk[1];
        diskUse = () -> {
            if (uses.incrementAndGet() == 4) {
                disk[0].close();
            }
            return uses.get();
        };
        disk[0] = disk();
        assertThrows(PromotionStopped.class, () -> bringBack(disk[0]));
        assertThere(Set.of());
        assertEquals(wanted.size(), promotion.remembered());
        assertEquals(List.of(), home.turns);
    }
}
