package org.opendedup.sar.volume.raw;

import java.io.IOException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.metadata.EpochHistory;
import org.opendedup.sar.raw.RawFolder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the fast tier that was found with the one that the volume used last (docs/adr/0154). An older copy of it,
 * such as a restored image of its disk, has older bytes under the same numbers, which would take the place of newer
 * ones that the containers have.
 */
public final class FastTierBinding {
    private static final Logger log = LoggerFactory.getLogger(FastTierBinding.class);

    private FastTierBinding() {}

    /** @throws IOException if the folder is an older copy; the message says what to do */
    public static void refuseOlder(EpochHistory history, RawFolder folder) throws IOException {
        Epoch used = folder.epoch();
        if (history.isOlderFastTier(used)) {
            throw new IOException("the raw files in " + folder + " are an older copy: "
                    + (used == null ? "they do not say when they were used last" : "they were used last in " + used)
                    + ", and the volume has used its fast tier since. Make the newest one available. If it is lost,"
                    + " rename this folder, and give 'tier attach --new'");
        }
    }

    /** Marks the folder as used in the present epoch. Before anything of it is changed. */
    public static void begin(EpochHistory history, RawFolder folder) {
        try {
            // In this order: a power cut between the two must not make it an older copy.
            folder.setEpoch(history.current());
            history.noteFastTier();
        } catch (IOException e) {
            log.warn(
                    "the fast tier could not be marked as used in {}; an older copy of it is not found later: {}",
                    history.current(),
                    e.getMessage());
        }
    }
}
