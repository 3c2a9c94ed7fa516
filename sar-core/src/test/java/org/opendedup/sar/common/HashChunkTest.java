package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class HashChunkTest {
    private final byte[] fingerprint = new byte[Fingerprints.BYTES];
    private final HashChunk chunk = new HashChunk(fingerprint, ChunkId.of(3, 7), 4096, 1);

    @Test
    void theCountIsWhatWasSetLast() {
        assertEquals(1, chunk.getCount());
        chunk.setCount(chunk.getCount() + 1);
        assertEquals(2, chunk.getCount());
    }

    @Test
    void theFingerprintCannotBeChangedFromOutside() {
        fingerprint[0] = 1;
        chunk.getFingerprint()[0] = 2;
        assertArrayEquals(new byte[Fingerprints.BYTES], chunk.getFingerprint());
        assertEquals("00".repeat(Fingerprints.BYTES), chunk.getName());
    }

    @Test
    void twoNamesOfOneCopyAreEqualWhateverTheirCounts() {
        HashChunk same = new HashChunk(new byte[Fingerprints.BYTES], ChunkId.of(3, 7), 4096, 9);
        assertEquals(chunk, same);
        assertEquals(chunk.hashCode(), same.hashCode());
        assertNotEquals(chunk, new HashChunk(new byte[Fingerprints.BYTES], ChunkId.of(3, 8), 4096, 1));
    }

    @Test
    void whatIsNoStoredChunkIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new HashChunk(new byte[20], 1 << 16, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new HashChunk(fingerprint, ChunkId.NONE, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new HashChunk(fingerprint, 1 << 16, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> chunk.setCount(-1));
    }

    @Test
    void itShowsFingerprintPlaceAndCount() {
        assertEquals("00".repeat(Fingerprints.BYTES) + " at 3:7, 4096 bytes, 1 references", chunk.toString());
    }
}
