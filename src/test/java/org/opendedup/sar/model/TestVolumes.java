package org.opendedup.sar.model;

import java.nio.file.Path;
import java.util.UUID;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Volumes for the tests of the whole engine. */
public final class TestVolumes {
    /** The keys of all encrypted volumes of tests, which have the same id. */
    public static final VolumeKeys KEYS = new VolumeKeys(
            new byte[VolumeKeys.KEY_BYTES], new UUID(0x5eed, 0x1234_5678_9abc_def0L), AeadCipher.AES_256_GCM);

    private TestVolumes() {}

    /**
     * A volume below {@code folder}, owned by root like the model. Those with chunks of variable length are encrypted,
     * so that each test with both kinds of chunks has a volume with keys and one without.
     */
    public static VolumeConfig config(Path folder, Chunking chunking) {
        return VolumeConfigs.in(folder, 1L << 40, chunking).withKeys(chunking == Chunking.SHA256 ? null : KEYS);
    }
}
