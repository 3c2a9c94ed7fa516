package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class HashChunkTest {
    private final HashChunk chunk = new HashChunk(ChunkId.of(3, 7), 0x04030201, 4096, 1);

    @Test
    void itsNameIsTheBeginningOfItsFingerprint() {
        byte[] fingerprint = new byte[Fingerprints.BYTES];
        for (int i = 0; i < fingerprint.length; i++) {
            fingerprint[i] = (byte) (i + 1);
        }
        HashChunk named = new HashChunk(ChunkId.of(3, 7), Fingerprints.fingerprintPrefix(fingerprint, 0), 1, 1);
        assertEquals(Fingerprints.toHex(fingerprint, 0).substring(0, 8), named.getName());
    }

    @Test
    void whatIsNoStoredChunkIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new HashChunk(ChunkId.NONE, 0, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new HashChunk(1 << 16, 0, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> chunk.setCount(-1));
    }

    @Test
    void twoNamesOfOneCopyAreEqualWhateverTheirCounts() {
        HashChunk same = new HashChunk(ChunkId.of(3, 7), 0x04030201, 4096, 9);
        assertEquals(chunk, same);
        assertEquals(chunk.hashCode(), same.hashCode());
        assertNotEquals(chunk, new HashChunk(ChunkId.of(3, 8), 0x04030201, 4096, 1));
    }
}
