package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TornPages;
import org.opendedup.sar.index.ChunkIndex;

class DamagedIndexTest extends TornPages {
    private static final int CHUNKS = 600;

    private static ChunkIndex index(Path folder) throws IOException {
        return RocksDbChunkIndexFactory.open(folder, RocksDbChunkIndexFactory.MIN_MEMORY_BYTES);
    }

    @Override
    protected void open(Path folder) throws IOException {
        index(folder).close();
    }

    @Override
    protected void destroy(Path folder) throws IOException {
        RocksDbChunkIndexFactory.destroy(folder);
    }

    @Test
    void noDamageKeepsAnIndexFromBeingOpenedOrMadeAgain(@TempDir Path temporary) throws IOException {
        Path written = temporary.resolve("written");
        try (ChunkIndex index = index(written)) {
            byte[] fingerprints = new byte[CHUNKS * 32];
            new Random(1).nextBytes(fingerprints);
            for (int i = 0; i < CHUNKS; i++) {
                index.insert(fingerprints, i * 32, 1 + i);
                if (i % 200 == 100) {
                    index.flush();
                }
            }
        }
        tear(written, temporary);
    }
}
