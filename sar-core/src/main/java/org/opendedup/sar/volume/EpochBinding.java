package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexes;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.EpochHistory;
import org.opendedup.sar.metadata.MetadataStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins a volume's next epoch, and holds what was found at its locations against the metadata's history: an index of another time
 * would lead new data to copies that are not there (docs/adr/0016). What is of another time is said, and the index made again then
 * from those containers that the metadata mean.
 */
final class EpochBinding {
    private static final Logger log = LoggerFactory.getLogger(EpochBinding.class);

    private EpochBinding() {}

    /**
     * Runs before anything is written, and before the index is asked anything.
     *
     * @param found the epoch that the data location was last used in
     * @return the index, or none in place of one that can't be brought into accord with the metadata
     */
    static ChunkIndex begin(
            MetadataStore metadata, Directory data, Epoch found, ContainerStore containers, ChunkIndex index)
            throws IOException {
        EpochHistory history = metadata.epochs();
        long highest = containers.highestAtOpening();
        // Ids that the data know are never given out again, whatever the metadata know of them.
        metadata.beginEpoch(Math.max(metadata.firstFreeContainer(), highest + 1));
        boolean dataAreForeign = highest >= history.sharedBelow(found);
        if (dataAreForeign) {
            log.warn(
                    "the containers in {} are of {}, which the metadata did not come from: one of the two was restored from a"
                            + " backup or exchanged. Files whose containers are missing give an error where these are wanted",
                    data,
                    found);
        }
        ChunkIndex accorded = accord(index, history, dataAreForeign, containers.recovered());
        stamp("the fingerprint index", () -> accorded.stamp(history.current()));
        stamp("the data location", () -> VolumeIdentity.write(data, history.current()));
        return accorded;
    }

    /** Takes out of the index what would lead to copies that are not there. */
    private static ChunkIndex accord(
            ChunkIndex index, EpochHistory history, boolean dataAreForeign, List<Long> recovered) {
        try {
            if (dataAreForeign || isForeign(index, history)) {
                if (index.highestContainer() > 0) {
                    log.warn(
                            "the fingerprint index (of {}) does not fit the volume, which is in {}; it is made again from the"
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
                    "the fingerprint index can't be brought into accord with the volume: duplicates are stored again until a mount"
                            + " can do that: {}",
                    e.getMessage());
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

    private interface Stamping {
        void run() throws IOException;
    }

    /**
     * What can't be written to, as on a full disk, keeps its older stamp, and nobody from mounting: the next mount takes what this one adds
     * for foreign, and makes the index again.
     */
    private static void stamp(String what, Stamping stamping) {
        try {
            stamping.run();
        } catch (IOException e) {
            log.warn(
                    "{} could not be marked with this mount's epoch; the next one will make the fingerprint index again: {}",
                    what,
                    e.getMessage());
        }
    }
}
