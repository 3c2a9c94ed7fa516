package org.opendedup.sar.volume.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.TransferBuffers;
import org.opendedup.sar.metadata.EpochHistory;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.remote.DataBarrier;
import org.opendedup.sar.metadata.remote.RemoteMetadata;
import org.opendedup.sar.metadata.remote.ShippedKeyValueStore;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.objects.lease.LeaseObject;
import org.opendedup.sar.objects.lease.LeaseRecord;
import org.opendedup.sar.objects.reliable.Limits;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;
import org.opendedup.sar.remote.PrivatePacks;
import org.opendedup.sar.remote.ReaderRegistration;
import org.opendedup.sar.remote.RemoteDirectory;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The packs and the metadata of a volume in an object store. The metadata follow the packs: closing them ends both,
 * when the store has everything that it takes.
 */
final class RemoteStores {
    private static final Logger log = LoggerFactory.getLogger(RemoteStores.class);

    private final StoreAccess access;
    private final ReliableObjectStore store;
    private final RemoteDirectory packs;
    private final @Nullable VolumeLease lease;

    private RemoteStores(
            StoreAccess access, ReliableObjectStore store, RemoteDirectory packs, @Nullable VolumeLease lease) {
        this.access = access;
        this.store = store;
        this.packs = packs;
        this.lease = lease;
    }

    static ReliableObjectStore open(RemoteSettings settings) throws IOException {
        return ReliableObjectStore.open(settings.store(), Limits.DEFAULT);
    }

    /** Makes the metadata of a new volume. */
    static KeyValueStore create(StoreAccess access, UUID volume, long memoryBytes) throws IOException {
        // Nobody can have opened it, and who makes it at the same time fails at the first object.
        RemoteStores stores = open(access, null, new TransferBuffers(FileDirectory.TRANSFER_BUFFERS));
        try {
            return stores.metadata(volume, memoryBytes)
                    .create(access.locations().metadata(), stores.shipping());
        } catch (IOException | RuntimeException e) {
            Closing.after(e, stores::close);
            throw e;
        }
    }

    /**
     * Gets the lease of a volume, and opens its packs. A folder that another machine never had is made.
     *
     * @throws org.opendedup.sar.objects.lease.LeaseHeldException if another process uses the volume
     */
    static RemoteStores open(StoreAccess access, TransferBuffers buffers) throws IOException {
        VolumeLease lease = VolumeLease.acquire(access);
        try {
            return open(access, lease, buffers);
        } catch (IOException | RuntimeException e) {
            Closing.after(e, lease::release);
            throw e;
        }
    }

    private static RemoteStores open(StoreAccess access, @Nullable VolumeLease lease, TransferBuffers buffers)
            throws IOException {
        Path folder = access.locations().data();
        ReliableObjectStore store = open(access.settings());
        try {
            PrivateFiles.createFolders(folder);
            Directory here = FileDirectory.open(folder, buffers);
            requireSame(here, store, access.name());
            RemoteDirectory packs = RemoteDirectory.open(
                    here,
                    store,
                    new RemoteDirectory.Bounds(access.settings().cacheBytes(), access.readBytes()),
                    access.name());
            return new RemoteStores(access, store, packs, lease);
        } catch (IOException | RuntimeException e) {
            Closing.after(e, store::close);
            throw e;
        }
    }

    /**
     * Fails if the folder has packs of another volume, as when a new one was made at the address of an old one: to open
     * them puts those into the store that it lacks.
     */
    private static void requireSame(Directory folder, ObjectStore store, String volume) throws IOException {
        UUID here = VolumeIdentity.volume(folder);
        if (here == null) {
            return;
        }
        UUID there;
        try {
            there = RemoteMetadata.volumeIn(store);
        } catch (CorruptionException e) {
            throw withRemedy(e, volume);
        }
        if (!here.equals(there)) {
            throw new IOException("the data in " + folder + " belong to volume " + here + ", and " + store
                    + " has volume " + there + ": remove from this machine what it has of the former");
        }
    }

    /**
     * Opens what is in the store, as a machine finds it that has nothing of the volume. Does not become the owner, and
     * changes nothing in the store but its registration as a reader.
     *
     * @param folder for what is copied; exists, and is empty
     * @param metadata receives a copy of the metadata as they are now; missing
     */
    static Look look(StoreAccess access, Path folder, Path metadata, long memoryBytes) throws IOException {
        ObjectStore store = open(access.settings());
        try {
            UUID volume = RemoteMetadata.volumeIn(store);
            // Before the metadata are read, as of each reader.
            ReaderRegistration registration = ReaderRegistration.register(store);
            try {
                registration.start(access.name());
                RemoteMetadata remote =
                        expecting(metadata(store, volume, access.keys(), memoryBytes), access.settings(), store);
                try {
                    remote.copyTo(metadata);
                } catch (CorruptionException e) {
                    throw withRemedy(e, access.name());
                }
                registration.metadataAreCopied();
                PrivatePacks packs = packs(access, store, folder, registration);
                try (KeyValueStore copy = KeyValueStores.lookIntoRocksDb(metadata, memoryBytes)) {
                    identify(packs, copy, volume, access.keys());
                }
                return new Look(store, packs, remote.unusable(), damageOfLease(access, store));
            } catch (IOException | RuntimeException e) {
                Closing.after(e, registration::close);
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            Closing.after(e, store::close);
            throw e;
        }
    }

    private static PrivatePacks packs(
            StoreAccess access, ObjectStore store, Path folder, ReaderRegistration registration) throws IOException {
        Path own = Files.createDirectory(folder.resolve("packs"));
        Path cache = Files.createDirectory(folder.resolve("cache"));
        RemoteDirectory stored = RemoteDirectory.open(
                FileDirectory.open(cache), store, new RemoteDirectory.Bounds(0, access.readBytes()), access.name());
        return new PrivatePacks(FileDirectory.open(own), stored, registration);
    }

    /**
     * What {@link #look} opened.
     *
     * @param unusable what was found damaged in the store and was not needed, as sentences
     * @param lease why no machine can get the lease of the volume; null: it can be read
     */
    record Look(
            ObjectStore store,
            PrivatePacks packs,
            List<String> unusable,
            @Nullable String lease) implements Closeable {
        @Override
        public void close() throws IOException {
            Closing closing = new Closing();
            closing.run(packs::close);
            closing.run(store::close);
            closing.finish();
        }
    }

    /** Has the opening or copying fail if the log ends before what the lease in the store says. */
    static RemoteMetadata expecting(RemoteMetadata metadata, RemoteSettings settings, ObjectStore store)
            throws IOException {
        try {
            Optional<LeaseRecord> lease = new LeaseObject(settings.store(), store).current();
            return lease.isEmpty()
                    ? metadata
                    : expecting(metadata, settings, lease.get().note());
        } catch (CorruptionException e) {
            log.warn("the lease is not used: {}", e.getMessage());
            return metadata;
        }
    }

    private static RemoteMetadata expecting(RemoteMetadata metadata, RemoteSettings settings, String note)
            throws CorruptionException {
        return metadata.expecting(
                note.equals(LeaseRecord.NO_NOTE) ? null : note, settings.store() + "/" + LeaseObject.NAME);
    }

    private static @Nullable String damageOfLease(StoreAccess access, ObjectStore store) throws IOException {
        try {
            var unused = new LeaseObject(access.settings().store(), store).current();
            return null;
        } catch (CorruptionException e) {
            return e.getMessage();
        }
    }

    /** Says what to do about metadata in the store of which something is missing or damaged. */
    private static IOException withRemedy(CorruptionException damage, String volume) {
        return new IOException(
                damage.getMessage()
                        + ". Bring that object back from an earlier version, if the store keeps them; or mount"
                        + " the volume on the machine that used it last, which has the metadata, and scrub it there. If"
                        + " neither is possible, 'sdfs-check " + volume
                        + " --salvage-metadata' takes the newest state that can be read, and says what is lost",
                damage);
    }

    RemoteDirectory packs() {
        return packs;
    }

    ObjectStore store() {
        return store;
    }

    /** Returns the lease of a volume that is opened for use; null of one that is being made. */
    @Nullable
    LeaseKeeper lease() {
        return lease == null ? null : lease.keeper();
    }

    /**
     * Returns what is to be known of the store at any moment.
     *
     * @param metadata the metadata that were opened here
     */
    Supplier<RemoteStatistics> statistics(ShippedKeyValueStore metadata) {
        return () -> {
            IOException ofPacks = packs.failure();
            return new RemoteStatistics(
                    access.settings(),
                    packs.statistics(),
                    metadata.statistics(),
                    store.statistics(),
                    ofPacks != null ? ofPacks.getMessage() : metadata.failure(),
                    null);
        };
    }

    /** Opens the metadata and becomes their owner. */
    ShippedKeyValueStore openMetadata(long memoryBytes) throws IOException {
        return openMetadata(memoryBytes, RemoteMetadata::open);
    }

    /** How metadata are opened. */
    @FunctionalInterface
    interface Opening {
        ShippedKeyValueStore open(RemoteMetadata metadata, Path folder, RemoteMetadata.Shipping how) throws IOException;
    }

    /** Opens the metadata in another way than usual, and becomes their owner. */
    ShippedKeyValueStore openMetadata(long memoryBytes, Opening opening) throws IOException {
        UUID volume;
        ShippedKeyValueStore opened;
        try {
            volume = RemoteMetadata.volumeIn(store);
            RemoteMetadata remote = metadata(volume, memoryBytes);
            if (lease != null) {
                expecting(remote, access.settings(), lease.keeper().noted());
            }
            opened = opening.open(remote, access.locations().metadata(), shipping());
        } catch (CorruptionException e) {
            Closing.after(e, this::close);
            throw withRemedy(e, access.name());
        } catch (IOException | RuntimeException e) {
            Closing.after(e, this::close);
            throw e;
        }
        try {
            if (lease != null) {
                lease.keeper().note(opened::end);
                lease.keeper().confirm();
            }
            identify(packs, opened, volume, access.keys());
            packs.charge(access.settings().prices());
            packs.startDeletions(opened::requireOwnership);
            opened.start(access.name());
            return opened;
        } catch (IOException | RuntimeException e) {
            Closing.after(e, opened::close);
            throw e;
        }
    }

    /**
     * Makes the mark of the volume in a folder, which this machine did not have, or has from before another machine
     * used the volume. The packs in the store are those of the metadata there, whoever wrote them.
     */
    static void identify(Directory folder, KeyValueStore opened, UUID volume, @Nullable VolumeKeys keys)
            throws IOException {
        Epoch epoch =
                EpochHistory.open(KeyValueStores.sealed(opened, keys), volume).current();
        // The reading fails if the folder is another volume's.
        if (folder.exists(VolumeIdentity.NAME)
                && VolumeIdentity.read(folder, volume).equals(epoch)) {
            return;
        }
        VolumeIdentity.write(folder, epoch);
    }

    private RemoteMetadata metadata(UUID volume, long memoryBytes) {
        return metadata(store, volume, access.keys(), memoryBytes);
    }

    static RemoteMetadata metadata(ObjectStore store, UUID volume, @Nullable VolumeKeys keys, long memoryBytes) {
        KeyedHash authenticates = keys == null ? null : keys.keyedHash(Purpose.LISTS);
        return new RemoteMetadata(store, volume, authenticates, memoryBytes, InstantSource.system());
    }

    private RemoteMetadata.Shipping shipping() {
        return new RemoteMetadata.Shipping(access.settings().promise(), new Barrier(), access.shipping());
    }

    void close() throws IOException {
        close(true);
    }

    /** @param isComplete whether the store has all that was committed, so nobody needs to wait for this machine */
    private void close(boolean isComplete) throws IOException {
        Closing closing = new Closing();
        closing.run(packs::close);
        if (lease != null) {
            closing.run(isComplete ? lease::release : lease::leave);
        }
        closing.run(store::close);
        closing.finish();
    }

    private final class Barrier implements DataBarrier {
        private volatile long last;
        private volatile long stored;

        @Override
        public long mark() {
            last = packs.mark();
            return last;
        }

        @Override
        public void await(long mark) throws IOException {
            packs.await(mark);
        }

        @Override
        public void drain() {
            var unused = packs.drain();
        }

        @Override
        public void stored(long mark) {
            stored = mark;
            packs.shipped(mark);
        }

        @Override
        public void admit() throws IOException {
            if (lease != null) {
                lease.keeper().require();
            }
        }

        @Override
        public void ownerChanged(String why) {
            packs.stop();
            if (lease != null) {
                lease.keeper().lose(why);
            }
        }

        @Override
        public boolean mayRemoveMetadata() throws IOException {
            return !packs.areMetadataCopied();
        }

        @Override
        public void close() throws IOException {
            RemoteStores.this.close(stored >= last);
        }
    }
}
