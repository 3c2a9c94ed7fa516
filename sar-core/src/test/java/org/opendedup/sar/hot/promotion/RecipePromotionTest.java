package org.opendedup.sar.hot.promotion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.FakeSsd;
import org.opendedup.sar.hot.copies.Requests;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.hot.policy.Settings;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.ssd.OfferAnswer;

/** On real containers of 1 MiB: of each the file wants 40 chunks of 128, and of one all. */
class RecipePromotionTest {
    private static final long INODE = 7;
    private static final int CHUNK = StoredHome.CHUNK;
    private static final int PAGE_BYTES = 32 * CHUNK;
    private static final int PER_CONTAINER = StoredHome.PER_CONTAINER;
    /** Containers of which little is wanted: every second one, so that those between are too long to read through. */
    private static final int SPARSE = 13;

    /** Containers that are wanted whole: together long enough to stay on the disk. */
    private static final int WHOLE = 2;

    private static final int CONTAINERS = WHOLE + 2 * SPARSE;
    private static final int WANTED = 40;

    private final FakeSsd ssd = new FakeSsd(Long.MAX_VALUE);
    private final Set<Long> wanted = new HashSet<>();
    private volatile LongSupplier diskUse = () -> 0;
    private long freeBytes = Long.MAX_VALUE;
    private final Admission admission = new Admission() {
        @Override
        public boolean admits(long rank) {
            return true;
        }

        @Override
        public long freeBytes() {
            return freeBytes;
        }

        @Override
        public boolean displaces(long rank) {
            return false;
        }
    };

    @TempDir
    Path folder;

    @AutoClose
    private StoredHome stored;

    private HomeDouble home;

    @BeforeEach
    void open() throws IOException {
        stored = new StoredHome(folder, PAGE_BYTES, CONTAINERS * PER_CONTAINER);
        home = stored.frames;
        writeRecipe(stored.chunks.keySet().stream().mapToLong(Long::longValue).toArray());
    }

    private void writeRecipe(long[] chunkIds) throws IOException {
        RecipePage.Builder page = new RecipePage.Builder();
        long pages = 0;
        for (int i = 0; i < chunkIds.length; i++) {
            boolean whole = i < WHOLE * PER_CONTAINER;
            boolean sparse = i / PER_CONTAINER % 2 == 1 && i % PER_CONTAINER < WANTED;
            if (whole || sparse) {
                page.add(chunkIds[i], 0, CHUNK, 0);
                if (!whole) {
                    wanted.add(chunkIds[i]);
                }
            }
            if (page.bytes() == PAGE_BYTES) {
                stored.metadata.recipes().replace(INODE, pages++, page.build());
            }
        }
        stored.metadata.recipes().replace(INODE, pages, page.build());
    }

    private BackgroundPromotion promotion(Policy policy) {
        SelectivePromotion promotion =
                new SelectivePromotion(Settings.of(policy), ssd, admission, (chunkId, length) -> false, 0);
        PromotionSources sources = stored.sources(stored.metadata.counts()::occurrences, () -> diskUse.getAsLong());
        BackgroundPromotion recipes =
                new BackgroundPromotion(promotion, admission, sources, 64 << 20, 64 << 20, chunk -> true, 0, "test");
        promotion.listen(recipes::note);
        return recipes;
    }

    @Test
    void whatAFileWantsOfSparselyUsedContainersIsOnTheSsdSoonAfterItIsWritten() {
        try (BackgroundPromotion recipes = promotion(Policy.COST)) {
            recipes.note(INODE);
            TestWait.until(() -> ssd.size() == wanted.size());
        }
        assertEquals(wanted, ssd.entries.keySet());
        for (long chunkId : wanted) {
            assertArrayEquals(stored.chunks.get(chunkId), ssd.bytes.get(chunkId));
            assertEquals(1, ssd.entries.get(chunkId).count);
        }
    }

    @Test
    void whatDoesNotFitIsNotRead() {
        freeBytes = 3L * WANTED * CHUNK + CHUNK;
        try (BackgroundPromotion recipes = promotion(Policy.COST)) {
            recipes.note(INODE);
            TestWait.until(() -> ssd.size() == 3 * WANTED);
        }
        assertEquals(3 * WANTED, ssd.size());
        assertEquals(
                3,
                ssd.entries.keySet().stream().map(ChunkId::container).distinct().count());
    }

    @Test
    void whileTheDiskIsInUseNothingIsRead() {
        AtomicInteger asked = new AtomicInteger();
        diskUse = asked::incrementAndGet;
        try (BackgroundPromotion recipes = promotion(Policy.COST)) {
            recipes.note(INODE);
            TestWait.until(() -> asked.get() > 3);
            assertEquals(0, ssd.size());
            diskUse = () -> 0;
            TestWait.until(() -> ssd.size() == wanted.size());
        }
    }

    @Test
    void closingDoesNotWaitForAnIdleDisk() {
        AtomicInteger asked = new AtomicInteger();
        diskUse = asked::incrementAndGet;
        BackgroundPromotion recipes = promotion(Policy.COST);
        recipes.note(INODE);
        TestWait.until(() -> asked.get() > 1);
        assertTimeoutPreemptively(Duration.ofSeconds(20), recipes::close);
        recipes.close();
        assertEquals(0, ssd.size());
    }

    @Test
    void closingDoesNotWaitForAPlanToBeMade() {
        freeBytes = 0;
        AtomicInteger asked = new AtomicInteger();
        AtomicReference<BackgroundPromotion> recipes = new AtomicReference<>();
        Thread closing = new Thread(() -> recipes.get().close());
        CountSource counts = chunkId -> {
            if (asked.incrementAndGet() == 1) {
                closing.start();
                TestWait.until(() -> closing.getState() == Thread.State.WAITING);
            }
            return 1;
        };
        SelectivePromotion promotion =
                new SelectivePromotion(Settings.of(Policy.COST), ssd, admission, (chunkId, length) -> false, 0);
        PromotionSources sources = stored.sources(counts, () -> 0);
        recipes.set(
                new BackgroundPromotion(promotion, admission, sources, 64 << 20, 64 << 20, chunk -> true, 0, "test"));
        recipes.get().note(INODE);
        TestWait.until(() -> closing.getState() == Thread.State.TERMINATED);
        assertEquals(WANTED, asked.get(), "the request that was being looked at, and no other");
    }

    @Test
    void aPartTakesAsMuchHeapAsThereIs() {
        assertEquals(1 << 17, RecipePromotion.maxReferences(80 << 17));
        assertEquals(RecipeUse.MAX_REFERENCES, RecipePromotion.maxReferences(Long.MAX_VALUE));
        assertEquals(1 << 16, RecipePromotion.maxReferences(0), "more than a page has");
        RecipeUse use = new RecipeUse(1, 2);
        use.add(0, ChunkId.of(1, 0), 1);
        assertEquals(1, use.room());
    }

    /** Writes a recipe that refers to single bytes, as copies of ranges make it. */
    private void writeDense(long inode, int pages) throws IOException {
        RecipePage.Builder page = new RecipePage.Builder();
        long[] ids = stored.chunks.keySet().stream().mapToLong(Long::longValue).toArray();
        for (int at = 0; at < PAGE_BYTES; at++) {
            page.add(ids[at % 2], at % CHUNK, 1, 0);
        }
        RecipePage dense = page.build();
        for (int number = 0; number < pages; number++) {
            stored.metadata.recipes().replace(inode, number, dense);
        }
    }

    /** With as little heap as there may be. */
    @Test
    void pagesThatReferToSingleBytesKeepNoOtherFileWaiting() throws IOException {
        writeDense(INODE - 1, 2);
        SelectivePromotion promotion =
                new SelectivePromotion(Settings.of(Policy.COST), ssd, admission, (chunkId, length) -> false, 0);
        PromotionSources sources = stored.sources(stored.metadata.counts()::occurrences, () -> 0);
        try (BackgroundPromotion recipes =
                new BackgroundPromotion(promotion, admission, sources, 64 << 20, 0, chunk -> true, 0, "test")) {
            recipes.note(INODE - 1);
            recipes.note(INODE);
            TestWait.until(() -> ssd.size() == wanted.size());
        }
    }

    @Test
    void fewReferencesToSingleBytesAreJudgedAtATime() throws Exception {
        writeDense(INODE, 4);
        SelectivePromotion promotion =
                new SelectivePromotion(Settings.of(Policy.COST), ssd, admission, (chunkId, length) -> false, 0);
        AtomicInteger judged = new AtomicInteger();
        PromotionSources sources = stored.sources(
                chunkId -> {
                    judged.incrementAndGet();
                    return 1;
                },
                () -> 0);
        IdleDisk disk = new IdleDisk(sources.diskUse());
        LatePromotion late = new LatePromotion(promotion, sources, new OfferRetries(promotion, sources, disk), disk, 0);
        late.note(INODE, 0, 4 * PAGE_BYTES);
        late.work();
        // Those that begin with the first byte of their chunk.
        assertEquals(4 * PAGE_BYTES / CHUNK, judged.get());
        assertTrue(late.room() <= 2 * PAGE_BYTES, () -> "room for " + late.room());
    }

    @Test
    void itReadsWhenItsTurnAtTheDiskComes() {
        try (BackgroundPromotion recipes = promotion(Policy.COST)) {
            try (DiskQueue.Turn others = home.disk.enter(Importance.STEP)) {
                recipes.note(INODE);
                TestWait.until(() -> home.disk.status().background() == 1);
                assertEquals(0, ssd.size());
            }
            TestWait.until(() -> ssd.size() == wanted.size());
        }
        // One turn for each container, as 40 chunks of 8 KiB are less than the 2 MiB of a turn.
        assertEquals(SPARSE, home.turns.size());
        assertEquals(1 + home.turns.size(), home.disk.turns());
    }

    @Test
    void aFullQueueOfTheSsdDoesNotKeepTheDiskFromOthers() {
        ssd.answer = OfferAnswer.QUEUE_FULL;
        try (BackgroundPromotion recipes = promotion(Policy.COST)) {
            recipes.note(INODE);
            TestWait.until(() -> ssd.offers.get() > 2);
            assertEquals(1, home.disk.turns());
            assertEquals(0, home.disk.status().readers());
            ssd.answer = OfferAnswer.TAKEN;
            TestWait.until(() -> ssd.size() == wanted.size());
        }
    }

    @Test
    void closingWaitsForNoMoreThanATurn() throws InterruptedException {
        BackgroundPromotion recipes = promotion(Policy.COST);
        Thread closing = new Thread(recipes::close);
        try (DiskQueue.Turn others = home.disk.enter(Importance.STEP)) {
            recipes.note(INODE);
            TestWait.until(() -> home.disk.status().background() == 1);
            closing.start();
            TestWait.until(() -> closing.getState() == Thread.State.WAITING);
        }
        closing.join();
        assertTrue(home.turns.size() <= 1, home.turns::toString);
        assertEquals(0, home.disk.status().readers());
    }

    @Test
    void whatCannotBeReadEndsThePromotionOfItsFile() throws IOException {
        long first = wanted.stream().min(Long::compare).orElseThrow();
        int frame = stored.containers.frameOf(first) + 1;
        home.damaged.add(HomeDouble.key(ChunkId.container(first), frame));
        try (BackgroundPromotion recipes = promotion(Policy.COST)) {
            recipes.note(INODE);
            TestWait.until(() -> ssd.size() > 0);
        }
        // The chunks of the frame before it.
        assertEquals(StoredHome.PER_FRAME, ssd.size());
        assertEquals(1, home.turns.size());
    }

    @Test
    void writingDuplicatesIsEnoughToHaveTheRecipeLookedAt() {
        SelectivePromotion promotion =
                new SelectivePromotion(Settings.of(Policy.COST), ssd, admission, (chunkId, length) -> false, 0);
        PromotionSources sources = stored.sources(stored.metadata.counts()::occurrences, () -> 0);
        try (BackgroundPromotion recipes =
                new BackgroundPromotion(promotion, admission, sources, 64 << 20, 64 << 20, chunk -> true, 0, "test")) {
            promotion.listen(recipes::note);
            promotion.onDuplicatesWritten(INODE, new Requests().run(999, 0, 16, 2).request);
            TestWait.until(() -> ssd.size() == wanted.size());
        }
        assertEquals(wanted.size(), promotion.statistics().byRecipe());
    }

    @Test
    void anInodeIsTakenWhenItWasQuietAndTheLongestWaitingGivesWay() {
        RecentInodes inodes = new RecentInodes(2, 10);
        inodes.note(1, 0);
        inodes.note(2, 1);
        inodes.note(1, 5);
        assertEquals(-1, inodes.takeQuiet(10, -1));
        assertEquals(2, inodes.takeQuiet(11, -1));
        assertEquals(-1, inodes.takeQuiet(14, -1));
        assertEquals(1, inodes.takeQuiet(15, -1));
        inodes.note(3, 20);
        inodes.note(4, 21);
        inodes.note(5, 22);
        assertEquals(4, inodes.takeQuiet(100, -1));
        assertEquals(5, inodes.takeQuiet(100, -1));
        assertEquals(-1, inodes.takeQuiet(100, -1));
    }

    @Test
    void theReferenceCountPolicyLooksAtNoRecipe() {
        BackgroundPromotion recipes = promotion(Policy.REFERENCE_COUNT);
        recipes.note(INODE);
        recipes.close();
        assertEquals(0, ssd.size());
    }
}
