package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexKillContract;
import org.opendedup.sar.index.TestSegments;

/** The promise of {@link ChunkIndex#cover} if the process is killed while it seals pages and recycles segments. */
@Tag("slow")
class ChunkStashKillTest extends ChunkIndexKillContract {
    private static final int SLOTS = 500;
    /** Older containers are removed, so that segments of the log are recycled. */
    private static final int KEPT = 20;

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
        return ChunkStashIndexFactory.open(Files.createDirectories(index), SmallChunkStashIndexTest.SMALL);
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
            BitSet all = new BitSet();
            all.set(0, SLOTS);
            index.uncover(old);
            index.remove(old, TestSegments.of(old * SLOTS, SLOTS).fingerprints(), all);
        }
    }

    @Test
    void aContainerCoveredAfterAKillIsComplete() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < 6; round++) {
            Path index = folder.resolve("round" + round);
            runAndKill(index, Order.INSERT_THEN_COVER, 40 + random.nextInt(400));
            Left left = left(index);
            assertEquals(List.of(), left.incomplete(), "seed " + seed);
            assertFalse(left.covered().isEmpty(), "nothing reached the disk before the kill: seed " + seed);
        }
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws Exception {
        runAndKill(folder, Order.COVER_THEN_INSERT, 50);
        assertEquals(List.of(50L), left(folder).incomplete());
    }
}
