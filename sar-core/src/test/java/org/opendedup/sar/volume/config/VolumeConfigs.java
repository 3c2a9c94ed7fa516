package org.opendedup.sar.volume.config;

import java.nio.file.Path;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.crypt.TestKeys;

/** Volumes as tests make them. With {@code -Dsar.encrypted=true} they are encrypted. */
public final class VolumeConfigs {
    /** Small, so that caches overflow and budgets bind. */
    private static final long MEMORY_BUDGET_BYTES = 256L << 20;

    private static final String ENCRYPTED = "sar.encrypted";

    private VolumeConfigs() {}

    /** A volume below {@code folder}, owned by root. */
    public static VolumeConfig in(Path folder, long capacityBytes, Chunking chunking) {
        return new VolumeConfig(
                        "test",
                        capacityBytes,
                        95,
                        new VolumeConfig.Locations(
                                folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                        chunking,
                        new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                        256 << 10,
                        MEMORY_BUDGET_BYTES,
                        2,
                        new VolumeConfig.RootDirectory(0755, 0, 0))
                .withKeys(Boolean.getBoolean(ENCRYPTED) ? TestKeys.of(folder.hashCode()) : null);
    }
}
