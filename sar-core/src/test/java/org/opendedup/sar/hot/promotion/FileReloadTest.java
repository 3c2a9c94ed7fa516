package org.opendedup.sar.hot.promotion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.copies.FakeSsd;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.hot.policy.Settings;
import org.opendedup.sar.hot.promotion.FileReload.Reloaded;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.ssd.OfferAnswer;

/** Brings a file of three containers to an SSD in memory. */
class FileReloadTest {
    private static final long INODE = 7;
    private static final int CHUNK = StoredHome.CHUNK;
    private static final int PAGE_BYTES = 32 * CHUNK;
    private static final int CHUNKS = 3 * StoredHome.PER_CONTAINER;
    private static final long FILE_BYTES = (long) CHUNKS * CHUNK;

    @TempDir
    Path folder;

    @AutoClose
    private StoredHome stored;

    private final FakeSsd ssd = new FakeSsd(Long.MAX_VALUE);
    private final AtomicBoolean admits = new AtomicBoolean(true);
    private final AtomicBoolean closed = new AtomicBoolean();
    private SelectivePromotion promotion;
    private List<Long> ids;

    @BeforeEach
    void open() throws IOException {
        stored = new StoredHome(folder, PAGE_BYTES, CHUNKS);
        ids = List.copyOf(stored.chunks.keySet());
        for (int page = 0; page < CHUNKS / 32; page++) {
            RecipePage.Builder recipe = new RecipePage.Builder();
            for (int i = 0; i < 32; i++) {
                recipe.add(ids.get(32 * page + i), 0, CHUNK, 0);
            }
            stored.metadata.recipes().replace(INODE, page, recipe.build());
        }
        promotion = promotion(Policy.OPEN);
    }

    private SelectivePromotion promotion(Policy policy) {
        return new SelectivePromotion(Settings.of(policy), ssd, rank -> admits.get(), (chunkId, length) -> false, 0);
    }

    private FileReload reload() {
        return new FileReload(
                promotion, stored.sources(stored.metadata.counts()::occurrences, () -> 0), ssd::contains, closed::get);
    }

    private Reloaded run() throws IOException {
        return reload().reload(INODE, FILE_BYTES, true, bytes -> {});
    }

    @Test
    void aFileComesWholeAndWhatIsThereIsNotRead() throws IOException {
        ssd.add(ids.get(0), 1, 1, 1, CHUNK);
        assertEquals(new Reloaded(FILE_BYTES, FILE_BYTES - CHUNK, FILE_BYTES, Map.of()), run());
        assertEquals(CHUNKS, ssd.size());
        for (long id : ids.subList(1, CHUNKS)) {
            assertArrayEquals(stored.chunks.get(id), ssd.bytes.get(id));
        }
        int frames = CHUNKS / StoredHome.PER_FRAME;
        assertEquals(frames, stored.frames.turns.stream().mapToInt(each -> each).sum(), "each frame once");
        assertEquals(new Reloaded(FILE_BYTES, 0, FILE_BYTES, Map.of()), run());
        assertEquals(frames, stored.frames.turns.stream().mapToInt(each -> each).sum(), "nothing is read again");
    }

    @Test
    void whatIsRefusedIsNamedWithItsReason() throws IOException {
        admits.set(false);
        assertEquals(new Reloaded(FILE_BYTES, 0, 0, Map.of(Refusal.RANK, FILE_BYTES)), run());
        admits.set(true);
        int turns = stored.frames.turns.size();
        assertTrue(turns > 1, "the control");
        ssd.answer = OfferAnswer.UNAVAILABLE;
        assertEquals(Map.of(Refusal.UNAVAILABLE, FILE_BYTES), run().refused());
        assertEquals(turns + 1, stored.frames.turns.size(), "nothing more is read in vain");
        ssd.answer = OfferAnswer.TAKEN;
        long container = ChunkId.container(ids.get(0));
        stored.frames.damaged.add(HomeDouble.key(container, 0));
        long damaged = (long) StoredHome.PER_FRAME * CHUNK;
        assertEquals(
                new Reloaded(
                        FILE_BYTES, FILE_BYTES - damaged, FILE_BYTES - damaged, Map.of(Refusal.UNREADABLE, damaged)),
                run());
    }

    @Test
    void aContainerThatIsMissingCostsItsOwnChunksOnly() throws IOException {
        RecipePage.Builder recipe = new RecipePage.Builder();
        recipe.add(ChunkId.of(999, 0), 0, CHUNK, 0);
        recipe.add(ChunkId.of(999, 1), 0, CHUNK, 0);
        ids.subList(0, 30).forEach(id -> recipe.add(id, 0, CHUNK, 0));
        stored.metadata.recipes().replace(INODE, 0, recipe.build());
        long missing = 2L * CHUNK;
        assertEquals(
                new Reloaded(
                        FILE_BYTES, FILE_BYTES - missing, FILE_BYTES - missing, Map.of(Refusal.UNREADABLE, missing)),
                run());
    }

    @Test
    void aFullQueueIsWaitedFor() throws Exception {
        ssd.answer = OfferAnswer.QUEUE_FULL;
        Thread empties = new Thread(() -> {
            TestWait.until(() -> ssd.offers.get() > 3);
            ssd.answer = OfferAnswer.TAKEN;
        });
        empties.start();
        assertEquals(FILE_BYTES, run().onSsdBytes());
        empties.join();
    }

    @Test
    void aReloadThatWaitsForTheQueueEndsWhenTheVolumeIsClosed() throws Exception {
        ssd.answer = OfferAnswer.QUEUE_FULL;
        Thread closes = new Thread(() -> {
            TestWait.until(() -> ssd.offers.get() > 3);
            closed.set(true);
        });
        closes.start();
        assertThrows(InterruptedIOException.class, this::run);
        closes.join();
    }

    @Test
    void itEndsWhenItIsStoppedOrTheVolumeIsClosed() {
        FileReload reload = reload();
        assertThrows(
                InterruptedIOException.class,
                () -> reload.reload(INODE, FILE_BYTES, true, bytes -> {
                    throw new InterruptedIOException("stopped");
                }));
        int turns = stored.frames.turns.size();
        closed.set(true);
        assertThrows(InterruptedIOException.class, this::run);
        assertEquals(turns, stored.frames.turns.size(), "closing a volume waits for no further read");
    }

    @Test
    void anOpenedFileComesIfThePolicyWantsThat() throws IOException {
        try (OpenedFiles opened = new OpenedFiles(promotion, reload(), "test")) {
            opened.note(INODE, FILE_BYTES);
            TestWait.until(() -> ssd.size() == CHUNKS);
        }
        assertTrue(promotion.reloads(Settings.of(Policy.OPEN).capacityBytes() / 4));
        assertEquals(false, promotion.reloads(Settings.of(Policy.OPEN).capacityBytes() / 4 + 1), "a large file");
        assertEquals(false, promotion(Policy.COST).reloads(1));
    }
}
