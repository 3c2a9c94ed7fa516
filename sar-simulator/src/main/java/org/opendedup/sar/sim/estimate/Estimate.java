package org.opendedup.sar.sim.estimate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a volume would make of data. Bytes are exact, but for {@link Figure}s.
 *
 * @param files regular files found; one with several names once
 * @param bytes their sizes
 * @param readFiles files of which all or a part was read
 * @param readBytes bytes that were read
 * @param whole whether all was to be read and nothing stopped it. If not, all figures below are those of what was read. If that was drawn
 *     by chance and nothing stopped it, the deduplication ratio of the whole is this or higher, as what was not read may repeat it; and
 *     standard errors leave out the error of drawing pieces
 * @param stopped whether it was stopped: what was read is then what came first, and its figures are no bounds for the whole
 * @param unreadable files and folders that could not be read
 * @param passedOver links, further names of a file, devices, pipes and sockets
 * @param zeroBytes holes and zero runs: they are a length only
 * @param dataBytes all other bytes: those of the references to chunks
 * @param references number of these
 * @param chunkShare share of the different chunks that was looked at; 1: all of them, and numbers of chunks are exact
 * @param chunks different chunks
 * @param uniqueBytes their bytes
 * @param dedupRatio {@code dataBytes} for each unique byte
 * @param compressionRatio unique bytes for each stored byte, what frames, directories and containers add included
 * @param storedBytes container files
 * @param totalRatio bytes read, zeros included, for each stored byte
 * @param memory what the index takes
 * @param sharing chunks by their references
 * @param ssd what an SSD must hold for shares of the reads
 * @param disk the disk of the predictions below
 * @param restore reading all of it back
 * @param restores reading each path back, the earlier ones stored before it
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
        List<ReferenceRow> sharing,
        List<SsdRow> ssd,
        Disk disk,
        RestoreRow restore,
        List<RestoreRow> restores) {

    /** Whether what was read was drawn by chance, and all of it was read. */
    boolean isSample() {
        return !whole && !stopped;
    }

    /** Stored bytes of the whole at most, if what was not read is like what was. */
    Figure wholeStoredBytesAtMost() {
        return readBytes == 0 ? storedBytes : storedBytes.times((double) bytes / readBytes);
    }

    /**
     * What the volume keeps beside the containers.
     *
     * @param indexBytes fingerprint index, on the hash db location
     * @param recipeBytes recipes and counts, on the metadata location
     * @param filterBytes the index's Bloom filters, in memory
     * @param budgetBytes the smallest memory budget with room for all of the filters, at least the smallest there is
     */
    public record Memory(long indexBytes, long recipeBytes, long filterBytes, long budgetBytes) {}

    /**
     * Chunks with many references.
     *
     * @param atLeast the fewest references of these chunks
     * @param bytes of the chunks, each once, before compression
     * @param readShare share of the bytes that they give when everything is read once
     */
    public record ReferenceRow(int atLeast, Figure chunks, Figure bytes, Figure readShare) {}

    /**
     * An SSD.
     *
     * @param target share of the bytes of a full restore that is to come from it
     * @param reachable whether chunks with two and more references give so much
     * @param readShare the share that they give: the target, or the most there is
     * @param bytes its capacity, room for cleaning its log and for the Map table's database included
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
     * @param containerReads how often a container is read
     * @param requests what the disk is asked for
     * @param diskBytes bytes of these
     * @param bytesPerSecond predicted, of {@code dataBytes}; the disk's time alone. Null if the sample of chunks is too thin to know: each
     *     of its chunks is then a request of its own, and the three above are those of these chunks
     * @param plainBytesPerSecond of the files as they are, each in one piece
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
