package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.store.DeviceCondition;
import org.opendedup.sar.volume.store.DeviceSpaces;

/**
 * What an administrator must know about an open volume at one moment to judge whether it is well. Reading it costs no
 * scan: every number is kept while the volume works.
 *
 * @param stopped why the volume accepts no changes since a write failed; null while it accepts them
 * @param resumable whether changes can be resumed without a new mount; true while they are accepted
 * @param shortage why writes are refused for lack of space; null if they are not
 * @param devices space on the devices
 * @param damagedChunks number of chunks that files refer to and that are known to be damaged and not healed, also from
 *     earlier mounts
 * @param healedChunks number of chunks healed since the volume was opened
 * @param damagedFrames number of frames found damaged since the volume was opened
 * @param unmarkedFrames number of these that the metadata could not record
 * @param missingContainers number of containers found missing since the volume was opened
 * @param restored whether the metadata were restored, so that no garbage is collected until the replaced ones are given
 *     up
 */
public record VolumeCondition(
        @Nullable String stopped,
        boolean resumable,
        @Nullable String shortage,
        List<DeviceCondition> devices,
        long damagedChunks,
        long healedChunks,
        long damagedFrames,
        long unmarkedFrames,
        long missingContainers,
        boolean restored,
        Index index) {
    /**
     * How far the fingerprint index is.
     *
     * @param usable false if the volume works without an index, because it could not be opened
     * @param updating whether the index is being compared with the containers
     * @param complete whether the index has all containers
     * @param examined number of containers compared since the comparison began
     * @param containers number of containers to compare, as of its beginning
     * @param use where it has its bytes
     */
    public record Index(
            boolean usable, boolean updating, boolean complete, long examined, long containers, IndexUse use) {
        /** Of a volume that is open for reading only. */
        static final Index NOT_NEEDED = new Index(true, false, true, 0, 0, IndexUse.UNKNOWN);
    }

    /** Returns the condition of an open volume at this moment. */
    static VolumeCondition of(
            Committer committer,
            DeviceSpaces devices,
            MetadataStore metadata,
            DamagedFrames damaged,
            boolean restored,
            Index index)
            throws IOException {
        return new VolumeCondition(
                committer.stopped(),
                committer.isResumable(),
                devices.shortageText(),
                devices.conditions(),
                metadata.totals().stored().damagedChunks(),
                damaged.healedChunks(),
                damaged.found(),
                damaged.unmarked(),
                damaged.missing(),
                restored,
                index);
    }
}
