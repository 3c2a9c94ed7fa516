package org.opendedup.sar.restore.lookahead;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.RecipePages;
import org.opendedup.sar.restore.HotVolume;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;

/** What a window over the files of a tree costs other programs, and when it begins, moves and ends. */
@Timeout(120)
class TreeReadsTest {
    private static final int FILES = 400;
    /** Chunks of a file: about 20 KB. */
    private static final int CHUNKS = 16;

    private static final int PAGE_BYTES = 16 << 10;
    private static final long TOP = 10;
    private static final long INNER = 50_000;
    private static final long FIRST_EMPTY = 1_000_000;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);
    private final Steps batches = new Steps();
    private final Steps followers = new Steps();
    private final ByteGauge memory = new ByteGauge();
    private final StreamBudget budget = HotVolume.budget(StreamBudget.MIN_SHARE_BYTES);

    private HotVolume volume;
    private MetadataStore metadata;
    private Namespace names;
    private TreeReads trees;
    private volatile long unreadable;
    private final AtomicInteger emptyLookedUp = new AtomicInteger();

    /** A thread that runs as many tasks as it may, and keeps the others. */
    private static final class Steps extends ScheduledThreadPoolExecutor {
        private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
        private final AtomicInteger asked = new AtomicInteger();
        private final List<Runnable> kept = new CopyOnWriteArrayList<>();

        Steps() {
            super(1);
        }

        @Override
        public void execute(Runnable task) {
            asked.incrementAndGet();
            if (left.getAndDecrement() > 0) {
                super.execute(task);
            } else {
                kept.add(task);
            }
        }
    }

    /** The recipes, of which one may be unreadable. */
    private final class Recipes implements RecipePages {
        @Override
        public int pageBytes() {
            return PAGE_BYTES;
        }

        @Override
        public RecipePage page(long recipe, long page) throws IOException {
            if (recipe >= FIRST_EMPTY) {
                emptyLookedUp.incrementAndGet();
            }
            if (recipe == unreadable) {
                throw new IOException("the recipe is damaged");
            }
            return metadata.recipes().page(recipe, page);
        }

        @Override
        public long[] existingPages(long recipe, long from, long to, int max) throws IOException {
            return metadata.recipes().existingPages(recipe, from, to, max);
        }
    }

    @BeforeEach
    void make() throws IOException {
        volume = new HotVolume(folder, seed, FILES * CHUNKS);
        volume.attached = null;
        metadata = MetadataStore.format(
                new HeapKeyValueStore(),
                new MetadataHeader(new UUID(1, seed), PAGE_BYTES, 0, MetadataHeader.FORMAT_VERSION));
        names = metadata.namespace();
        for (int file = 0; file < FILES; file++) {
            add(TOP, file);
        }
        FrameLoader loader = new FrameLoader(
                volume.containers, volume.disk, new FrameCache(1), false, (inode, container, frame, cause) -> {});
        BatchSources sources = new BatchSources(loader, new PinnedChunks(memory, budget.mostHeldBytes()), null);
        ReadStreams streams = new ReadStreams(metadata.recipes(), sources, budget, batches);
        trees = new TreeReads(streams, names, new Recipes(), followers);
    }

    @AfterEach
    void close() throws IOException {
        batches.shutdownNow();
        followers.shutdownNow();
        metadata.close();
        volume.close();
    }

    private static long inode(int file) {
        return 100 + file;
    }

    private static int bytes(int file, HotVolume volume) {
        return volume.chunks.subList(file * CHUNKS, (file + 1) * CHUNKS).stream()
                .mapToInt(chunk -> chunk.length)
                .sum();
    }

    private void add(long parent, int file) throws IOException {
        names.putEntry(parent, name(file), inode(file), Modes.REGULAR);
        RecipePage.Builder page = new RecipePage.Builder();
        int number = 0;
        for (int i = file * CHUNKS; i < (file + 1) * CHUNKS; i++) {
            int length = volume.chunks.get(i).length;
            int prefix = Fingerprints.fingerprintPrefix(HotVolume.fingerprint(volume.chunks.get(i)), 0);
            for (int at = 0; at < length; ) {
                int part = Math.min(length - at, PAGE_BYTES - page.bytes());
                page.add(volume.ids.get(i), at, part, prefix);
                at += part;
                if (page.bytes() == PAGE_BYTES) {
                    metadata.recipes().replace(inode(file), number++, page.build());
                }
            }
        }
        metadata.recipes().replace(inode(file), number, page.build());
    }

    private static byte[] name(int file) {
        return String.format("f%05d", file).getBytes(UTF_8);
    }

    /** Reads files whole. */
    private void read(long parent, int from, int to) throws IOException {
        for (int file = from; file < to; file++) {
            readOne(parent, file, bytes(file, volume));
            take(file);
        }
    }

    private void readOne(long parent, int file, int size) {
        trees.note(parent, inode(file), 0, size, size);
        TestWait.until(trees::isUpToDate);
    }

    /** Reads a file from what is read ahead, as far as it is there, or on the way. */
    private void take(int file) throws IOException {
        try (AheadRequest request = trees.request(inode(file), 0, bytes(file, volume))) {
            int at = 0;
            for (int i = file * CHUNKS; request != null && i < (file + 1) * CHUNKS; i++) {
                Pinned chunk = request.chunk(volume.ids.get(i), at);
                at += volume.chunks.get(i).length;
                if (chunk == null) {
                    return;
                }
                chunk.close();
            }
            if (request != null) {
                request.took(Set.of());
            }
        }
    }

    private boolean isAhead(int file) {
        try (AheadRequest request = trees.request(inode(file), 0, 1000)) {
            return request != null;
        }
    }

    @Test
    void aRequestOfAnotherProgramFarAheadNeitherWaitsForTheWindowNorMovesIt() throws IOException {
        batches.left.set(1);
        read(TOP, 0, 10);
        // The second batch is asked for, and never comes.
        TestWait.until(() -> batches.kept.size() == 1);
        int far = FILES / 2;
        assertNull(trees.request(inode(far), 0, 1000));
        read(TOP, far, far + 1);
        assertTrue(isAhead(10));
    }

    @Test
    void aFileOfTwoNamesHasThePlaceOfTheFirst() throws IOException {
        names.putEntry(TOP, "inner".getBytes(UTF_8), INNER, Modes.DIRECTORY);
        for (int file = 10; file < FILES / 2; file++) {
            names.putEntry(INNER, name(file), inode(file), Modes.REGULAR);
        }
        for (int file = FILES / 2; file < FILES; file++) {
            names.removeEntry(TOP, name(file));
        }
        batches.left.set(1);
        read(TOP, 0, 10);
        TestWait.until(() -> batches.kept.size() == 1);
        assertTrue(isAhead(10));
        assertTrue(isAhead(11));
    }

    @Test
    void aReaderThatIsProvenDoesNotGiveWayToPairsOfFiles() throws IOException {
        read(TOP, 0, 10);
        // The thread that plans the batches may come after these files.
        TestWait.until(() -> isAhead(10));
        for (int pair = 0; pair < 6; pair++) {
            long other = INNER + pair;
            int first = FILES / 2 + 2 * pair;
            names.putEntry(other, name(first), inode(first), Modes.REGULAR);
            names.putEntry(other, name(first + 1), inode(first + 1), Modes.REGULAR);
            read(other, first, first + 2);
        }
        assertTrue(isAhead(10));
    }

    @Test
    void readingAtRandomWakesNoThreadAfterAWhile() throws IOException {
        int reads = 2000;
        for (int i = 0; i < reads; i++) {
            int file = random.nextInt(FILES);
            read(TOP, file, file + 1);
        }
        assertEquals(0, trees.requestsAhead());
        assertTrue(followers.asked.get() < reads / 3, () -> followers.asked.get() + " of " + reads);
        // The control: a reader that comes afterwards is found, after the pause.
        for (int file = 0; trees.requestsAhead() == 0; file = (file + 1) % FILES) {
            read(TOP, file, file + 1);
        }
    }

    @Test
    void aReaderThatIsIdleGivesItsMemoryBack() throws IOException {
        read(TOP, 0, 10);
        TestWait.until(() -> memory.bytes() > 0 && isAhead(10));
        trees.tidy();
        assertTrue(isAhead(10), "it read a file since the last look");
        trees.tidy();
        assertNull(trees.request(inode(10), 0, 1000));
        TestWait.until(() -> memory.bytes() == 0);
        assertNotNull(budget.tryJoin(), "the share is free");
    }

    @Test
    void aWindowOverATreeStaysInItsShareOfTheMemory() throws IOException {
        read(TOP, 0, FILES);
        long most = memory.mostBytes();
        assertTrue(most > StreamBudget.MIN_SHARE_BYTES / 4, () -> most + " bytes");
        assertTrue(most < 1.2 * StreamBudget.MIN_SHARE_BYTES, () -> most + " bytes");
    }

    /** The entries of a folder are kept in three orders, of 8 bytes each, until the reader's order is known. */
    @Test
    void aReaderInAFolderWhoseEntriesTakeTooMuchMemoryIsNotFollowed() throws IOException {
        int fitting = (int) (budget.mostTrailBytes() / (3 * Long.BYTES));
        for (int i = FILES; i < fitting - 100; i++) {
            names.putEntry(TOP, String.format("g%d", i).getBytes(UTF_8), FIRST_EMPTY + i, Modes.REGULAR);
        }
        read(TOP, 0, 10);
        // The control.
        TestWait.until(() -> isAhead(10));
        trees.tidy();
        trees.tidy();
        for (int i = fitting; i < fitting + 200; i++) {
            names.putEntry(TOP, String.format("g%d", i).getBytes(UTF_8), FIRST_EMPTY + i, Modes.REGULAR);
        }
        read(TOP, 20, 60);
        assertFalse(isAhead(60));
    }

    @Test
    void withoutMemoryATreeIsReadAsBefore() throws IOException {
        StreamBudget.Share other = budget.tryJoin();
        assertNotNull(other);
        assertNotNull(other.tryPart());
        read(TOP, 0, FILES);
        assertNull(trees.request(inode(FILES - 1), 0, 1000));
        assertEquals(0, memory.mostBytes());
    }

    @Test
    void longFilesAreLeftToTheirOwnReaders() throws IOException {
        for (int file = 0; file < FILES; file++) {
            readOne(TOP, file, 2 << 20);
        }
        assertEquals(0, memory.mostBytes());
    }

    @Test
    void aRecipeThatCannotBeReadCostsOneFile() throws IOException {
        unreadable = inode(12);
        read(TOP, 0, 12);
        read(TOP, 13, 200);
        TestWait.until(() -> isAhead(200));
    }

    /** Batches wait for what the window finds next. */
    @Test
    void theWindowEndsAtManyFilesWithoutBytes() throws IOException {
        for (int i = 0; i < 3000; i++) {
            names.putEntry(TOP, String.format("f-%d", i).getBytes(UTF_8), FIRST_EMPTY + i, Modes.REGULAR);
        }
        read(TOP, 0, FILES);
        assertTrue(emptyLookedUp.get() > 0);
        assertTrue(emptyLookedUp.get() < 1100, () -> emptyLookedUp.get() + " files");
    }
}
