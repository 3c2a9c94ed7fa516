package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}
