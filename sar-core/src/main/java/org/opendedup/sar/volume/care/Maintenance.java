package org.opendedup.sar.volume.care;

import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.EngineInUse;

/**
 * What keeps a volume in order: scrub, healing, damage, backups of the metadata, and a check. All of it may run while
 * the volume is in use. Safe for use by many threads.
 */
public class Maintenance {
    private final MetadataBackups backups;
    private final VolumeCheck check;
    private final VolumeHeal heal;
    private final VolumeScrub scrub;
    private final VolumeDamage damage;
    private final ChunkSearch chunks;

    /**
     * @param hasFiles whether the volume has files; otherwise it is one of chunks, and its client has the references
     * @param storing stores in chunks what was written and is not in chunks yet; reports failures elsewhere
     */
    protected Maintenance(VolumeConfig config, EngineInUse volume, boolean hasFiles, Runnable storing) {
        backups = volume.backups();
        check = new VolumeCheck(config, volume);
        heal = new VolumeHeal(volume, storing);
        scrub = new VolumeScrub(volume, hasFiles ? check : null, heal, backups);
        damage = new VolumeDamage(volume, hasFiles);
        chunks = new ChunkSearch(volume.engine(), config.hash());
    }

    /** Returns the scrub, which verifies everything that the volume stores. */
    public final VolumeScrub scrub() {
        return scrub;
    }

    /** Returns what heals damaged chunks. */
    public final VolumeHeal heal() {
        return heal;
    }

    /** Returns the list of damage, which also reports new damage. */
    public final VolumeDamage damage() {
        return damage;
    }

    /** Returns what looks up stored chunks by their fingerprints. */
    public final ChunkSearch chunks() {
        return chunks;
    }

    /** Returns the backups of the volume's metadata. */
    public final MetadataBackups backups() {
        return backups;
    }

    /** Returns the check of the volume while it is in use. */
    public final VolumeCheck check() {
        return check;
    }
}
