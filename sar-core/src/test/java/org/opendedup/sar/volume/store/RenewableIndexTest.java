package org.opendedup.sar.volume.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.TimeLimit;

/** A container is complete in a new index only if it was opened when that index was in use. */
class RenewableIndexTest {
    private static final byte[] TABLE = {1, 2, 3};
    private static final Epoch EPOCH = new Epoch(new UUID(1, 1), 1, 1);

    @MemoryFolder
    private Path folder;

    private long nextContainer = 5;
    private Runnable duringOpening = () -> {};
    private IndexLocation location;

    @BeforeEach
    void makeLocation() {
        location = new IndexLocation(
                folder,
                IndexClass.ROCKSDB,
                (kind, database) -> {
                    duringOpening.run();
                    // By this file it is seen that an index is there.
                    Files.writeString(database.resolve("CURRENT"), "");
                    return new HeapChunkIndex();
                },
                new TimeLimit("test-index", Duration.ofMinutes(10)));
    }

    @Test
    void aContainerThatIsOpenedBeforeTheNewIndexIsInUseIsNotComplete() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        // Container 5 is opened while the new index is being made: its chunks go to the old one.
        duringOpening = () -> nextContainer = 6;
        ChunkIndex fresh = index.renew(EPOCH, () -> nextContainer);
        assertEquals(6, index.firstUnseen());
        index.cover(5, TABLE);
        assertNull(fresh.frameTable(5), "a container counts as complete whose chunks are in the old index");
        index.cover(6, TABLE);
        assertArrayEquals(TABLE, fresh.frameTable(6));
    }

    @Test
    void noContainerIsCompleteBeforeTheNextOneIsKnown() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        ChunkIndex fresh = index.renew(EPOCH, () -> {
            index.cover(4, TABLE);
            index.cover(100, TABLE);
            return nextContainer;
        });
        assertNull(fresh.frameTable(4));
        assertNull(fresh.frameTable(100));
    }

    @Test
    void anIndexOfWhichTheNextContainerIsNotKnownIsLost() throws IOException {
        RenewableIndex index = new RenewableIndex(location.open(), location);
        assertFalse(index.isLost());
        assertThrows(
                IOException.class,
                () -> index.renew(EPOCH, () -> {
                    throw new IOException("no number");
                }));
        assertTrue(index.isLost());
    }
}
