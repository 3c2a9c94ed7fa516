package org.opendedup.sar.hot.copies;

import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.Source;

/** Builds requests for tests. A chunk's bytes are all equal to the lowest byte of its slot. */
public final class Requests {
    public static final int CHUNK_BYTES = 8 << 10;

    public final ChunkRequest request = new ChunkRequest();

    /** Adds {@code chunks} neighbours of a container. */
    public Requests run(long container, int firstSlot, int chunks, int references) {
        for (int slot = firstSlot; slot < firstSlot + chunks; slot++) {
            chunk(ChunkId.of(container, slot), CHUNK_BYTES, references);
        }
        return this;
    }

    public Requests chunk(long chunkId, int length, int references) {
        int i = request.count();
        request.add(chunkId, length, ChunkId.slot(chunkId), 0);
        request.setReferences(i, references);
        request.setData(i, data(chunkId, length), 1, length);
        return this;
    }

    public Requests from(Source source) {
        for (int i = 0; i < request.count(); i++) {
            request.setSource(i, source);
        }
        return this;
    }

    static byte[] data(long chunkId, int length) {
        byte[] data = new byte[length + 1];
        java.util.Arrays.fill(data, (byte) chunkId);
        return data;
    }
}
