package org.opendedup.sar.model;

import java.nio.file.Path;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Volumes for the tests of the whole engine. */
public final class TestVolumes {
    private TestVolumes() {}

    /** A volume below {@code folder}, owned by root like the model. */
    public static VolumeConfig config(Path folder, Chunking chunking) {
        return VolumeConfigs.in(folder, 1L << 40, chunking);
    }
}
