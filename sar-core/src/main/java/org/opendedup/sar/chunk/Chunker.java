package org.opendedup.sar.chunk;

/**
 * Says where chunks end. A boundary depends on the bytes since the last boundary alone, never on where in the stream, a
 * page or a buffer they lie, so that the same content is cut the same way everywhere. Stateless and thread-safe.
 */
public interface Chunker {
    /** No chunk is longer, in bytes. */
    int maxChunkBytes();

    /** Every boundary lies at a multiple of this many bytes after the stream's first byte; 1 if content alone decides. */
    default int alignment() {
        return 1;
    }

    /**
     * The length in bytes of the chunk that begins at {@code data[from]}.
     *
     * @param data the stream's bytes; {@code data[from]} is the first byte after the last boundary
     * @param to one past the last byte at hand; {@code to > from}
     * @param end whether the stream ends at {@code to}
     * @return 1 to {@code min(maxChunkBytes(), to - from)}, or 0 if more bytes are needed to tell (never when {@code end}
     *     is set, or when {@code to - from >= maxChunkBytes()})
     */
    int cut(byte[] data, int from, int to, boolean end);
}
