package org.opendedup.sar.sim.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;

class ContainerPackerTest {
    private final ContainerPacker packer = new ContainerPacker(100);

    @Test
    void newChunksFillContainersInOrder() {
        assertEquals(ChunkId.of(1, 0), packer.put(7, 40));
        assertEquals(ChunkId.of(1, 1), packer.put(8, 60));
        assertEquals(ChunkId.of(2, 0), packer.put(9, 99));
        assertEquals(ChunkId.of(3, 0), packer.put(0, 2));
        assertEquals(3, packer.containers().count());
        assertEquals(100, packer.containers().bytesOf(1));
        assertEquals(2, packer.containers().chunksOf(1));
        assertEquals(60, packer.containers().bytes(ChunkId.of(1, 1)));
    }

    @Test
    void aChunkSeenBeforeKeepsItsHome() {
        long home = packer.put(7, 40);
        packer.put(8, 90);
        assertEquals(home, packer.put(7, 40));
        assertEquals(2, packer.containers().count());
    }

    @Test
    void whatCannotBeIsRefused() {
        packer.put(7, 40);
        assertThrows(IllegalArgumentException.class, () -> packer.put(7, 41));
        assertThrows(IllegalArgumentException.class, () -> packer.put(8, 101));
        assertThrows(IllegalArgumentException.class, () -> new ContainerPacker(0));
    }

    @Test
    void manyFingerprintsAreToldApart() {
        var large = new ContainerPacker(1 << 20);
        Map<Long, Long> model = new HashMap<>();
        var random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            // Many differ in their high bits only.
            long fingerprint = (random.nextInt(5000) + 1L) << random.nextInt(50);
            long chunkId = large.put(fingerprint, 10);
            assertEquals(model.computeIfAbsent(fingerprint, key -> chunkId), chunkId);
        }
    }
}
