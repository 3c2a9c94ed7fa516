package org.opendedup.sar.volume.store;

import java.time.InstantSource;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.ReadOnlyDirectory;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.raw.RawFolder;

/**
 * The stores of a volume. A volume at its configured locations opens these itself; tests provide ones that simulate
 * crashes. Closing the volume closes metadata and index.
 *
 * @param containers directory of the container files
 * @param metadata the metadata database as it is stored; see {@link KeyValueStores#sealed}
 * @param index the fingerprint index
 * @param clock the time of day, for time stamps
 * @param hot opens the SSD, which is always at its configured location
 * @param raw opens the raw files on the fast tier; null: there are none
 * @param devices the devices that hold the stores; null: the device of the containers
 * @param remote what is to be known of the object store; null: the volume is on this machine only
 * @param lease what keeps other machines from using the volume; null: no other one can, or nothing is changed
 */
public record VolumeStores(
        Directory containers,
        KeyValueStore metadata,
        ChunkIndex index,
        InstantSource clock,
        HotChunks.Opener hot,
        RawFolder.@Nullable Opener raw,
        @Nullable VolumeDevices devices,
        @Nullable Supplier<RemoteStatistics> remote,
        @Nullable LeaseKeeper lease) {

    /** Makes stores on this machine. */
    public VolumeStores(
            Directory containers,
            KeyValueStore metadata,
            ChunkIndex index,
            InstantSource clock,
            HotChunks.Opener hot,
            RawFolder.@Nullable Opener raw,
            @Nullable VolumeDevices devices) {
        this(containers, metadata, index, clock, hot, raw, devices, null, null);
    }

    /** Makes stores without raw files. */
    public VolumeStores(
            Directory containers,
            KeyValueStore metadata,
            ChunkIndex index,
            InstantSource clock,
            HotChunks.Opener hot,
            @Nullable VolumeDevices devices) {
        this(containers, metadata, index, clock, hot, null, devices);
    }

    /** Makes stores that are all on the device of the containers. */
    public VolumeStores(
            Directory containers, KeyValueStore metadata, ChunkIndex index, InstantSource clock, HotChunks.Opener hot) {
        this(containers, metadata, index, clock, hot, null);
    }

    /** Makes stores that open the SSD in the normal way. */
    public VolumeStores(Directory containers, KeyValueStore metadata, ChunkIndex index, InstantSource clock) {
        this(containers, metadata, index, clock, HotChunks::open);
    }

    /** Returns whether nothing of the volume may be changed. */
    public boolean areReadOnly() {
        return containers.parts().get(0) instanceof ReadOnlyDirectory;
    }

    /** Returns these stores with what is to be known of the object store in which they are. */
    public VolumeStores withRemote(Supplier<RemoteStatistics> statistics) {
        return new VolumeStores(containers, metadata, index, clock, hot, raw, devices, statistics, lease);
    }

    /** Returns these stores with raw files. */
    public VolumeStores withRaw(RawFolder.Opener opener) {
        return new VolumeStores(containers, metadata, index, clock, hot, opener, devices, remote, lease);
    }
}
