package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexKillContract;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.PrivateFiles;

/** The promise of {@link ChunkIndex#cover} when the process is killed while it writes a block. */
class SiloKillTest extends ChunkIndexKillContract {
    /** The block that is being written at the kill: blocks have four containers, and are flushed twice. */
    private static final String KILLED_BLOCK = "00000006";

    @Override
    protected int slots() {
        return SiloChunkIndexTest.SEGMENT;
    }

    @Override
    protected ChunkIndex open(Path index) throws IOException {
        return SiloChunkIndexTest.open(index, FileDirectory.open(index.resolve("blocks")));
    }

    @Override
    protected void verify(ChunkIndex index) {
        assertEquals(0, ((SiloChunkIndex) index).numbers().lostBlocks());
    }

    /** @param moment the call on the killed block's file */
    @Override
    protected ChunkIndex openToBeKilled(Path index, String moment) throws IOException {
        HookedDirectory.Call killedAt = HookedDirectory.Call.valueOf(moment);
        PrivateFiles.createFolders(index.resolve("blocks"));
        HookedDirectory files = new HookedDirectory(FileDirectory.open(index.resolve("blocks")));
        boolean[] begun = new boolean[1];
        files.hook = (call, name) -> {
            begun[0] |= name.contains(KILLED_BLOCK);
            if (begun[0] && call == killedAt) {
                halt();
            }
        };
        return SiloChunkIndexTest.open(index, files);
    }

    @Override
    protected void beforeInsert(ChunkIndex index, long container, Order order, String moment) throws IOException {
        if (order == Order.COVER_THEN_INSERT || container == 10 || container == 18) {
            // The records up to here are durable; those after the last one are lost.
            index.flush();
        }
    }

    /** The records may lag: the database keeps no log, and its newest part is lost with the process. */
    @Test
    void aContainerCoveredAfterAKillIsComplete() throws Exception {
        for (HookedDirectory.Call call : new HookedDirectory.Call[] {
            HookedDirectory.Call.APPEND,
            HookedDirectory.Call.FORCE,
            HookedDirectory.Call.RENAME,
            HookedDirectory.Call.SYNC
        }) {
            Path killed = folder.resolve(call.name());
            runUntilHalted(killed, Order.INSERT_THEN_COVER, call.name());
            Left left = left(killed);
            assertEquals(List.of(), left.incomplete(), call.name());
            assertFalse(left.covered().isEmpty(), "nothing was durable at " + call);
            assertTrue(left.covered().size() <= 24, left.toString());
        }
    }

    @Test
    void controlCoveringBeforeInsertingIsCaught() throws Exception {
        runUntilHalted(folder, Order.COVER_THEN_INSERT, HookedDirectory.Call.APPEND.name());
        assertFalse(left(folder).incomplete().isEmpty());
    }
}
