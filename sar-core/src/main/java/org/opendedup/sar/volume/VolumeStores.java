package org.opendedup.sar.volume;

import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.KeyValueStore;
import org.opendedup.sar.tier.SsdTier;

/**
 * What a volume stands on. A volume at its configured locations opens these itself; tests bring ones that crash. Closing
 * the volume closes metadata and index.
 *
 * @param containers where the container files lie
 * @param metadata the metadata database
 * @param index the fingerprint index
 * @param clock the time of day, for time stamps
 * @param tier opens the SSD, which is at its configured location always
 * @param devices what they lie on; null: whatever the containers lie on
 */
public record VolumeStores(
        Directory containers,
        KeyValueStore metadata,
        ChunkIndex index,
        InstantSource clock,
        SsdTier.Opener tier,
        @Nullable VolumeDevices devices) {

    /** On the device of the containers. */
    public VolumeStores(
            Directory containers, KeyValueStore metadata, ChunkIndex index, InstantSource clock, SsdTier.Opener tier) {
        this(containers, metadata, index, clock, tier, null);
    }

    /** With an SSD that is used as it should be. */
    public VolumeStores(Directory containers, KeyValueStore metadata, ChunkIndex index, InstantSource clock) {
        this(containers, metadata, index, clock, SsdTier::open);
    }
}
