package org.opendedup.sar.chunk;

/** Cuts chunks of 4 KiB; the last one may be shorter. For disk images, whose contents move by whole blocks. */
final class FixedChunker implements Chunker {
    private static final int CHUNK_BYTES = 4096;

    @Override
    public int maxChunkBytes() {
        return CHUNK_BYTES;
    }

    @Override
    public int alignment() {
        return CHUNK_BYTES;
    }

    @Override
    public int cut(byte[] data, int from, int to, boolean end) {
        int available = to - from;
        if (available >= CHUNK_BYTES) {
            return CHUNK_BYTES;
        }
        return end ? available : 0;
    }
}
