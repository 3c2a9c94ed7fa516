package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.heap.HeapChunkIndex;

class ProvenHintsTest {
    private final HeapChunkIndex stored = new HeapChunkIndex();
    private final Map<Long, byte[]> lists = new HashMap<>();
    private int reads;
    private final ProvenHints index = new ProvenHints(stored, this::list, 1 << 20);

    private byte[] list(long container) throws IOException {
        reads++;
        byte[] list = lists.get(container);
        if (list == null) {
            throw new CorruptionException("container " + container, -1, "one that is sealed", "none");
        }
        return list;
    }

    private static byte[] fingerprint(int content) {
        byte[] fingerprint = new byte[Fingerprints.BYTES];
        Arrays.fill(fingerprint, (byte) content);
        return fingerprint;
    }

    private static Segment segment(int... contents) {
        Segment segment = new Segment(0);
        for (int i = 0; i < contents.length; i++) {
            segment.add(i * 4096, 4096, false);
            System.arraycopy(
                    fingerprint(contents[i]),
                    0,
                    segment.fingerprints(),
                    Segment.fingerprintOffset(i),
                    Fingerprints.BYTES);
        }
        return segment;
    }

    private long hint(int content) throws IOException {
        Segment segment = segment(content);
        index.lookup(segment);
        return segment.hint(0);
    }

    private void list(long container, int... contents) {
        byte[] list = new byte[contents.length * Fingerprints.BYTES];
        for (int i = 0; i < contents.length; i++) {
            System.arraycopy(fingerprint(contents[i]), 0, list, i * Fingerprints.BYTES, Fingerprints.BYTES);
        }
        lists.put(container, list);
    }

    /** The attack: somebody with the disk of the index points the entry of known content to a chunk of his. */
    @Test
    void anEntryThatLeadsToOtherContentIsNoHint() throws IOException {
        list(5, 1, 2);
        stored.insert(fingerprint(1), 0, ChunkId.of(5, 0));
        stored.insert(fingerprint(3), 0, ChunkId.of(5, 1));
        stored.insert(fingerprint(4), 0, ChunkId.of(5, 2));
        stored.insert(fingerprint(6), 0, ChunkId.of(6, 0));

        assertEquals(ChunkId.of(5, 0), hint(1));
        assertEquals(ChunkId.NONE, hint(3), "the slot has other content");
        assertEquals(ChunkId.NONE, hint(4), "the container has no such slot");
        assertEquals(ChunkId.NONE, hint(6), "there is no such container");
        // The control: the index itself believes its entries.
        Segment asked = segment(3);
        stored.lookup(asked);
        assertEquals(ChunkId.of(5, 1), asked.hint(0));
    }

    @Test
    void aChunkOfThisProcessIsAHintBeforeItsContainerIsSealed() throws IOException {
        Segment fresh = segment(1, 2);
        for (int i = 0; i < 2; i++) {
            fresh.setChunkId(i, ChunkId.of(7, i));
            fresh.setFresh(i, true);
        }
        index.insert(fresh);
        assertEquals(ChunkId.of(7, 1), hint(2));
        stored.insert(fingerprint(9), 0, ChunkId.of(7, 1));
        stored.insert(fingerprint(8), 0, ChunkId.of(7, 2));
        assertEquals(ChunkId.NONE, hint(9));
        assertEquals(ChunkId.NONE, hint(8));

        list(7, 1, 2);
        index.cover(7, new byte[0]);
        reads = 0;
        assertEquals(ChunkId.of(7, 0), hint(1));
        assertEquals(ChunkId.of(7, 0), hint(1));
        assertEquals(1, reads, "a list is kept");
    }

    @Test
    void aChunkThatIsInsertedAfterItsContainerWasSealedHidesNoOther() throws IOException {
        list(7, 1, 2);
        index.cover(7, new byte[0]);
        put(index, 7, 1);
        stored.insert(fingerprint(2), 0, ChunkId.of(7, 1));
        assertEquals(ChunkId.of(7, 0), hint(1));
        assertEquals(ChunkId.of(7, 1), hint(2));
        assertEquals(1, reads);
        put(index, 7, 1);
        assertEquals(ChunkId.of(7, 1), hint(2));
        assertEquals(1, reads, "the sealed list is kept");
    }

    /** A disk that is never forced, or whose containers are lost, must not fill the memory. The control has room. */
    @Test
    void chunksOfContainersThatAreNotSealedTakeBoundedMemory() throws IOException {
        int proven = provenOf(100, 4 * 4096);
        assertTrue(proven <= 4, proven + " of 100");
        assertEquals(100, provenOf(100, 100 * 4096));
    }

    /** Returns how many chunks are hints, each of another container that is not sealed. */
    private int provenOf(int containers, long cacheBytes) throws IOException {
        var bounded = new ProvenHints(stored, this::list, cacheBytes);
        for (int container = 1; container <= containers; container++) {
            put(bounded, container, container);
        }
        int proven = 0;
        for (int container = 1; container <= containers; container++) {
            Segment asked = segment(container);
            bounded.lookup(asked);
            proven += asked.hint(0) == ChunkId.of(container, 0) ? 1 : 0;
        }
        return proven;
    }

    private static void put(ProvenHints index, int container, int content) throws IOException {
        Segment fresh = segment(content);
        fresh.setChunkId(0, ChunkId.of(container, 0));
        fresh.setFresh(0, true);
        index.insert(fresh);
    }
}
