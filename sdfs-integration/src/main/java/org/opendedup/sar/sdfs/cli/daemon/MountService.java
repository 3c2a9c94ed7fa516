package org.opendedup.sar.sdfs.cli.daemon;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionSource;
import org.opendedup.sar.common.LatencyBuckets;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.heal.HealSource;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.ChunkVisitor;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.objects.lease.LeaseStatus;
import org.opendedup.sar.restore.frame.ReadLatencies;
import org.opendedup.sar.scrub.ScrubSource;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.files.FileTools;
import org.opendedup.sar.sdfs.cli.files.TierTools;
import org.opendedup.sar.sdfs.cli.mounts.MountHelperOptions;
import org.opendedup.sar.sdfs.collect.Moves;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.health.DamageSource;
import org.opendedup.sar.sdfs.health.RequestFailures;
import org.opendedup.sar.sdfs.jmx.SarSource;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.config.RequestBuffers;
import org.opendedup.sar.volume.engine.Evacuation;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.store.RemoteStatistics;

/** Opens a volume and shows it as a file system. The commands reach engine and FUSE only through it. */
public interface MountService {
    /**
     * Checks options before anything is started.
     *
     * @param options options as in {@code mount -o}, without those of {@link MountHelperOptions}
     * @throws IllegalArgumentException if an option is not known; names it
     */
    void checkOptions(String options);

    /**
     * Returns the part of its memory budget that a mount with these options uses for requests. Options as in
     * {@link #checkOptions}.
     */
    RequestBuffers requestBuffers(String options);

    /**
     * Returns whether a mount with these options changes nothing of the volume. Options as in {@link #checkOptions}.
     */
    boolean isReadOnly(String options);

    /**
     * Changes the mount options that the kernel itself implements: ro and rw, suid, dev, exec, atime, sync and their
     * opposites. All others are ignored. Options as in {@link #checkOptions}.
     *
     * @throws IOException if the mount cannot be changed, for example to read-only while files are open for writing
     */
    void remount(Path mountPoint, String options) throws IOException;

    /**
     * Returns when the kernel serves the mount point from the volume. Options as in {@link #checkOptions}.
     *
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    MountedVolume mount(VolumeDefinition definition, @Nullable VolumeKeys keys, Path mountPoint, String options)
            throws IOException;

    /**
     * Returns where figures are to be served to Prometheus; empty if they are not. Options as in {@link #checkOptions}.
     */
    Optional<InetSocketAddress> metricsAddress(String options);

    /**
     * Returns the name of the group whose members may read the status; empty if none. Options as in
     * {@link #checkOptions}.
     */
    String statusGroup(String options);

    /**
     * How long requests of programs took since the volume was mounted.
     *
     * @param requests by kind of request
     * @param reads reads of files, by where their bytes came from
     */
    record Latencies(
            Map<String, LatencyBuckets.Counts> requests, Map<ReadLatencies.From, LatencyBuckets.Counts> reads) {}

    /** A volume while it is open. It ends in two steps: unmount, then close the volume. */
    interface MountedVolume extends IndexControl.Source, Closeable {

        VolumeStatistics statistics() throws IOException;

        SpaceUse space() throws IOException;

        /** See {@link Volume#remote}. */
        @Nullable
        RemoteStatistics remote();

        /** See {@link Volume#addDataLocation}. */
        void addDataLocation(Path folder) throws IOException;

        /** See {@link Volume#whenLeft}. */
        void whenLeft(Evacuation.Forgetting forgetting) throws IOException;

        /** See {@link Volume#resize}. */
        void resize(long capacityBytes, int usersPercent) throws IOException;

        /** Returns the volume's SSD; if the volume was mounted without one, a source that reports no SSD. */
        SarSource sar();

        /**
         * Explains what the SSD does for a file.
         *
         * @param path path from the volume's root, names separated by slashes
         * @param from offset in the file of the first chunk shown, in bytes
         * @throws IOException if there is no such file
         */
        FileExplanation explain(String path, long from, ChunkVisitor visitor) throws IOException;

        /** Returns what collects the volume's garbage. */
        CollectionSource collector();

        /** Returns what moves chunks before a collection. */
        Moves moves();

        /** Returns what scrubs the volume. */
        ScrubSource scrub();

        /** Returns what heals damaged chunks. */
        HealSource heal();

        /** Returns what joins copies of the same content. */
        JoinSource joins();

        /** Returns the list of damaged files, which also reports new damage. */
        DamageSource damage();

        /** Returns the snapshots. */
        SnapshotSource snapshots();

        /** Returns the backups of the volume's metadata. */
        MetadataBackups backups();

        /** See {@link ChunkSearch#find}. */
        ChunkSearch.Found findChunks(String digits) throws IOException;

        /** Returns the operations on raw files, and the fast tier on which they lie. */
        TierTools tier();

        /** Returns the operations on single files and folders. */
        FileTools files();

        /** Returns what decides whether the volume is well. */
        @Override
        VolumeCondition condition() throws IOException;

        /** Returns the requests of programs that failed since the volume was mounted. */
        RequestFailures failures();

        /** Returns how long the requests of programs took since the volume was mounted. */
        Latencies latencies();

        /** Returns as text why the volume accepts no changes: a write to a disk failed. Null while it accepts them. */
        @Nullable
        String stopped();

        /** Returns the lease of a volume in an object store; null if the volume is on this machine only. */
        default @Nullable LeaseStatus lease() {
            return null;
        }

        /**
         * Accepts changes again after a failed write to a disk. When it returns, everything accepted until then is
         * durable.
         *
         * @return whether a write had failed
         * @throws IOException if it fails again; the message says what to do
         */
        boolean resume() throws IOException;

        /** Makes everything durable that was accepted. */
        void sync() throws IOException;

        /** Waits until the file system is unmounted, by any means. */
        void awaitEnd() throws InterruptedException;

        /**
         * Unmounts, and writes back all that the kernel holds; {@link #awaitEnd} then returns.
         *
         * @throws IOException if programs use the file system, which then stays mounted
         */
        void unmount() throws IOException;

        /** Ends the mount in bounded time: unmounts or, if programs use the file system, aborts it. Idempotent. */
        void endMount() throws IOException;

        /**
         * Flushes, commits and closes the volume. Called once, after the mount has ended.
         *
         * @throws org.opendedup.sar.volume.write.UnsavedChangesException if something is lost
         */
        @Override
        void close() throws IOException;
    }
}
