package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.EpochHistory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.volume.config.OtherHistory;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.RenewableIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins the next epoch of a volume, and checks what was found at its locations against the metadata's history. An
 * index of another time would make new data refer to copies that do not exist (docs/adr/0016). Logs what is of another
 * time. Such an index is then rebuilt from those containers that the metadata refer to.
 */
final class EpochBinding {
    private static final Logger log = LoggerFactory.getLogger(EpochBinding.class);

    private EpochBinding() {}

    /**
     * Returns whether the index was in use in the last epoch, so that it has all containers but for those that a crash
     * left. To be asked before the next epoch begins.
     */
    static boolean isCurrent(MetadataStore metadata, ContainerStore containers, ChunkIndex index) {
        try {
            return containers.recovered().isEmpty()
                    && metadata.epochs().current().equals(index.epoch());
        } catch (IOException e) {
            log.debug("the epoch of the fingerprint index cannot be read", e);
            return false;
        }
    }

    /**
     * Begins the epoch. Runs before anything is written, and before the first lookup in the index.
     *
     * @param found the epoch in which the data locations were last used; of several the oldest
     * @return the index, or an empty one if it cannot be made consistent with the metadata
     */
    static ChunkIndex begin(
            MetadataStore metadata, Directory data, Epoch found, ContainerStore containers, ChunkIndex index)
            throws IOException {
        EpochHistory history = metadata.epochs();
        long shared = history.sharedBelow(found);
        long highest = containers.highestPack(Math.min(shared, metadata.firstFreeContainer()));
        // No epoch of the metadata: older ones were put back, or the data are of another history.
        boolean areUnknown = shared == 0 && highest >= metadata.firstFreeContainer();
        // Container ids that the data location has seen are never assigned again, even if the metadata do not know
        // them.
        metadata.beginEpoch(Math.max(metadata.firstFreeContainer(), highest + 1));
        boolean dataAreForeign = highest >= shared;
        if (dataAreForeign) {
            log.warn(
                    "the containers in {} belong to {}, and the metadata does not: one of the two was restored "
                            + "from a backup or exchanged. Reading a file whose containers are missing fails",
                    data,
                    found);
        }
        ChunkIndex accorded = accord(index, history, dataAreForeign, containers.recovered());
        stamp("the fingerprint index", () -> accorded.stamp(history.current()));
        stamp("the data location", () -> {
            if (areUnknown) {
                // Without the mark the stamp stays as well, so that the next mount tries again.
                OtherHistory.found(data);
            }
            for (Directory location : data.parts()) {
                VolumeIdentity.write(location, history.current());
            }
            OtherHistory.ended(data);
        });
        return accorded;
    }

    /** Removes from the index the entries that would lead to copies that do not exist. */
    private static ChunkIndex accord(
            ChunkIndex index, EpochHistory history, boolean dataAreForeign, List<Long> recovered) {
        try {
            if (dataAreForeign || isForeign(index, history)) {
                if (index.highestContainer() > 0) {
                    log.warn(
                            "the fingerprint index (of {}) does not match the volume, which is in {}; "
                                    + "it is rebuilt from the"
                                    + " containers",
                            index.epoch(),
                            history.current());
                }
                index.clear();
            }
            for (long container : recovered) {
                index.uncover(container);
            }
            return index;
        } catch (IOException e) {
            log.warn(
                    "the fingerprint index cannot be matched to the volume: duplicates are stored again until it is"
                            + " made anew: {}",
                    e.getMessage());
            if (index instanceof RenewableIndex renewable) {
                renewable.giveUp();
                return renewable;
            }
            try {
                index.close();
            } catch (IOException again) {
                log.debug("the fingerprint index is left as it is", again);
            }
            return ChunkIndexes.none();
        }
    }

    private static boolean isForeign(ChunkIndex index, EpochHistory history) throws IOException {
        Epoch epoch = index.epoch();
        return index.highestContainer() >= (epoch == null ? 1 : history.sharedBelow(epoch));
    }

    /**
     * Writes an epoch mark. A place that cannot be written, for example on a full disk, keeps its older mark; this does
     * not prevent mounting. The next mount treats what this one adds as foreign, and rebuilds the index.
     */
    private static void stamp(String what, Closing.Step stamping) {
        try {
            stamping.run();
        } catch (IOException e) {
            log.warn(
                    "{} could not be marked with this mount's epoch; "
                            + "the next mount will rebuild the fingerprint index: {}",
                    what,
                    e.getMessage());
        }
    }
}
