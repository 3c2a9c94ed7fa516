package org.opendedup.sar.hot.copies;

import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.StoreMemory;

/**
 * Opens the stores of SSDs.
 *
 * @param budget the bound of the SSD, if an index shares it; else null
 * @param hash makes the fingerprints of the chunks
 * @param keys what copies are encrypted with; null: they are not
 */
public record StoreOpener(
        @Nullable SsdBudget budget,
        ContentHash hash,
        @Nullable VolumeKeys keys) implements AttachedSsd.Opener {
    @Override
    public long bound(long capacityBytes) {
        return budget == null ? capacityBytes : budget.bound(capacityBytes);
    }

    @Override
    public void closed() {
        if (budget != null) {
            budget.closed();
        }
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
        long bytes = budget == null ? capacityBytes : budget.place(location, capacityBytes);
        SsdStore store = SsdStore.open(location, hash, keys, timeline, bytes, memory, makeRoom, failure);
        if (budget != null) {
            budget.opened(store::usedBytes, store::resize);
        }
        return store;
    }
}
