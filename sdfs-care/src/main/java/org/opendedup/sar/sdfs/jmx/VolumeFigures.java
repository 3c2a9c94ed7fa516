package org.opendedup.sar.sdfs.jmx;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.parts.VolumeStatistics;

/**
 * The figures of a mounted volume of files: what {@code stats} shows, and the attributes of
 * {@code org.opendedup.sar:type=Volume,volume=<volume>}. Sizes are in bytes. The names are stable.
 */
public record VolumeFigures(
        @JsonUnwrapped StoreFigures store,

        @Figure(value = "Folder where it is mounted", unit = "path")
        String mountPoint,

        @Figure(value = "Largest number of bytes that the files may have, before deduplication", unit = "bytes")
        long capacityBytes,

        @Figure(value = "Bytes of the capacity that files do not use, including root's share", unit = "bytes")
        long freeBytes,

        @Figure(
                value = "Bytes that users other than root can write now if none is a duplicate, by capacity and"
                        + " devices",
                unit = "bytes")
        long availableBytes,

        @Figure(value = "Bytes of the files without holes and zero runs: their use of the capacity", unit = "bytes")
        long logicalBytes,

        @Figure(
                value = "Estimated bytes of second and further copies of chunks, before compression: what 'index"
                        + " join' would join. Until the first exact pass of this mount, only content of"
                        + " which two copies were written since",
                unit = "bytes")
        long storedTwiceBytes,

        @Figure(
                value = "Bytes of the log of a ChunkStash index, on its SSD; 0 with another class of index",
                unit = "bytes")
        long indexLogBytes,

        @Figure(
                value = "Bytes of the disk index behind the log of a ChunkStash index; 0 if there is none",
                unit = "bytes")
        long diskIndexBytes,

        @Figure(
                value = "Bound of a ChunkStash index and the copies of SAR on one SSD; 0 if they do not share one",
                unit = "bytes")
        long sharedSsdCapacityBytes,

        @Figure(value = "Bytes of such an SSD that the index has", unit = "bytes")
        long sharedSsdIndexBytes,

        @Figure(value = "Bytes of such an SSD that the copies may have now", unit = "bytes")
        long sharedSsdMostCopiesBytes,

        @Figure(value = "Fingerprints in the disk index behind the log of a ChunkStash index", unit = "chunks")
        long diskIndexChunks,

        @Figure(
                value = "Bytes of the files that are in chunks divided by unique bytes; does not count garbage",
                unit = "ratio")
        double dedupRatio,

        @Figure(
                value = "Bytes of the files that are in chunks divided by stored bytes, which include garbage:"
                        + " deduplication and compression",
                unit = "ratio")
        double reductionRatio,

        @Figure(value = "Inodes in use, folders included", unit = "inodes")
        long files,

        @Figure(value = "Inodes that are open or in the kernel's caches", unit = "inodes")
        long inodesInUse,

        @Figure(value = "Users, groups and folders with a limit of bytes or files", unit = "quotas")
        long quotas,

        @Figure(value = "Those of them that exceed a soft limit", unit = "quotas")
        long quotasOverSoft,

        @Figure(value = "Those of them of which less than 1 % can be taken now", unit = "quotas")
        long quotasReached,

        @Figure(value = "Snapshots that exist", unit = "snapshots")
        long snapshots,

        @Figure(
                value = "When the oldest snapshot was made, in seconds since 1970; 0 if there is none",
                unit = "seconds")
        long oldestSnapshotSeconds,

        @Figure(
                value = "When the newest snapshot was made, in seconds since 1970; 0 if there is none",
                unit = "seconds")
        long newestSnapshotSeconds,

        @Figure(value = "Deleted snapshots of which something is not freed yet", unit = "snapshots")
        long snapshotsBeingFreed,

        @Figure(value = "Written bytes of zero runs, which are not stored", unit = "bytes", counter = true)
        long zeroBytes,

        @Figure(value = "Bytes accepted and not yet stored", unit = "bytes")
        long dirtyBytes,

        @Figure(
                value = "Reads of programs that failed with an I/O error since the volume was mounted",
                unit = "requests",
                counter = true)
        long failedReads,

        @Figure(
                value = "Writes of programs that failed with an I/O error since the volume was mounted",
                unit = "requests",
                counter = true)
        long failedWrites,

        @Figure(
                value = "Syncs and closes of files that failed with an I/O error since the volume was mounted",
                unit = "requests",
                counter = true)
        long failedSyncs,

        @Figure(
                value = "Writes and syncs that found no space since the volume was mounted",
                unit = "requests",
                counter = true)
        long refusedForSpace,

        @Figure(
                value = "Warnings that the daemon logged, including those that the log only counts",
                unit = "events",
                counter = true)
        long loggedWarnings,

        @Figure(
                value = "Errors that the daemon logged, including those that the log only counts",
                unit = "events",
                counter = true)
        long loggedErrors) {
    private static final Duration SAMPLE_AGE_MAX = Duration.ofMillis(200);

    /** Returns what samples the figures of a volume that is being mounted now. */
    public static Recent<VolumeFigures> of(
            String name,
            String mountPoint,
            Beans.Call<VolumeStatistics> statistics,
            Beans.Call<SpaceUse> space,
            HealthWatch<HealthFacts> health) {
        long begunNanos = System.nanoTime();
        return new Recent<>(
                SAMPLE_AGE_MAX, () -> of(name, mountPoint, begunNanos, statistics.run(), space.run(), health.judge()));
    }

    private static VolumeFigures of(
            String name,
            String mountPoint,
            long begunNanos,
            VolumeStatistics statistics,
            SpaceUse space,
            HealthWatch.Judgement<HealthFacts> judgement) {
        HealthFacts facts = judgement.facts();
        IndexUse index = statistics.index();
        return new VolumeFigures(
                StoreFigures.of(name, begunNanos, statistics, space.deviceFreeBytes(), judgement, facts.condition()),
                mountPoint,
                space.capacityBytes(),
                space.freeBytes(),
                space.availableBytes(),
                statistics.logicalBytes(),
                statistics.storedTwiceBytes(),
                index.fastBytes(),
                index.disk().bytes(),
                index.share().capacityBytes(),
                index.share().indexBytes(),
                index.share().mostOtherBytes(),
                index.disk().chunks(),
                statistics.dedupRatio(),
                statistics.reductionRatio(),
                statistics.files(),
                statistics.inodesInUse(),
                statistics.quotas().limited(),
                statistics.quotas().overSoft(),
                statistics.quotas().reached(),
                facts.snapshots().count(),
                TimeUnit.MILLISECONDS.toSeconds(facts.snapshots().oldestMs()),
                TimeUnit.MILLISECONDS.toSeconds(facts.snapshots().newestMs()),
                facts.snapshots().beingFreed(),
                statistics.zeroBytes(),
                statistics.dirtyBytes(),
                facts.failures().reads(),
                facts.failures().writes(),
                facts.failures().syncs(),
                facts.failures().noSpace(),
                facts.loggedWarnings(),
                facts.loggedErrors());
    }
}
