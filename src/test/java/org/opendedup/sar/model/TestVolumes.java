package org.opendedup.sar.model;

import java.nio.file.Path;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.Compression;
import org.opendedup.sar.volume.VolumeConfig;

/** Volumes as the tests of the whole engine make them. */
public final class TestVolumes {
    /** Small, so that caches overflow and budgets bind. */
    public static final long MEMORY_BUDGET_BYTES = 256L << 20;

    private TestVolumes() {}

    /** A volume below {@code folder}, owned by root as the model is. */
    public static VolumeConfig config(Path folder, Chunking chunking) {
        return new VolumeConfig(
                "test",
                1L << 40,
                95,
                new VolumeConfig.Locations(
                        folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                chunking,
                new Compression(Compression.Codec.ZSTD, 1, 64 * 1024),
                256 * 1024,
                MEMORY_BUDGET_BYTES,
                2,
                0755,
                0,
                0);
    }
}
