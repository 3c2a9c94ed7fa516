package org.opendedup.sar.volume;

import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.Compressor;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.TransferBuffers;

/**
 * The one place where a volume's memory budget is divided. All of a mounted volume's memory is in here but the JVM's own
 * (code, classes, threads; up to 150 MB). All figures are bytes.
 *
 * <p>First comes what threads need, whatever the budget is: buffers outside the heap, compression contexts, and the heap that work
 * under way takes. The other parts have fixed shares of the budget, and less where that does not fit beside.
 *
 * @param budget what is divided
 * @param heap the Java heap: what is held there (the parts marked so below) is less than two thirds of it, the rest is the garbage
 *     collector's room
 * @param restoreCache what was read and what is read ahead (heap): {@link #frameCache} and {@link #streams}
 * @param dirty bytes accepted from writers and not stored yet (heap)
 * @param pendingMetadata changes waiting for their commit, twice: those gathering and those being written (heap)
 * @param metadataCache decoded recipe pages and reference counts (heap)
 * @param frameTables decoded frame tables (heap)
 * @param framesInFlight frames being compressed and written (heap)
 * @param segments of runs that are being stored (heap)
 * @param indexHeap fingerprints of recently used containers (heap)
 * @param nodes inodes in use (heap). The kernel's counts of those it remembers beyond them are not in it: 3 to 6 bytes each
 * @param indexNative the index database's blocks, filters and write buffers (native)
 * @param metadataNative the metadata database's (native)
 * @param tier Map table and list of recent reads of the SSD (heap); 0 without one. Taken from the restore cache, which has 180
 *     thousandths of the budget else
 * @param tierNative the Map table's database (native); 0 without one. Taken from the restore cache as well
 * @param transfers buffers through which containers are read and written (native, in {@link #direct})
 * @param direct all buffers that Java makes outside the heap (native): the JVM's limit for them
 * @param compressors compression contexts (native)
 */
public record MemoryPlan(
        long budget,
        long heap,
        long restoreCache,
        long dirty,
        long pendingMetadata,
        long metadataCache,
        long frameTables,
        long framesInFlight,
        long segments,
        long indexHeap,
        long nodes,
        long indexNative,
        long metadataNative,
        long tier,
        long tierNative,
        long transfers,
        long direct,
        long compressors) {
    /** With less, the parts are too small to work. */
    public static final long MIN_BUDGET_BYTES = 256L << 20;

    private static final long MIB = 1 << 20;

    /** Write buffers and blocks of a database that is only written, but for its reading as a whole at mount. */
    private static final long TIER_NATIVE_BYTES = 8 * MIB;

    /** Threads that read and write containers beside those of requests: read ahead, storing, sealing, jobs. More wait. */
    private static final int OTHER_TRANSFERS = 8;

    /** A restore's own buffer for its destination, and its scratch files. */
    private static final long RESTORE_DIRECT_BYTES =
            (FileDirectory.TRANSFER_BUFFERS + 1L) * TransferBuffers.BUFFER_BYTES;

    /** What the JDK keeps for each thread that uses channels otherwise (8 KiB of each), sockets, and questions to databases. */
    private static final long OTHER_DIRECT_BYTES = 4 * MIB;

    /** Threads that decode beside those of requests and the workers: read ahead, the SSD's readers, jobs. */
    private static final int OTHER_DECODERS = 16;

    /** Work under way in the heap: a restore in container order takes 25 MiB, buffers for reading containers 16. */
    private static final long WORK_BYTES = 41 * MIB;

    /** Thousandths of a budget that the parts with shares have together. */
    private static final int SHARED = 920;

    /** Bytes of all parts with shares, with less of which they are too small to work. */
    private static final long LEAST_SHARED_BYTES = 128 * MIB;

    /** Share of the restore cache for readers in sequence, in quarters. */
    private static final int STREAM_QUARTERS = 3;

    /** Decoded frames, for readers here and there. */
    public long frameCache() {
        return restoreCache - streams();
    }

    /** Chunks held for readers in sequence. */
    public long streams() {
        return restoreCache / 4 * STREAM_QUARTERS;
    }

    /** Runs that can be stored at once. */
    public int parallelRuns() {
        return (int) (segments / IngestPipeline.RUN_BYTES);
    }

    /**
     * Divides the budget of a volume.
     *
     * @throws IllegalArgumentException if it is too small for what its threads need; the message says how large it must be
     */
    public static MemoryPlan of(VolumeConfig config) {
        return of(config.memoryBudgetBytes(), Needs.of(config));
    }

    /** The least budget for the threads of a volume, whatever its own is. */
    public static long leastBudget(VolumeConfig config) {
        return Needs.of(config).leastBudget();
    }

    /** Divides the budget of a volume without an SSD that nobody serves. */
    public static MemoryPlan of(long budget) {
        return of(budget, Needs.NONE);
    }

    /**
     * What does not depend on the budget.
     *
     * @param words for the message that the budget is too small
     */
    private record Needs(
            String words, int writeThreads, long transfers, long direct, long compressors, long tierNative) {
        static final Needs NONE = of("", 1, RequestBuffers.NONE, 0, false);

        static Needs of(VolumeConfig config) {
            RequestBuffers requests = config.requests();
            int threads = config.writeThreads();
            int decoders = threads + requests.threads() + OTHER_DECODERS;
            return of(
                    threads + " write threads and " + requests.threads() + " threads that serve requests",
                    threads,
                    requests,
                    threads * Compressor.contextBytes(config.compression())
                            + decoders * Compressor.DECOMPRESSION_CONTEXT_BYTES,
                    config.tier() != null);
        }

        private static Needs of(
                String words, int writeThreads, RequestBuffers requests, long compressors, boolean withSsd) {
            long transfers = (long) (requests.threads() + OTHER_TRANSFERS) * TransferBuffers.BUFFER_BYTES;
            long ssdTransfers = withSsd ? (long) FileDirectory.TRANSFER_BUFFERS * TransferBuffers.BUFFER_BYTES : 0;
            long direct = requests.bytes() + transfers + ssdTransfers + RESTORE_DIRECT_BYTES + OTHER_DIRECT_BYTES;
            return new Needs(words, writeThreads, transfers, direct, compressors, withSsd ? TIER_NATIVE_BYTES : 0);
        }

        /** Runs that can be stored at once have this much: one for each thread that stores, and one for who asks; fewer share. */
        long segments(long budget) {
            long most = (writeThreads + 1L) * IngestPipeline.RUN_BYTES;
            return Math.min(most, Math.max(2 * IngestPipeline.RUN_BYTES, permille(budget, 40)));
        }

        /** What is left of a budget for the parts with shares. */
        long left(long budget) {
            return budget - direct - compressors - WORK_BYTES - segments(budget);
        }

        long leastBudget() {
            long least = MIN_BUDGET_BYTES;
            while (left(least) < LEAST_SHARED_BYTES) {
                least += MIB;
            }
            return least;
        }
    }

    private static MemoryPlan of(long budget, Needs needs) {
        if (budget < MIN_BUDGET_BYTES) {
            throw new IllegalArgumentException("a memory budget of " + budget + " bytes is too small; at least "
                    + MIN_BUDGET_BYTES + " are needed");
        }
        if (needs.left(budget) < LEAST_SHARED_BYTES) {
            throw new IllegalArgumentException("a memory budget of " + ByteSize.exact(budget) + " is too small for "
                    + needs.words + "; at least " + ByteSize.exact(needs.leastBudget()) + " are needed");
        }
        // What all shares are of: the budget, or less where they would not fit beside what the threads need.
        long whole = Math.min(budget, needs.left(budget) / SHARED * 1000);
        long tierNative = needs.tierNative;
        long tier = tierNative > 0 ? permille(whole, 50) : 0;
        return new MemoryPlan(
                budget,
                permille(whole, 680) - tierNative + extraHeap(budget, whole, needs),
                permille(whole, 180) - tier - tierNative,
                permille(whole, 60),
                permille(whole, 30),
                permille(whole, 50),
                permille(whole, 20),
                permille(whole, 30),
                needs.segments(budget),
                permille(whole, 30),
                permille(whole, 30),
                permille(whole, 110),
                permille(whole, 130),
                tier,
                tierNative,
                needs.transfers,
                needs.direct,
                needs.compressors);
    }

    /** The heap for work under way, where the shares were cut for it; else the garbage collector's room is large enough for it. */
    private static long extraHeap(long budget, long whole, Needs needs) {
        return Math.min(WORK_BYTES + needs.segments(budget), permille(budget - whole, SHARED));
    }

    private static long permille(long budget, int share) {
        return budget / 1000 * share;
    }
}
