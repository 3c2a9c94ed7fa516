package org.opendedup.sar.volume.parts;

import java.io.IOException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.record.Totals;

/**
 * Statistics of a volume at one moment.
 *
 * @param logicalBytes bytes of the files without holes, including bytes that are not stored yet
 * @param chunkedBytes the part of {@code logicalBytes} that is in chunks: not in the intent log, in memory or only on
 *     the fast tier
 * @param uniqueBytes bytes of the stored chunks that files refer to, before compression
 * @param garbageBytes bytes of the stored chunks that no file refers to, before compression
 * @param storedBytes bytes of the containers on their disk, compressed
 * @param reclaimableBytes estimated part of {@code storedBytes} that no file refers to, as of the last commit: what
 *     garbage collection returns, but for containers with a damaged chunk that files refer to. Includes chunks that a
 *     crash left
 * @param storedTwiceBytes estimated bytes, before compression, of second and further copies of chunks, which an exact
 *     pass would join: {@link org.opendedup.sar.join.LossSample}. Until the first pass since the volume was opened,
 *     only content counts of which two copies were stored since then
 * @param reservedBytes bytes on the devices that the volume keeps for itself: its ballasts, and the free space that
 *     only deletes may use
 * @param chunks number of stored chunks that files refer to
 * @param garbageChunks number of stored chunks that no file refers to
 * @param containers number of container files
 * @param files number of inodes in use, directories included
 * @param readBytes bytes returned to readers since the volume was opened
 * @param writtenBytes bytes accepted from writers since the volume was opened
 * @param duplicateBytes bytes of {@code writtenBytes} that were already stored
 * @param zeroBytes bytes of {@code writtenBytes} in runs of zeros
 * @param diskReads number of container reads since the volume was opened
 * @param diskReadBytes bytes of these container reads
 * @param cacheHits number of frames found in memory
 * @param cacheMisses number of frames read from the disk
 * @param dirtyBytes bytes accepted and not yet ingested
 * @param commits number of metadata commits that wrote something since the volume was opened
 * @param memoryBudgetBytes the configured memory budget, in bytes
 * @param inodesInUse number of inodes that the kernel refers to (its caches hold them), or that are open
 * @param quotas how many limits of users, groups and folders are used
 * @param index where the fingerprint index has its bytes
 */
public record VolumeStatistics(
        long logicalBytes,
        long chunkedBytes,
        long uniqueBytes,
        long garbageBytes,
        long storedBytes,
        long reclaimableBytes,
        long storedTwiceBytes,
        long reservedBytes,
        long chunks,
        long garbageChunks,
        long containers,
        long files,
        long readBytes,
        long writtenBytes,
        long duplicateBytes,
        long zeroBytes,
        long diskReads,
        long diskReadBytes,
        long cacheHits,
        long cacheMisses,
        long dirtyBytes,
        long commits,
        long memoryBudgetBytes,
        long inodesInUse,
        Quotas.Use quotas,
        IndexUse index) {
    /** Returns the statistics of an open volume at this moment. */
    public static VolumeStatistics of(VolumeContext context) throws IOException {
        Totals totals = context.metadata().totals();
        ContainerStore containers = context.containers();
        return new VolumeStatistics(
                context.capacity().takenBytes(),
                totals.logicalBytes(),
                totals.stored().bytes() - totals.stored().garbageBytes(),
                totals.stored().garbageBytes(),
                containers.storedBytes(),
                context.metadata().containers().garbageBytes(),
                context.lossSample().estimate().bytes(),
                context.devices().reservedBytes(),
                totals.stored().chunks() - totals.stored().garbageChunks(),
                totals.stored().garbageChunks(),
                containers.containers(),
                totals.files(),
                context.readBytes().sum(),
                context.writtenBytes().sum(),
                context.ingest().statistics().duplicateBytes(),
                context.ingest().statistics().zeroBytes(),
                containers.readStatistics().diskReads(),
                containers.readStatistics().diskReadBytes(),
                context.restore().cacheHits(),
                context.restore().cacheMisses(),
                context.dirtyBudget().usedBytes(),
                context.committer().commits(),
                context.memoryBudgetBytes(),
                context.nodes().inUse(),
                context.metadata().quotas().use(),
                context.index().use());
    }

    /**
     * Returns the bytes of the files in chunks divided by unique bytes, so without garbage; 1 if nothing is stored that
     * a file refers to.
     */
    public double dedupRatio() {
        return uniqueBytes == 0 ? 1 : (double) chunkedBytes / uniqueBytes;
    }

    /** Returns the bytes of the files in chunks divided by the bytes that are stored; 1 if there are none. */
    public double reductionRatio() {
        return storedBytes == 0 ? 1 : (double) chunkedBytes / storedBytes;
    }
}
