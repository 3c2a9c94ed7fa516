package org.opendedup.sar.sim.estimate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The estimate of what a volume would make of data. Bytes are exact, except {@link Figure}s.
 *
 * @param files regular files found; one with several names once
 * @param bytes their sizes
 * @param readFiles files of which all or a part was read
 * @param readBytes bytes that were read
 * @param whole whether everything was to be read and nothing stopped it. If not, all figures below are those of what
 *     was read. If that was drawn at random and nothing stopped it, the deduplication ratio of the whole is this or
 *     higher, because what was not read may repeat it; and standard errors leave out the error of drawing pieces
 * @param stopped whether it was stopped: what was read is then the beginning of the data, and its figures are no bounds
 *     for the whole
 * @param unreadable files and folders that could not be read
 * @param passedOver links, further names of a file, devices, pipes and sockets
 * @param zeroBytes holes and zero runs: only their length is stored
 * @param dataBytes all other bytes: those of the references to chunks
 * @param references number of these
 * @param chunkShare share of the different chunks that was examined; 1: all of them, and numbers of chunks are exact
 * @param chunks different chunks
 * @param uniqueBytes their bytes
 * @param dedupRatio {@code dataBytes} for each unique byte
 * @param compressionRatio unique bytes for each stored byte, including the overhead of frames, directories and
 *     containers
 * @param storedBytes bytes of container files
 * @param totalRatio bytes read, zeros included, for each stored byte
 * @param memory memory and database space of the volume
 * @param index the fingerprint index for this data and machine
 * @param sharing chunks by their references
 * @param ssd capacity of an SSD for shares of the reads
 * @param disk the disk of the predictions below
 * @param restore reading all of it back
 * @param restores reading each path back, after the earlier ones were stored
 */
public record Estimate(
        long files,
        long bytes,
        long readFiles,
        long readBytes,
        boolean whole,
        boolean stopped,
        long unreadable,
        long passedOver,
        long zeroBytes,
        long dataBytes,
        long references,
        double chunkShare,
        Figure chunks,
        Figure uniqueBytes,
        Figure dedupRatio,
        Figure compressionRatio,
        Figure storedBytes,
        Figure totalRatio,
        Memory memory,
        Index index,
        List<ReferenceRow> sharing,
        List<SsdRow> ssd,
        Disk disk,
        RestoreRow restore,
        List<RestoreRow> restores) {

    /** Returns whether the data read was drawn at random, and reading it was not stopped. */
    boolean isSample() {
        return !whole && !stopped;
    }

    /** Returns the most stored bytes of the whole, if the rest is like what was read. */
    Figure wholeStoredBytesAtMost() {
        return readBytes == 0 ? storedBytes : storedBytes.times((double) bytes / readBytes);
    }

    /**
     * What the volume needs in addition to the containers, in bytes.
     *
     * @param indexBytes fingerprint index, on the hash db location
     * @param recipeBytes recipes and counts, on the metadata location
     * @param filterBytes the index's Bloom filters, in memory
     * @param budgetBytes the smallest memory budget with room for all of the filters, at least the smallest allowed
     */
    public record Memory(long indexBytes, long recipeBytes, long filterBytes, long budgetBytes) {}

    /**
     * The fingerprint index that is recommended; see docs/INDEXES.md.
     *
     * @param indexClass value of {@code mkfs.sdfs --chunk-store-hashdb-class}
     * @param exact whether it finds all duplicates
     * @param sampling fingerprints for each one in its table; 1: all are there
     * @param chunks different chunks that the volume is expected to have
     * @param memoryBytes memory that grows with the chunks: a table or filters; of SiLo its smallest caches as well
     * @param budgetBytes the smallest memory budget with room for it, at least the smallest allowed
     * @param ramBytes the largest budget that was allowed
     * @param ssd whether it can be on an SSD
     * @param reason in words
     */
    public record Index(
            String indexClass,
            boolean exact,
            int sampling,
            long chunks,
            long memoryBytes,
            long budgetBytes,
            long ramBytes,
            boolean ssd,
            String reason) {}

    /**
     * Chunks with many references.
     *
     * @param atLeast the fewest references of these chunks
     * @param bytes bytes of the chunks, each once, before compression
     * @param readShare share of the bytes that are read from these chunks when everything is read once
     */
    public record ReferenceRow(int atLeast, Figure chunks, Figure bytes, Figure readShare) {}

    /**
     * An SSD.
     *
     * @param target wanted share of the bytes of a full restore that are read from it
     * @param reachable whether chunks with two and more references reach this share
     * @param readShare the share that they reach: the target, or the maximum
     * @param bytes its capacity, including room for cleaning its log and for the Map table's database
     * @param mapTableBytes memory of the Map table
     * @param leastReferences the fewest references of a chunk on it
     */
    public record SsdRow(
            double target, boolean reachable, double readShare, long bytes, long mapTableBytes, int leastReferences) {}

    /** A hard disk. */
    public record Disk(double seekMillis, long bytesPerSecond) {}

    /**
     * Reading back.
     *
     * @param name what is read
     * @param dataBytes bytes of it that are not zero
     * @param newBytes of these, bytes of chunks that were not stored before
     * @param containerReads number of container reads
     * @param requests number of disk requests
     * @param diskBytes bytes of these requests
     * @param bytesPerSecond predicted rate of {@code dataBytes}, from the disk's time alone. Null if the sample of
     *     chunks is too thin for a prediction: each of its chunks is then a separate request, and the three values
     *     above are those of these chunks
     * @param plainBytesPerSecond rate of the plain files, each in one piece
     */
    public record RestoreRow(
            String name,
            long dataBytes,
            Figure newBytes,
            long containerReads,
            long requests,
            long diskBytes,
            @Nullable Double bytesPerSecond,
            double plainBytesPerSecond) {}
}
