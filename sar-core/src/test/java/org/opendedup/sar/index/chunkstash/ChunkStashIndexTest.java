package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexContract;
import org.opendedup.sar.index.TestSegments;

class ChunkStashIndexTest extends ChunkIndexContract {
    @Override
    protected ChunkIndex open() throws IOException {
        return ChunkStashIndexFactory.open(hashDb(), ChunkStashIndexFactory.MIN_MEMORY_BYTES);
    }

    private Path hashDb() {
        return folder.resolve("hashdb");
    }

    @Test
    void tooLittleMemoryIsRefusedWithTheLeastThatWillDo() {
        Exception e = assertThrows(
                IllegalArgumentException.class, () -> ChunkStashIndexFactory.open(folder.resolve("other"), 1000));
        assertTrue(e.getMessage().contains(Long.toString(ChunkStashIndexFactory.MIN_MEMORY_BYTES)), e.getMessage());
    }

    @Test
    void anIndexOfAnotherClassIsRefusedAndStays() throws IOException {
        index.close();
        Path other = Files.createDirectory(folder.resolve("other"));
        Files.writeString(other.resolve("CURRENT"), "MANIFEST-000001");
        IOException refusal = assertThrows(
                IOException.class, () -> ChunkStashIndexFactory.open(other, ChunkStashIndexFactory.MIN_MEMORY_BYTES));
        assertFalse(refusal instanceof CorruptionException, "what is damaged is deleted, and this must not be");
    }

    @Test
    void aDestroyedIndexIsLostAndCanBeMadeAgain() throws IOException {
        index.insert(TestSegments.fingerprint(1), 0, ChunkId.of(1, 1));
        index.close();
        assertFalse(ChunkStashIndexFactory.isLost(hashDb()));
        ChunkStashIndexFactory.destroy(hashDb());
        assertTrue(ChunkStashIndexFactory.isLost(hashDb()));
        try (var left = Files.list(hashDb())) {
            assertEquals(0, left.count());
        }
        index = open();
        assertEquals(0, index.estimatedChunks());
    }
}
