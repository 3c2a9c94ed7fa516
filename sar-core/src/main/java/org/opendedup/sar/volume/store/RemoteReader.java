package org.opendedup.sar.volume.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.ReadOnlyDirectory;
import org.opendedup.sar.io.TransferBuffers;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.remote.RemoteMetadata;
import org.opendedup.sar.metadata.remote.ShippingStatistics;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;
import org.opendedup.sar.remote.PrivatePacks;
import org.opendedup.sar.remote.ReaderRegistration;
import org.opendedup.sar.remote.RemoteDirectory;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A volume in an object store as it was at a moment, for this process alone, while another machine may own it and go
 * on. Nothing of it gets into the store but a registration, for which the owner keeps what is read here.
 *
 * <p>The metadata are copied twice, in a folder beside that of an owner: a copy that the next opening brings up to
 * date, and one that is recovered as after a crash, because the owner may be writing. What recovery stores lies in that
 * folder, too, and is deleted by the next opening.
 *
 * <p>Without an index, which only writers need, without the copies on the SSD, and without the files that lie whole on
 * the owner's fast tier.
 */
public final class RemoteReader implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(RemoteReader.class);
    private static final String SUFFIX = ".reader";

    private final VolumeConfig config;
    private final ReliableObjectStore store;
    private final PrivatePacks packs;
    private final Path own;
    private final Path fork;
    private final long openedNs = System.nanoTime();
    private boolean closed;

    private RemoteReader(VolumeConfig config, ReliableObjectStore store, PrivatePacks packs, Path own, Path fork) {
        this.config = config;
        this.store = store;
        this.packs = packs;
        this.own = own;
        this.fork = fork;
    }

    /** Registers this process as a reader, and copies the newest metadata. */
    public static RemoteReader open(VolumeConfig config) throws IOException {
        RemoteSettings settings = Objects.requireNonNull(config.locations().remote());
        ReliableObjectStore store = RemoteStores.open(settings);
        try {
            return open(config, settings, store);
        } catch (IOException | RuntimeException e) {
            Closing.after(e, store::close);
            throw e;
        }
    }

    private static RemoteReader open(VolumeConfig config, RemoteSettings settings, ReliableObjectStore store)
            throws IOException {
        UUID volume = RemoteMetadata.volumeIn(store);
        // Before the metadata are read: see Deletions.
        ReaderRegistration registration = ReaderRegistration.register(store);
        try {
            registration.start(config.name());
            Path folder = folder(config.locations().metadata());
            Path fork = folder.resolve("recovered");
            Path own = folder.resolve("packs");
            Path cache = folder.resolve("cache");
            for (Path fresh : List.of(fork, own)) {
                PrivateFiles.deleteFolder(fresh);
            }
            for (Path made : List.of(folder, own)) {
                PrivateFiles.createFolders(made);
            }
            MemoryPlan plan = MemoryPlan.of(config);
            copyMetadata(
                    RemoteStores.expecting(
                            RemoteStores.metadata(store, volume, config.keys(), plan.metadataNative()),
                            settings,
                            store),
                    folder.resolve("metadata"),
                    fork,
                    cache);
            PrivateFiles.createFolders(cache);
            registration.metadataAreCopied();
            TransferBuffers buffers = new TransferBuffers((int) (plan.transfers() / TransferBuffers.BUFFER_BYTES));
            FileDirectory ownPacks = FileDirectory.open(own, buffers);
            try (KeyValueStore copied = KeyValueStores.openRocksDb(fork, plan.metadataNative(), false)) {
                RemoteStores.identify(ownPacks, copied, volume, config.keys());
            }
            RemoteDirectory stored = RemoteDirectory.open(
                    FileDirectory.open(cache, buffers),
                    store,
                    new RemoteDirectory.Bounds(settings.cacheBytes(), plan.storeReads()),
                    config.name());
            return new RemoteReader(config, store, new PrivatePacks(ownPacks, stored, registration), own, fork);
        } catch (IOException | RuntimeException e) {
            Closing.after(e, registration::close);
            throw e;
        }
    }

    /**
     * Brings the copy of an earlier mount up to date, or makes a new one if that one is of no use.
     *
     * @param cache blocks of the packs of that mount; deleted with its copy, because they may be of another volume
     */
    private static void copyMetadata(RemoteMetadata metadata, Path copy, Path fork, Path cache) throws IOException {
        boolean isNew = Files.notExists(copy);
        if (isNew) {
            PrivateFiles.deleteFolder(cache);
        }
        try {
            metadata.copyTo(copy, fork);
        } catch (IOException e) {
            if (isNew || NoAnswer.is(e)) {
                throw e;
            }
            log.info("the copy of the metadata in {} is made anew: {}", copy, e.getMessage());
            PrivateFiles.deleteFolder(copy);
            PrivateFiles.deleteFolder(fork);
            PrivateFiles.deleteFolder(cache);
            metadata.copyTo(copy, fork);
        }
    }

    private static Path folder(Path metadata) {
        return metadata.resolveSibling(metadata.getFileName() + SUFFIX);
    }

    /**
     * Opens the stores so that they can be recovered: what changes is here alone. They must be closed before others.
     */
    public VolumeStores toRecover() throws IOException {
        DataLocations containers = DataLocations.of(packs, own);
        return stores(
                containers,
                KeyValueStores.openRocksDb(fork, MemoryPlan.of(config).metadataNative(), false));
    }

    /**
     * Opens the stores, which are recovered, so that nothing is changed. Closing the metadata closes this reader, too.
     */
    public VolumeStores toRead() throws IOException {
        DataLocations containers = DataLocations.of(packs, own).withDirectories(ReadOnlyDirectory::new);
        KeyValueStore metadata =
                KeyValueStores.lookIntoRocksDb(fork, MemoryPlan.of(config).metadataNative());
        return stores(containers, KeyValueStores.closing(metadata, this::close));
    }

    private VolumeStores stores(DataLocations containers, KeyValueStore metadata) throws IOException {
        return new VolumeStores(
                containers,
                metadata,
                ChunkIndexes.none(),
                KernelClock.machine(),
                (location, timeline, settings, memory, counts, name) ->
                        HotChunks.open(null, timeline, settings, memory, counts, name),
                null,
                new VolumeDevices(containers.device(), containers.device(), containers.device(), Ballasts.none()),
                this::statistics,
                null);
    }

    private RemoteStatistics statistics() {
        return new RemoteStatistics(
                Objects.requireNonNull(config.locations().remote()),
                packs.statistics(),
                ShippingStatistics.NONE,
                store.statistics(),
                null,
                new RemoteStatistics.Reading(
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNs), packs.isLost()));
    }

    /** Ends the registration. Idempotent. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        Closing closing = new Closing();
        closing.run(packs::close);
        closing.run(store::close);
        closing.finish();
    }
}
