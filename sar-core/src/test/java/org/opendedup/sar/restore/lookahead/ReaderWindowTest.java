package org.opendedup.sar.restore.lookahead;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.restore.frame.PinnedChunks;

class ReaderWindowTest {
    private static final long INODE = 7;
    private static final int PAGE_BYTES = 16 << 10;
    private static final int PIECE_BYTES = 64;
    /** Offset of the pieces in their chunks: far after the end of the file. */
    private static final int CHUNK_OFFSET = 2 * PAGE_BYTES;

    private static final int CHARGE = PinnedChunks.heldBytes(CHUNK_OFFSET + PIECE_BYTES);

    private final PinnedChunks pinned = new PinnedChunks(new ByteGauge(), Long.MAX_VALUE);
    private final ReaderWindow window =
            new ReaderWindow(pinned, new TakenChunks(pinned, new ParkedChunks(pinned, new ReadCredit()), false), 0);

    @AutoClose
    private final MetadataStore metadata = MetadataStore.format(
            new HeapKeyValueStore(), new MetadataHeader(new UUID(1, 1), PAGE_BYTES, 0, MetadataHeader.FORMAT_VERSION));

    ReaderWindowTest() throws IOException {}

    /** Looks up and fetches a file that has a small piece of each chunk, from the middle of it. */
    private void fetchPieces(int count) throws IOException {
        RecipePage.Builder page = new RecipePage.Builder();
        for (int i = 0; i < count; i++) {
            page.add(ChunkId.of(1, i), CHUNK_OFFSET, PIECE_BYTES, i);
        }
        metadata.recipes().replace(INODE, 0, page.build());
        RecipeCursor cursor = new RecipeCursor(metadata.recipes(), INODE, 0);
        while (cursor.next((long) count * PIECE_BYTES)) {
            window.look(cursor);
            window.plan(CHARGE);
        }
        window.fetched(window.count(), window.endPlan());
    }

    /** Otherwise chunks that the reader has passed stay in memory until it is a chunk's length further. */
    @Test
    void aReferenceEndsWhereItsBytesOfTheFileEndWhereverTheyLieInTheChunk() throws IOException {
        fetchPieces(4);
        long held = window.heldBytes();
        window.pass(PIECE_BYTES - 1);
        assertEquals(4, window.count(), "the reader is within the first piece");
        window.pass(3 * PIECE_BYTES);
        assertEquals(1, window.count());
        assertEquals(held / 4, window.heldBytes());
        assertFalse(pinned.lacks(1, 0, 3), "passed chunks are not held");
    }

    @Test
    void whatIsHeldIsPassedDownToABoundWhereverThePiecesLieInTheirChunks() throws IOException {
        fetchPieces(4);
        long held = window.heldBytes();
        window.passDownTo(held / 2, 4 * PIECE_BYTES);
        assertEquals(2, window.count());
    }
}
