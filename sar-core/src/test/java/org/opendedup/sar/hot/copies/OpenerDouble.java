package org.opendedup.sar.hot.copies;

import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.StoreDouble;
import org.opendedup.sar.ssd.StoreMemory;

/**
 * Opens SSDs over the stores of a double.
 *
 * @param seen makes of an SSD what the tier gets to see
 */
record OpenerDouble(StoreDouble stores, UnaryOperator<AttachedSsd> seen) implements AttachedSsd.Opener {
    OpenerDouble(StoreDouble stores) {
        this(stores, UnaryOperator.identity());
    }

    @Override
    public void claim(Path location, UUID volume) throws IOException {
        SsdStore.claim(location, volume);
    }

    @Override
    public AttachedSsd open(
            Path location,
            Timeline timeline,
            long capacityBytes,
            StoreMemory memory,
            Runnable makeRoom,
            Consumer<IOException> failure)
            throws IOException {
        return seen.apply(stores.open(location, timeline, capacityBytes, memory, makeRoom, failure));
    }
}
