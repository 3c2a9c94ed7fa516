package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.recipes.RecipeRanges.Copy;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;

final class RecipeRangesTest {
    private static final int PAGE = 65536;
    private static final long CHUNK = ChunkId.of(5, 7);
    private static final long[] FILES = {10, 11};
    private static final int FILE_PAGES = 6;
    private static final int OPS = 150;

    private final MetadataStore store = store();

    private static MetadataStore store() {
        try {
            return MetadataStore.format(
                    new HeapKeyValueStore(),
                    new MetadataHeader(new UUID(1, 2), PAGE, 3, MetadataHeader.FORMAT_VERSION));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Bytes that show their place in a chunk; 0 is a hole. */
    private long[] bytes(long inode) throws IOException {
        long[] bytes = new long[FILE_PAGES * PAGE];
        store.recipes().forEachPage(inode, 0, FILE_PAGES, (number, page) -> {
            for (int entry = 0; entry < page.count(); entry++) {
                for (int i = page.start(entry); !page.isZero(entry) && i < page.end(entry); i++) {
                    int inChunk = page.chunkOffset(entry) + i - page.start(entry);
                    bytes[(int) number * PAGE + i] = page.chunkId(entry) << 20 | inChunk;
                }
            }
        });
        return bytes;
    }

    private void assertCountsAreExact() throws IOException {
        Map<Long, Integer> references = new HashMap<>();
        for (long inode : FILES) {
            store.recipes().forEachPage(inode, 0, Long.MAX_VALUE, (number, page) -> {
                for (int entry = 0; entry < page.count(); entry++) {
                    if (!page.isZero(entry)) {
                        references.merge(page.chunkId(entry), 1, Integer::sum);
                    }
                }
            });
        }
        PresentRecords.forEachCounted(store, (container, counts) -> {
            for (int slot = 0; slot < counts.slots(); slot++) {
                int expected = references.getOrDefault(ChunkId.of(container, slot), 0);
                assertEquals(expected, counts.count(slot), container + ":" + slot);
            }
        });
    }

    @RepeatedTest(3)
    void randomPunchesAndCopiesDoWhatTheyDoToArrays() throws IOException {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (long inode : FILES) {
            for (int page = 0; page < FILE_PAGES; page++) {
                store.recipes().replace(inode, page, Recipes.random(random, PAGE, 20));
            }
        }
        for (int op = 0; op < OPS; op++) {
            String which = "seed " + seed + ", op " + op;
            switch (random.nextInt(4)) {
                case 0 -> {
                    long inode = FILES[random.nextInt(2)];
                    store.recipes().replace(inode, random.nextInt(FILE_PAGES), Recipes.random(random, PAGE, 20));
                }
                case 1 -> punchAndCompare(random, which);
                default -> copyAndCompare(random, which);
            }
            assertCountsAreExact();
        }
    }

    private void punchAndCompare(Random random, String which) throws IOException {
        long inode = FILES[random.nextInt(2)];
        long[] expected = bytes(inode);
        int from = offset(random);
        int to = from + random.nextInt(expected.length - from + 1);
        Arrays.fill(expected, from, to, 0);
        for (long at = from; at < to; ) {
            at = store.ranges().punch(inode, at, to, Recipes.step(1 + random.nextInt(3)));
        }
        assertArrayEquals(expected, bytes(inode), which);
        assertHolesAreFound(inode, random, which);
    }

    private void copyAndCompare(Random random, String which) throws IOException {
        long source = FILES[random.nextInt(2)];
        long target = FILES[random.nextInt(2)];
        long[] expected = bytes(target);
        int from = offset(random);
        int to = random.nextBoolean() ? offset(random) : from % PAGE + random.nextInt(FILE_PAGES) * PAGE;
        int length = random.nextInt(expected.length - Math.max(from, to) + 1);
        if (source == target) {
            length = Math.min(length, Math.abs(from - to));
        }
        System.arraycopy(bytes(source), from, expected, to, length);
        long[] reached = {to};
        for (int done = 0; done < length; ) {
            Copy copy = new Copy(source, from + done, target, to + done, length - done);
            done += (int) store.ranges().copy(copy, Recipes.step(1 + random.nextInt(3)), (start, end) -> {
                assertEquals(reached[0], start, which);
                reached[0] = end;
            });
            assertEquals(to + done, reached[0], which);
        }
        assertArrayEquals(expected, bytes(target), () -> which + ": " + source + "+" + from + " to " + target);
    }

    private static int offset(Random random) {
        int pages = random.nextInt(FILE_PAGES) * PAGE;
        return random.nextBoolean() ? pages : pages + random.nextInt(PAGE);
    }

    private void assertHolesAreFound(long inode, Random random, String which) throws IOException {
        long[] bytes = bytes(inode);
        int from = offset(random);
        int to = from + random.nextInt(bytes.length - from + 1);
        int data = from;
        while (data < to && bytes[data] == 0) {
            data++;
        }
        int hole = from;
        while (hole < to && bytes[hole] != 0) {
            hole++;
        }
        assertEquals(data, store.ranges().nextData(inode, from, to), which);
        assertEquals(hole, store.ranges().nextHole(inode, from, to), which);
    }

    @Test
    void aHoleOfManyTebibytesIsPassedByItsRecords() throws IOException {
        long far = 1L << 44;
        store.recipes().replace(10, far / PAGE, page(CHUNK, 100));
        assertEquals(far, store.ranges().nextData(10, 0, far + 100));
        assertEquals(far + 100, store.ranges().nextHole(10, far, far + 1000));

        Copy copy = new Copy(10, 0, 11, PAGE / 2, far + 100);
        assertEquals(far + 100, store.ranges().copy(copy, Recipes.step(10), (start, end) -> {}));
        assertEquals(far + PAGE / 2, store.ranges().nextData(11, 0, 2 * far));
        assertEquals(2, store.counts().count(CHUNK));

        assertEquals(2 * far, store.ranges().punch(11, 0, 2 * far, Recipes.step(10)));
        assertEquals(2 * far, store.ranges().nextData(11, 0, 2 * far));
        assertEquals(1, store.counts().count(CHUNK));
    }

    /** The control: pages with few references are copied in one step. */
    @Test
    void pagesOfManyReferencesAreCopiedInMoreSteps() throws IOException {
        RecipePage.Builder many = new RecipePage.Builder();
        for (int i = 0; i < PAGE; i++) {
            many.add(CHUNK + i % 2, i % 1000, 1, 3);
        }
        RecipePage page = many.build();
        for (int number = 0; number < FILE_PAGES; number++) {
            store.recipes().replace(10, number, page);
            store.recipes().replace(12, number, page(CHUNK, 1000));
        }
        long length = (long) FILE_PAGES * PAGE;
        assertEquals(
                length, store.ranges().copy(new Copy(12, 0, 11, 0, length), Recipes.step(100), (start, end) -> {}));
        int steps = 0;
        for (long done = 0; done < length; steps++) {
            done += store.ranges()
                    .copy(new Copy(10, done, 11, done, length - done), Recipes.step(100), (start, end) -> {});
        }
        assertEquals(FILE_PAGES, steps);
        assertArrayEquals(bytes(10), bytes(11));
    }

    @Test
    void aChunkCutByACopyIsOneEntryAgainWhenItsPartsMeet() throws IOException {
        store.recipes().replace(10, 0, page(CHUNK, 1000));
        store.ranges().copy(new Copy(10, 0, 11, PAGE - 400, 1000), Recipes.step(10), (start, end) -> {});
        assertEquals(3, store.counts().count(CHUNK));
        store.ranges().copy(new Copy(11, PAGE - 400, 11, 5 * PAGE, 1000), Recipes.step(10), (start, end) -> {});
        assertEquals(4, store.counts().count(CHUNK));
        assertEquals(
                Recipes.describe(page(CHUNK, 1000)),
                Recipes.describe(store.recipes().page(11, 5)));
    }

    @Test
    void aChunkWithAsManyReferencesAsCanBeCountedIsNotCopied() throws IOException {
        store.recipes().replace(10, 0, page(CHUNK, 1000));
        store.counts().add(CHUNK, ReferenceCounts.MAX_COUNT - 1);
        PosixException refused = assertThrows(
                PosixException.class,
                () -> store.ranges().copy(new Copy(10, 0, 11, 0, 1000), Recipes.step(10), (start, end) -> {}));
        assertEquals(PosixException.Reason.EOPNOTSUPP, refused.reason());
        assertEquals(RecipePage.EMPTY.count(), store.recipes().page(11, 0).count());
        assertEquals(ReferenceCounts.MAX_COUNT, store.counts().count(CHUNK));
    }

    private static RecipePage page(long chunk, int length) {
        return new RecipePage.Builder().add(chunk, 0, length, 3).build();
    }
}
