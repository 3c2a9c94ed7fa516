package org.opendedup.sar.chunk;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;

/** Creates {@link Chunker}s. */
public final class Chunkers {
    private Chunkers() {}

    /** Returns what cuts the content of volumes that are not encrypted. */
    public static Chunker of(Chunking chunking) {
        return of(chunking, null);
    }

    /** @param keys those of the volume; null: it is not encrypted */
    public static Chunker of(Chunking chunking, @Nullable VolumeKeys keys) {
        return switch (chunking) {
            case VARIABLE_SHA256 -> new FastCdcChunker(keys == null ? Gear.table() : Gear.table(keys));
            case SHA256 -> new FixedChunker();
        };
    }
}
