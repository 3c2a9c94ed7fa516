package org.opendedup.sar.hot.promotion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.disk.DiskCost;

/** Containers here have 512 chunks of 8 KiB, eight in a frame, which compresses to half. */
class RecipeUseTest {
    private static final int CHUNK = 8 << 10;
    private static final int CHUNKS = 512;
    private static final int PER_FRAME = 8;
    private static final int FRAME_FILE_BYTES = PER_FRAME * CHUNK / 2;
    private static final int GAP_BYTES = 256 << 10;
    private static final long WINDOW = 64 << 20;

    private final RecipeUse use = new RecipeUse(WINDOW);
    private long fileOffset;

    /** Bytes of a container in its pack, of which the last 4096 are not a frame's. */
    private static final long CONTAINER_BYTES = 2 * 4096 + CHUNKS / PER_FRAME * FRAME_FILE_BYTES;

    private record Layout(long pack, long offset) implements ContainerLayout {
        @Override
        public int frameOf(int slot) {
            return slot < CHUNKS ? slot / PER_FRAME : -1;
        }

        @Override
        public long start(int frame) {
            return offset + 4096 + (long) frame * FRAME_FILE_BYTES;
        }

        @Override
        public long end(int frame) {
            return start(frame) + FRAME_FILE_BYTES;
        }
    }

    private RecipeUseTest want(long container, int firstSlot, int chunks) {
        for (int slot = firstSlot; slot < firstSlot + chunks; slot++) {
            use.add(fileOffset, ChunkId.of(container, slot), CHUNK);
            fileOffset += CHUNK;
        }
        return this;
    }

    private RecipeUseTest elsewhere(long bytes) {
        fileOffset += bytes;
        return this;
    }

    private RecipeRequests analyse() {
        return use.analyse(apart(), GAP_BYTES);
    }

    /** Each container in a pack of its own: to go from one to another is a seek. */
    private static ContainerLayout.Source apart() {
        return container -> new Layout(container, 0);
    }

    /** One container right behind another. */
    private static ContainerLayout.Source inARow() {
        return container -> new Layout(1, container * CONTAINER_BYTES);
    }

    private static long container(RecipeRequests requests, int request) {
        return ChunkId.container(requests.chunkId(requests.firstChunk(request)));
    }

    /** Ten chunks at the end of a container and ten at the start of the next: one request, if the disk reads on. */
    @Test
    void neighboursInTwoContainersAreOneRequest() {
        want(1, CHUNKS - 10, 10).want(2, 0, 10);
        RecipeRequests requests = use.analyse(inARow(), GAP_BYTES);
        assertEquals(1, requests.count());
        assertEquals(20, requests.firstChunk(1));
        // The control: the same chunks in containers that do not lie together.
        assertEquals(2, analyse().count());
    }

    /** Nothing is saved by copies of a few chunks behind a container that is read whole: the disk only reads on. */
    @Test
    void whatLiesBehindAContainerThatIsReadWholeStaysOnTheDisk() {
        want(1, 0, CHUNKS).want(2, 0, 10);
        assertEquals(0, use.analyse(inARow(), GAP_BYTES).count());
        // The control.
        assertEquals(1, analyse().count());
        assertEquals(2, container(analyse(), 0));
    }

    /** The order of the ids says nothing: containers that were moved lie elsewhere. */
    @Test
    void movedContainersAreWhereTheyLieNow() {
        want(1, 0, 10).want(2, 0, 10).want(3, 0, CHUNKS);
        ContainerLayout.Source moved =
                container -> new Layout(7, (container == 1 ? 4 : container == 2 ? 9 : 3) * CONTAINER_BYTES);
        RecipeRequests requests = use.analyse(moved, GAP_BYTES);
        assertEquals(1, requests.count());
        assertEquals(2, container(requests, 0));
    }

    @Test
    void neighboursThatAreNotWantedTogetherAreTwoRequests() {
        want(1, CHUNKS - 10, 10).elsewhere(2 * WINDOW).want(2, 0, 10);
        assertEquals(2, use.analyse(inARow(), GAP_BYTES).count());
    }

    @Test
    void aContainerOfWhichHalfIsWantedIsReadWhole() {
        want(1, 0, CHUNKS / 2);
        assertEquals(0, analyse().count());
    }

    @Test
    void ofAContainerOfWhichLittleIsWantedAllThatIsWantedIsOneRequest() {
        want(1, 4, 12);
        RecipeRequests requests = analyse();
        assertEquals(1, requests.count());
        assertEquals(12, requests.firstChunk(1));
        assertEquals(ChunkId.of(1, 4), requests.chunkId(0));
        assertEquals(CHUNK, requests.length(0));
        assertEquals(DiskCost.saving(12 * CHUNK, 2 * FRAME_FILE_BYTES), requests.saving(0));
        assertEquals(1, requests.visits(0));
    }

    @Test
    void framesFarApartAreRequestsOfTheirOwn() {
        int far = PER_FRAME * (1 + GAP_BYTES / FRAME_FILE_BYTES);
        want(1, 0, 1).want(1, far, 1).want(1, 2 * far + PER_FRAME, 1);
        RecipeRequests requests = analyse();
        assertEquals(2, requests.count());
        assertEquals(2, requests.firstChunk(1));
        assertEquals(3, requests.firstChunk(2));
        // On a disk that transfers more in the time of a skip they are one, on one that transfers less they are three.
        assertEquals(1, use.analyse(apart(), GAP_BYTES + FRAME_FILE_BYTES).count());
        assertEquals(3, use.analyse(apart(), GAP_BYTES - 1).count());
    }

    @Test
    void anOrderOfTheFileThatIsNotThatOfTheDiskMakesNoMoreRequests() {
        want(1, 20, 1).want(2, 0, 1).want(1, 4, 1).want(2, 9, 1);
        RecipeRequests requests = analyse();
        assertEquals(2, requests.count());
        assertEquals(ChunkId.of(1, 4), requests.chunkId(0));
        assertEquals(ChunkId.of(1, 20), requests.chunkId(1));
    }

    @Test
    void aContainerWantedAgainBehindTheWindowIsVisitedAgain() {
        want(1, 0, 2).elsewhere(2 * WINDOW).want(1, 0, 2).elsewhere(WINDOW / 2).want(1, 4, 1);
        RecipeRequests requests = analyse();
        assertEquals(2, requests.count());
        assertEquals(2, requests.visits(0));
        assertEquals(2, requests.firstChunk(1));
        assertEquals(5, requests.firstChunk(2));
    }

    @Test
    void aRepeatedChunkIsWantedOnce() {
        want(1, 3, 1).want(1, 3, 1).want(1, 3, 1);
        RecipeRequests requests = analyse();
        assertEquals(1, requests.firstChunk(1));
        assertEquals(DiskCost.saving(CHUNK, FRAME_FILE_BYTES), requests.saving(0));
    }

    @Test
    void whatSavesMostForItsBytesComesFirst() {
        want(1, 0, 40).want(2, 0, 1).want(3, 0, 5);
        want(4, 0, 1).elsewhere(2 * WINDOW).want(4, 0, 1);
        RecipeRequests requests = analyse();
        int[] best = requests.bestFirst();
        assertEquals(5, best.length);
        assertEquals(4, container(requests, best[0]));
        assertEquals(4, container(requests, best[1]));
        assertArrayEquals(new int[] {1, 2, 0}, new int[] {best[2], best[3], best[4]});
    }

    @Test
    void aContainerThatCannotBeReadIsLeftOut() {
        want(1, 0, 1).want(2, 0, 1);
        RecipeRequests requests = use.analyse(container -> container == 1 ? null : new Layout(2, 0), GAP_BYTES);
        assertEquals(1, requests.count());
        assertEquals(2, container(requests, 0));
    }

    @Test
    void slotsThatTheContainerDoesNotHoldAreLeftOut() {
        want(1, CHUNKS + 5, 1).want(1, 0, 1);
        RecipeRequests requests = analyse();
        assertEquals(1, requests.count());
        assertEquals(ChunkId.of(1, 0), requests.chunkId(0));
    }

    @Test
    void allThatIsWantedOfSparselyUsedContainersIsInExactlyOneRequestAVisit() {
        Random random = new Random(TestSeed.next());
        java.util.Set<Long> wanted = new java.util.HashSet<>();
        for (int i = 0; i < 5000; i++) {
            int slot = random.nextInt(CHUNKS / 3);
            long container = 1 + random.nextInt(50);
            want(container, slot, 1);
            wanted.add(ChunkId.of(container, slot));
        }
        assertTrue(fileOffset < WINDOW, "one visit each");
        RecipeRequests requests = analyse();
        java.util.Set<Long> found = new java.util.HashSet<>();
        for (int i = 0; i < requests.firstChunk(requests.count()); i++) {
            assertTrue(found.add(requests.chunkId(i)));
        }
        assertEquals(wanted, found);
    }

    @Test
    void aPartIsFullAtItsBound() {
        want(1, 0, 1);
        use.clear();
        assertTrue(use.isEmpty());
        assertEquals(RecipeUse.MAX_REFERENCES, use.room());
    }
}
