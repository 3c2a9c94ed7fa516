package org.opendedup.sar.chunk;

/** Creates {@link Chunker}s. */
public final class Chunkers {
    private Chunkers() {}

    public static Chunker of(Chunking chunking) {
        return switch (chunking) {
            case VARIABLE_SHA256 -> new FastCdcChunker();
            case SHA256 -> new FixedChunker();
        };
    }
}
