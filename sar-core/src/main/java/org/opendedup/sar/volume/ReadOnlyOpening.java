package org.opendedup.sar.volume;

import java.io.IOException;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.volume.config.DescriptorPlan;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.store.RemoteReader;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a volume so that nothing of it changes. One that was not closed in order is recovered first, as for every
 * mount: opened for writing, and closed.
 */
final class ReadOnlyOpening {
    private static final Logger log = LoggerFactory.getLogger(ReadOnlyOpening.class);

    private ReadOnlyOpening() {}

    static VolumeContext open(VolumeConfig config, Verification verification) throws IOException {
        DescriptorPlan.require(config);
        if (config.locations().remote() != null) {
            return openElsewhere(config, verification);
        }
        try {
            return open(config, verification, VolumeLocations.openReadOnly(config), true);
        } catch (PosixException | CorruptionException | UnsupportedFormatException e) {
            throw e;
        } catch (IOException e) {
            log.info("the volume is recovered before it is opened for reading only: {}", e.getMessage());
        }
        VolumeContext.open(config, verification).close();
        return open(config, verification, VolumeLocations.openReadOnly(config), false);
    }

    /** Opens a volume in an object store as it is now. Its owner, which may be writing, goes on. */
    private static VolumeContext openElsewhere(VolumeConfig config, Verification verification) throws IOException {
        RemoteReader reader = RemoteReader.open(config);
        try {
            ChunkEngine.openOn(reader.toRecover(), stores -> VolumeContext.open(config, stores, verification))
                    .close();
            return open(config, verification, reader.toRead(), false);
        } catch (IOException | RuntimeException e) {
            Closing.after(e, reader::close);
            throw e;
        }
    }

    private static VolumeContext open(
            VolumeConfig config, Verification verification, VolumeStores readOnly, boolean onlyIfClosed)
            throws IOException {
        return ChunkEngine.openOn(readOnly, stores -> {
            VolumeContext context = VolumeContext.open(config, stores, verification);
            try {
                if (onlyIfClosed) {
                    requireClosedInOrder(context.metadata());
                }
                return context;
            } catch (IOException | RuntimeException e) {
                Closing.after(e, context::close);
                throw e;
            }
        });
    }

    /** Fails if a crash left bytes that only recovery stores, or files on the fast tier that may have to be made. */
    private static void requireClosedInOrder(MetadataStore metadata) throws IOException {
        try (RecordCursor<IntentRecord> intents = metadata.intents().all();
                RecordCursor<RawRecord> records = metadata.raws().all()) {
            boolean isOpen = intents.next();
            while (!isOpen && records.next()) {
                RawRecord record = records.value();
                isOpen = record != null && record.fresh();
            }
            if (isOpen) {
                throw new IOException("it was not closed in order");
            }
        }
    }
}
