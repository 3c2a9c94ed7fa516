package org.opendedup.sar.volume;

/**
 * A volume's figures at one moment.
 *
 * @param logicalBytes bytes that the files have, without holes; those that are not stored yet included
 * @param uniqueBytes bytes of the stored chunks before compression, garbage included
 * @param storedBytes bytes of the container files
 * @param chunks stored chunks, garbage included
 * @param containers container files
 * @param files inodes in use, directories included
 * @param readBytes bytes given to readers since the volume was opened
 * @param writtenBytes bytes taken from writers since the volume was opened
 * @param duplicateBytes of these, bytes found stored already
 * @param zeroBytes of these, bytes of zero runs
 * @param diskReads container reads since the volume was opened
 * @param diskReadBytes bytes of these
 * @param cacheHits frames found in memory
 * @param cacheMisses frames read from the disk
 * @param dirtyBytes bytes accepted and not yet ingested
 * @param commits metadata commits since the volume was opened
 * @param memoryBudgetBytes the configured budget
 * @param inodesInUse inodes that the kernel knows (its caches hold them), or that are open
 */
public record VolumeStatistics(
        long logicalBytes,
        long uniqueBytes,
        long storedBytes,
        long chunks,
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
        long inodesInUse) {

    /** Logical over unique bytes; 1 for an empty volume. */
    public double dedupRatio() {
        return uniqueBytes == 0 ? 1 : (double) logicalBytes / uniqueBytes;
    }
}
