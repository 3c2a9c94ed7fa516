package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexKillContract;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.index.rocksdb.DiskIndexFolder;

/** The promise of {@link ChunkIndex#cover} if the process is killed while it seals pages and recycles segments. */
class ChunkStashKillTest extends ChunkIndexKillContract {
    private static final int SLOTS = 500;
    /** Older containers are removed, so that segments of the log are recycled. */
    private static final int KEPT = 20;
    /** Name of folders of an index with little space. */
    private static final String MOVED = "moved";

    @Override
    protected int slots() {
        return SLOTS;
    }

    @Override
    protected int segment() {
        return 100;
    }

    @Override
    protected ChunkIndex open(Path index) throws IOException {
        return open(index, IndexSpace.UNBOUNDED);
    }

    @Override
    protected ChunkIndex openToBeKilled(Path index, String moment) throws IOException {
        boolean isBounded = index.getFileName().toString().startsWith(MOVED);
        return open(index, isBounded ? IndexSpace.of(RecycledChunkStashIndexTest.MOST_BYTES) : IndexSpace.UNBOUNDED);
    }

    private static ChunkIndex open(Path index, IndexSpace space) throws IOException {
        StashLimits limits = new StashLimits(space, new DiskIndexFolder(behind(index), 4 << 20));
        return ChunkStashIndexFactory.open(Files.createDirectories(index), SmallChunkStashIndexTest.SMALL, limits);
    }

    private static Path behind(Path index) {
        return index.resolveSibling(index.getFileName() + "-disk");
    }

    @Override
    protected void beforeInsert(ChunkIndex index, long container, Order order, String moment) throws IOException {
        while (order == Order.COVER_THEN_INSERT && container == Long.parseLong(moment)) {
            // What follows would hide the fault.
            LockSupport.park();
        }
    }

    @Override
    protected void after(ChunkIndex index, long container, Order order) throws IOException {
        if (order == Order.COVER_THEN_INSERT) {
            index.flush();
        } else if (container > KEPT) {
            long old = container - KEPT;
            TestSegments.remove(index, old * SLOTS, SLOTS, old);
        }
    }

    @Test
    void aContainerCoveredAfterAKillIsComplete() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < TestSeed.rounds(2); round++) {
            Path index = folder.resolve("round" + round);
            runAndKill(index, Order.INSERT_THEN_COVER, 40 + random.nextInt(150));
            Left left = left(index);
            assertEquals(List.of(), left.incomplete(), "seed " + seed);
            assertFalse(left.covered().isEmpty(), "nothing reached the disk before the kill: seed " + seed);
        }
    }

    /** As above, with so little space that nearly all is moved to a database on the disk. */
    @Test
    void aContainerThatWasMovedIsCompleteAfterAKill() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < TestSeed.rounds(1); round++) {
            Path index = folder.resolve(MOVED + round);
            runAndKill(index, Order.INSERT_THEN_COVER, 40 + random.nextInt(100));
            Left left = left(index);
            assertEquals(List.of(), left.incomplete(), "seed " + seed);
            assertTrue(left.covered().size() > 10, left.covered() + " reached the disk before the kill: seed " + seed);
            assertTrue(Files.exists(behind(index)));
        }
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws Exception {
        runAndKill(folder, Order.COVER_THEN_INSERT, 50);
        assertEquals(List.of(50L), left(folder).incomplete());
    }
}
