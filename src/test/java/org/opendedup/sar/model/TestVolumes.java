package org.opendedup.sar.model;

import java.nio.file.Path;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Volumes for the tests of the whole engine. */
public final class TestVolumes {
    private TestVolumes() {}

    /**
     * A volume below {@code folder}, owned by root like the model. Those with chunks of variable length are encrypted,
     * so that each test with both kinds of chunks has a volume with keys and one without.
     */
    public static VolumeConfig config(Path folder, Chunking chunking) {
        return VolumeConfigs.in(folder, 1L << 40, chunking)
                .withKeys(chunking == Chunking.SHA256 ? null : TestKeys.of(1));
    }
}
