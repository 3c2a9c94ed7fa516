package org.opendedup.sar.index.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexKillContract;
import org.opendedup.sar.volume.store.ChunkIndexes;

/** The promise of {@link ChunkIndex#cover} if the process is killed while a container is filled. */
class RocksDbChunkIndexKillTest extends ChunkIndexKillContract {
    private static final int SLOTS = 500;
    /** This number of containers fills the smallest index's memtables several times. */
    private static final int CONTAINERS = 200;

    @Override
    protected int slots() {
        return SLOTS;
    }

    @Override
    protected ChunkIndex open(Path index) throws IOException {
        return ChunkIndexes.openRocksDb(Files.createDirectories(index), ChunkIndexes.MIN_MEMORY_BYTES);
    }

    @Override
    protected void beforeInsert(ChunkIndex index, long container, Order order, String moment) throws IOException {
        if (container == Long.parseLong(moment)) {
            insert(index, container, 0, SLOTS / 2);
            if (order == Order.COVER_THEN_INSERT) {
                index.flush();
            }
            halt();
        }
    }

    @Test
    void aContainerCoveredAfterAKillIsComplete() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < TestSeed.rounds(1); round++) {
            Path index = folder.resolve("round" + round);
            int killedAt = CONTAINERS / 2 + random.nextInt(CONTAINERS / 2);

            runUntilHalted(index, Order.INSERT_THEN_COVER, Integer.toString(killedAt));

            Left left = left(index);
            assertEquals(List.of(), left.incomplete(), "seed " + seed);
            assertFalse(left.covered().isEmpty(), "nothing reached the disk before the kill: seed " + seed);
            assertTrue(left.covered().size() <= killedAt, "seed " + seed);
        }
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws Exception {
        runUntilHalted(folder, Order.COVER_THEN_INSERT, Integer.toString(CONTAINERS));

        assertEquals(List.of((long) CONTAINERS), left(folder).incomplete());
    }
}
