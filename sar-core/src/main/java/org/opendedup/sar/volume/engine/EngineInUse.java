package org.opendedup.sar.volume.engine;

import java.io.IOException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.scrub.Scrubber;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.store.DataLocations;

/**
 * The engine of an open volume with what its client made of it: the commits and the collector. Scrub, healing, damage
 * and checks work on it, so that they serve volumes of files and volumes of chunks alike.
 *
 * @param committer makes the changes of the engine durable, with those of its client
 * @param collector collects the garbage of the engine
 * @param backups those of the metadata
 */
public record EngineInUse(ChunkEngine engine, Committer committer, SpaceCollector collector, MetadataBackups backups) {
    public String name() {
        return engine.name();
    }

    public MetadataStore metadata() {
        return engine.metadata();
    }

    /** Returns the locations of the containers. */
    public DataLocations data() {
        return engine.data();
    }

    public ContainerStore containers() {
        return engine.containers();
    }

    public DamagedFrames damaged() {
        return engine.damaged();
    }

    /** Returns what verifying containers needs. */
    public Scrubber.Parts toScrub() {
        return new Scrubber.Parts(metadata(), containers(), engine.uses(), engine.disk());
    }

    public VolumeCondition condition() throws IOException {
        damaged().lookForMissing();
        return VolumeCondition.of(
                committer,
                engine.devices(),
                metadata(),
                damaged(),
                engine.isRestored(),
                committer.isReadOnly()
                        ? VolumeCondition.Index.NOT_NEEDED
                        : engine.rebuilder().condition());
    }
}
