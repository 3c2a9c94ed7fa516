package org.opendedup.sar.chunk;

/**
 * Determines where chunks end. A boundary depends only on the bytes since the last boundary, never on their position in
 * the stream, in a page or in a buffer, so that the same content is cut the same way everywhere. Stateless and
 * thread-safe.
 */
public interface Chunker {
    /** Most bytes of a chunk, whatever chunker cut it: a volume may have received chunks of another one. */
    int LONGEST_BYTES = 64 << 10;

    /** Maximum length of a chunk, in bytes. */
    int maxChunkBytes();

    /** Alignment of boundaries in bytes, counted from the stream's first byte; 1 if only the content decides. */
    default int alignment() {
        return 1;
    }

    /**
     * Returns the length in bytes of the chunk that begins at {@code data[from]}.
     *
     * @param data the stream's bytes; {@code data[from]} is the first byte after the last boundary
     * @param to one past the last available byte; {@code to > from}
     * @param end whether the stream ends at {@code to}
     * @return 1 to {@code min(maxChunkBytes(), to - from)}, or 0 if more bytes are needed to decide (never when
     *     {@code end} is set, or when {@code to - from >= maxChunkBytes()})
     */
    int cut(byte[] data, int from, int to, boolean end);
}
