package org.opendedup.sar.sim.estimate;

import java.util.Arrays;
import java.util.Objects;
import java.util.TreeSet;
import org.opendedup.sar.container.ContainerSize;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.restore.fragmentation.DiskRanges;

/**
 * Counts the disk requests for reading data back in the order in which it was stored, from cold caches. New chunks are
 * stored one after the other in containers, and those of a path one after the other in a pack of its own: a volume
 * writes each large file, and all small ones that follow each other, to a lane of their own. What was read of a
 * container is forgotten when the reader has advanced by a window, and is read again if it is needed again. The reader
 * goes in batches, each in the order of the disk. Ranges with small gaps that a batch reads are one request, also
 * across the borders of containers. These are the rules of
 * {@link org.opendedup.sar.restore.fragmentation.FragmentationAnalyzer}, here without a volume. A container is divided
 * into {@value #SLICES} slices, each about a frame.
 *
 * <p>For one thread. Memory: 24 bytes for each container, and that of {@link DiskRanges}.
 */
final class RestoreModel {
    private static final int SLICES = Long.SIZE;
    static final int SLICE_BYTES = ContainerSize.FULL_BYTES / SLICES;

    private final long maxGapSlices;
    private final long windowBytes;
    private final long batchBytes;

    private double storedBytes;
    /** First container of each pack, which is also the number of the pack. */
    private final TreeSet<Integer> packs = new TreeSet<>();

    private long readerBytes;
    /** By container: slices wanted since it was last read, the reader's first batch then, and its last position. */
    private long[] wanted = new long[64];

    private long[] firstBatch = new long[64];
    private long[] lastWanted = new long[64];

    private DiskRanges ranges;
    private long containersRead;

    /**
     * @param windowBytes distance that the reader advances until data is forgotten, in bytes
     * @param batchBytes bytes that the reader reads at a time, in the order of the disk
     */
    RestoreModel(DiskModel disk, long windowBytes, long batchBytes) {
        maxGapSlices = disk.gapBytes() / SLICE_BYTES;
        this.windowBytes = windowBytes;
        this.batchBytes = batchBytes;
        ranges = newRanges();
        packs.add(0);
    }

    private DiskRanges newRanges() {
        return new DiskRanges(maxGapSlices * SLICE_BYTES);
    }

    /**
     * Returns whether chunks at a distance of this number of stored bytes may still be one request; farther ones never
     * are.
     */
    boolean joins(double bytes) {
        return bytes <= (maxGapSlices + 1) * SLICE_BYTES;
    }

    /** Stores data after everything stored earlier; returns the number of its slice. */
    int store(double bytes) {
        int slice = (int) (storedBytes / SLICE_BYTES);
        storedBytes += bytes;
        return slice;
    }

    /** Notes that the reader wants data of a slice. */
    void want(int slice) {
        int container = slice / SLICES;
        if (container >= wanted.length) {
            wanted = Arrays.copyOf(wanted, Math.max(container + 1, wanted.length * 2));
            firstBatch = Arrays.copyOf(firstBatch, wanted.length);
            lastWanted = Arrays.copyOf(lastWanted, wanted.length);
        }
        if (readerBytes - lastWanted[container] > windowBytes) {
            read(container);
        }
        firstBatch[container] = wanted[container] == 0 ? readerBytes / batchBytes : firstBatch[container];
        wanted[container] |= 1L << slice;
        lastWanted[container] = readerBytes;
    }

    /** Advances the reader. */
    void advance(int bytes) {
        readerBytes += bytes;
    }

    private void read(int container) {
        int pack = Objects.requireNonNull(packs.floor(container));
        long start = (long) container * SLICES * SLICE_BYTES;
        long left = wanted[container];
        containersRead += left == 0 ? 0 : 1;
        while (left != 0) {
            int first = Long.numberOfTrailingZeros(left);
            int last = first;
            for (left &= left - 1; left != 0; left &= left - 1) {
                int next = Long.numberOfTrailingZeros(left);
                if (next - last - 1 > maxGapSlices) {
                    break;
                }
                last = next;
            }
            ranges.add(pack, start + first * SLICE_BYTES, start + (last + 1) * SLICE_BYTES, firstBatch[container]);
        }
        wanted[container] = 0;
    }

    /**
     * Ends a path: counts the remaining reads, forgets everything that was read, and resets the counters. What is
     * stored afterwards lies in another pack.
     */
    DiskWork finish() {
        for (int container = 0; container < wanted.length; container++) {
            read(container);
        }
        ranges.count();
        DiskWork work = new DiskWork(containersRead, ranges.requests(), ranges.bytes());
        containersRead = 0;
        ranges = newRanges();
        beginPack();
        return work;
    }

    private void beginPack() {
        int container = (int) Math.ceil(storedBytes / ContainerSize.FULL_BYTES);
        storedBytes = (double) container * ContainerSize.FULL_BYTES;
        packs.add(container);
    }

    /**
     * The work of a disk.
     *
     * @param containers number of container reads
     * @param requests number of ranges requested
     * @param bytes bytes of these ranges
     */
    record DiskWork(long containers, long requests, long bytes) {
        DiskWork plus(DiskWork other) {
            return new DiskWork(containers + other.containers, requests + other.requests, bytes + other.bytes);
        }
    }
}
