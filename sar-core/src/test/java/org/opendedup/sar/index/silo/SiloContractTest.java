package org.opendedup.sar.index.silo;

import java.io.IOException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexContract;

/** All blocks stay in memory: what a lookup can miss, it misses because a block is not there. */
class SiloContractTest extends ChunkIndexContract {
    @Override
    protected ChunkIndex open() throws IOException {
        return SiloChunkIndexFactory.open(folder, SiloSettings.of(64 << 20));
    }
}
