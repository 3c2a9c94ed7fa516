package org.opendedup.sar.volume.store;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.ReadOnlyDirectory;
import org.opendedup.sar.io.TransferBuffers;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.repair.MetadataSalvage;
import org.opendedup.sar.objects.lease.LeaseObject;
import org.opendedup.sar.remote.PackObjects;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The packs and the metadata of a volume that is not mounted, for tools: in folders of this machine, or in an object
 * store. The metadata database of a volume in folders is locked meanwhile, so no mount can begin.
 */
public final class UnmountedStores implements Closeable {
    /** Native memory for the metadata database, in bytes. */
    private static final long DATABASE_BYTES = 64 << 20;

    /** What to do about a lease that cannot be read. */
    public static final String LEASE_REMEDY = LeaseObject.REMEDY;

    private final DataLocations data;
    private final KeyValueStore metadata;
    private final CheckFolder folder;
    private final @Nullable PackObjects objects;
    private final List<String> unusable;
    private final @Nullable String lease;
    private final Closeable more;

    private UnmountedStores(
            DataLocations data,
            KeyValueStore metadata,
            CheckFolder folder,
            @Nullable PackObjects objects,
            List<String> unusable,
            @Nullable String lease,
            Closeable more) {
        this.data = data;
        this.metadata = metadata;
        this.folder = folder;
        this.objects = objects;
        this.unusable = unusable;
        this.lease = lease;
        this.more = more;
    }

    /**
     * Opens a volume for reading; nothing of it is changed. Of a volume in an object store, this is what another
     * machine finds there now, also while the volume is mounted: the metadata are copied, and what this machine has of
     * the volume is not looked at.
     *
     * @param name name of the volume
     * @param keys of an encrypted volume; null: it is not encrypted
     * @throws IOException if it cannot be read: it is in use, or a location is missing
     */
    public static UnmountedStores look(String name, VolumeConfig.Locations locations, @Nullable VolumeKeys keys)
            throws IOException {
        if (locations.remote() == null) {
            DataLocations data = data(locations);
            return of(
                    locations, data, KeyValueStores.lookIntoRocksDb(locations.metadata(), DATABASE_BYTES), keys, null);
        }
        StoreAccess access = new StoreAccess(name, locations, keys);
        // Not in the folder of the metadata, which has the database and nothing else.
        CheckFolder folder = CheckFolder.beside(locations.metadata());
        try {
            RemoteStores.Look remote = RemoteStores.look(access, folder.path(), folder.cut(), DATABASE_BYTES);
            try {
                KeyValueStore copy = KeyValueStores.lookIntoRocksDb(folder.cut(), DATABASE_BYTES);
                DataLocations data =
                        DataLocations.of(remote.packs(), folder.path()).withDirectories(ReadOnlyDirectory::new);
                return new UnmountedStores(
                        data,
                        KeyValueStores.sealed(copy, keys),
                        folder,
                        new PackObjects(remote.store()),
                        remote.unusable(),
                        remote.lease(),
                        remote);
            } catch (IOException | RuntimeException e) {
                Closing.after(e, remote::close);
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    /** As the other one, by the settings of the volume. */
    public static UnmountedStores change(VolumeConfig config) throws IOException {
        return change(config.name(), config.locations(), config.keys());
    }

    /**
     * Opens a volume to change its metadata. Of a volume in an object store, this machine becomes the owner, as by a
     * mount: what it has of the volume follows into the store, and so do the changes, at the latest when it is closed.
     *
     * @throws IOException if it cannot be changed: it is in use, or a location is missing
     */
    public static UnmountedStores change(String name, VolumeConfig.Locations locations, @Nullable VolumeKeys keys)
            throws IOException {
        if (locations.remote() == null) {
            DataLocations data = data(locations);
            return of(
                    locations,
                    data,
                    KeyValueStores.openRocksDb(locations.metadata(), DATABASE_BYTES, false),
                    keys,
                    null);
        }
        VolumeLocations.makeLocalFolders(locations);
        RemoteStores remote = RemoteStores.open(
                new StoreAccess(name, locations, keys), new TransferBuffers(FileDirectory.TRANSFER_BUFFERS));
        DataLocations data;
        try {
            data = DataLocations.of(remote.packs(), locations.data());
        } catch (IOException | RuntimeException e) {
            Closing.after(e, remote::close);
            throw e;
        }
        return of(locations, data, remote.openMetadata(DATABASE_BYTES), keys, remote);
    }

    /**
     * Makes a volume in an object store usable again whose metadata there cannot all be read: takes the newest state
     * that can be read, and gives up what followed it, for good. Becomes the owner, as {@link #change} does.
     *
     * @return what is lost, as a sentence
     * @throws org.opendedup.sar.common.CorruptionException if no state can be read; nothing was changed
     */
    public static String salvage(String name, VolumeConfig.Locations locations, @Nullable VolumeKeys keys)
            throws IOException {
        VolumeLocations.makeLocalFolders(locations);
        RemoteStores remote = RemoteStores.open(
                new StoreAccess(name, locations, keys), new TransferBuffers(FileDirectory.TRANSFER_BUFFERS));
        List<String> lost = new ArrayList<>();
        try (KeyValueStore opened = KeyValueStores.sealed(
                remote.openMetadata(
                        DATABASE_BYTES, (metadata, folder, how) -> metadata.salvage(folder, how, lost::add)),
                keys)) {
            MetadataSalvage.skipLostNumbers(opened);
        }
        return lost.get(0);
    }

    private static DataLocations data(VolumeConfig.Locations locations) throws IOException {
        VolumeLocations.requirePresent(locations);
        return DataLocations.open(locations);
    }

    private static UnmountedStores of(
            VolumeConfig.Locations locations,
            DataLocations data,
            KeyValueStore metadata,
            @Nullable VolumeKeys keys,
            @Nullable RemoteStores remote)
            throws IOException {
        try {
            CheckFolder folder = CheckFolder.make(locations.metadata());
            PackObjects objects = remote == null ? null : new PackObjects(remote.store());
            return new UnmountedStores(
                    data, KeyValueStores.sealed(metadata, keys), folder, objects, List.of(), null, () -> {});
        } catch (IOException | RuntimeException e) {
            Closing.after(e, metadata::close);
            throw e;
        }
    }

    public DataLocations data() {
        return data;
    }

    /** Returns the metadata as they are read and written. */
    public KeyValueStore metadata() {
        return metadata;
    }

    /** Returns a folder for what a check sorts. */
    public CheckFolder folder() {
        return folder;
    }

    /** Returns the objects of the packs of a volume in an object store; null if it is in folders. */
    public @Nullable PackObjects objects() {
        return objects;
    }

    /** Returns what {@link #look} found damaged in the object store and did not need, as sentences. */
    public List<String> unusable() {
        return unusable;
    }

    /** Returns why {@link #look} could not read the lease of the volume; null: it could, or there is none. */
    public @Nullable String damageOfLease() {
        return lease;
    }

    /** Closes what {@link #data} and {@link #metadata} returned, also if it is closed already. */
    @Override
    public void close() throws IOException {
        Closing closing = new Closing();
        closing.run(metadata::close);
        closing.run(more::close);
        closing.run(folder::close);
        closing.finish();
    }
}
