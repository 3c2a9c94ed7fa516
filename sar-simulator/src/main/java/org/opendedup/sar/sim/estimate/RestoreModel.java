package org.opendedup.sar.sim.estimate;

import java.util.Arrays;
import org.opendedup.sar.container.ContainerSize;
import org.opendedup.sar.disk.DiskModel;

/**
 * Counts the disk requests for reading data back in the order in which it was stored, from cold caches. New chunks are
 * stored one after the other in containers. What was read of a container is forgotten when the reader has advanced by a
 * window, and is read again if it is needed again. Ranges of a container whose gaps cost less than a seek are one
 * request. These are the rules of {@link org.opendedup.sar.restore.fragmentation.FragmentationAnalyzer}, here without a
 * volume. A container is divided into {@value #SLICES} slices, each about a frame.
 *
 * <p>For one thread. Memory: 16 bytes for each container.
 */
final class RestoreModel {
    private static final int SLICES = Long.SIZE;
    private static final int SLICE_BYTES = ContainerSize.FULL_BYTES / SLICES;

    private final long maxGapSlices;
    private final long windowBytes;

    private double storedBytes;
    private long readerBytes;
    /** By container: slices wanted since it was last read, and the reader's position then. */
    private long[] wanted = new long[64];

    private long[] lastWanted = new long[64];

    private long requests;
    private long slicesRead;
    private long containersRead;

    /** @param windowBytes distance that the reader advances until data is forgotten, in bytes */
    RestoreModel(DiskModel disk, long windowBytes) {
        maxGapSlices = disk.seekBytes() / SLICE_BYTES;
        this.windowBytes = windowBytes;
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
            lastWanted = Arrays.copyOf(lastWanted, wanted.length);
        }
        if (readerBytes - lastWanted[container] > windowBytes) {
            read(container);
        }
        wanted[container] |= 1L << slice;
        lastWanted[container] = readerBytes;
    }

    /** Advances the reader. */
    void advance(int bytes) {
        readerBytes += bytes;
    }

    private void read(int container) {
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
            requests++;
            slicesRead += last - first + 1;
        }
        wanted[container] = 0;
    }

    /** Counts the remaining reads, forgets everything that was read, and resets the counters. */
    DiskWork finish() {
        for (int container = 0; container < wanted.length; container++) {
            read(container);
        }
        DiskWork work = new DiskWork(containersRead, requests, slicesRead * SLICE_BYTES);
        containersRead = 0;
        requests = 0;
        slicesRead = 0;
        return work;
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
