package org.opendedup.sar.volume.chunks;

import java.io.IOException;
import org.opendedup.sar.volume.care.Maintenance;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.engine.VolumeCondition;

/** What keeps a volume of chunks in order, and what an administrator must know of it. */
public final class ChunkMaintenance extends Maintenance {
    private final EngineInUse volume;

    ChunkMaintenance(VolumeConfig config, EngineInUse volume) {
        super(config, volume, false, () -> {}); // What was put is in a container already.
        this.volume = volume;
    }

    /** Returns the collector of the volume's garbage. */
    public SpaceCollector collector() {
        return volume.collector();
    }

    /** Returns what an administrator must know to judge whether the volume is well. */
    public VolumeCondition condition() throws IOException {
        return volume.condition();
    }

    /**
     * Makes the volume accept changes again that a failed write has stopped.
     *
     * @return false if it accepted them
     * @throws IOException if the disk still fails, or something accepted is lost; the message says which
     */
    public boolean resume() throws IOException {
        return volume.committer().resume();
    }

    /** Returns the bytes on the devices that the volume keeps for itself. */
    public long reservedBytes() throws IOException {
        return volume.engine().devices().reservedBytes();
    }

    /** Returns the bytes that the devices can still store if none of them are duplicates. */
    public long deviceFreeBytes() throws IOException {
        return volume.engine().devices().freeBytes();
    }
}
