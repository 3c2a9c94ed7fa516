package org.opendedup.sar.volume.chunks;

import java.io.IOException;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.care.ChunkDamage;
import org.opendedup.sar.volume.care.ReferencePhase;
import org.opendedup.sar.volume.care.VolumeCheck;
import org.opendedup.sar.volume.care.VolumeHeal;
import org.opendedup.sar.volume.care.VolumeScrub;
import org.opendedup.sar.volume.config.OtherHistory;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.engine.VolumeCondition;

/**
 * What keeps a volume of chunks in order: scrub, healing, damage, collections, backups of the metadata, and a check.
 * All of it may run while the volume is in use. Safe for use by many threads.
 */
public final class ChunkMaintenance {
    private final EngineInUse volume;
    private final MetadataBackups backups;
    private final VolumeCheck check;
    private final VolumeHeal heal;
    private final VolumeScrub scrub;
    private final ChunkDamage damage;

    ChunkMaintenance(VolumeConfig config, EngineInUse volume) {
        this.volume = volume;
        backups = new MetadataBackups(
                config.locations(), volume.metadata(), volume.engine().clock());
        volume.collector().beforeEach(backups::collectionBegins);
        volume.collector()
                .permit(() -> OtherHistory.requireGivenUp(
                        config.locations().data(),
                        "call: sdfscli " + config.name() + " metadata-backup --accept-restored"));
        check = new VolumeCheck(config, volume);
        heal = new VolumeHeal(volume, () -> {}); // What was put is in a container already.
        scrub = new VolumeScrub(volume, ReferencePhase.OF_CLIENT, heal, backups);
        damage = new ChunkDamage(volume);
    }

    /** Returns the scrub, which verifies everything that the volume stores. */
    public VolumeScrub scrub() {
        return scrub;
    }

    /** Returns what heals damaged chunks. */
    public VolumeHeal heal() {
        return heal;
    }

    /** Returns the list of damage, which also reports new damage. */
    public ChunkDamage damage() {
        return damage;
    }

    /** Returns the backups of the volume's metadata. */
    public MetadataBackups backups() {
        return backups;
    }

    /** Returns the check of the volume while it is in use. */
    public VolumeCheck check() {
        return check;
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
