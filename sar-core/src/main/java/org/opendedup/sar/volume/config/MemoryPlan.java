package org.opendedup.sar.volume.config;

import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.chunkstash.ChunkStashIndexFactory;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.TransferBuffers;

/**
 * The division of a volume's memory budget, made in this class only. It covers all memory of a mounted volume except
 * the JVM's own (code, classes, threads; up to 150 MB). All figures are bytes.
 *
 * <p>The needs of the threads have priority, and do not depend on the budget: buffers outside the heap, compression
 * contexts, and the heap used by work in progress. The other parts have fixed shares of the budget, or less if these do
 * not fit in addition to the needs of the threads.
 *
 * @param budget the budget that is divided
 * @param heap the Java heap. The data held there (the parts marked "heap" below) uses less than two thirds of it; the
 *     rest is room for the garbage collector
 * @param restoreCache data that was read or read ahead (heap): {@link #frameCache} and {@link #streams}
 * @param dirty bytes accepted from writers and not stored yet (heap); 0 in a volume of chunks, whose client holds them.
 *     There the restore cache has this share, except for {@link #streamLogs}
 * @param streamLogs logs of the streams that are being written, and those that readers follow (heap); 0 in a volume of
 *     files
 * @param pendingMetadata changes that wait for their commit, twice: those accumulating and those being written (heap)
 * @param metadataCache decoded recipe pages and reference counts (heap)
 * @param frameTables decoded frame tables (heap)
 * @param framesInFlight frames being compressed and written (heap)
 * @param segments segments of runs that are being stored (heap)
 * @param indexHeap fingerprints of recently used containers, and with ChunkStash its table (heap)
 * @param nodes inodes in use (heap). Does not include the kernel's counts of further inodes that it remembers: 3 to 6
 *     bytes each, and up to 43 more for one that it has looked up more than 255 times
 * @param openFiles open files and their names, without their inodes (heap); 0 in a volume of chunks
 * @param indexNative blocks, filters and write buffers of the index database (native); with ChunkStash those of the
 *     disk index behind its log, and 0 with SiLo
 * @param metadataNative memory of the metadata database (native): a quarter for the batch of a commit and RocksDB's own
 *     needs, the rest for its cache, of which write buffers have a third
 * @param hot Map table of the SSD and list of its recent reads (heap); 0 without an SSD. Taken from the restore cache,
 *     which otherwise has 180 thousandths of the budget
 * @param offers chunks that wait to be written to the SSD, and the list of those that arrived when too many were
 *     waiting (heap); 0 without an SSD. Also taken from the restore cache. Allocated for a burst, and released after it
 * @param tierNative database of the Map table (native); 0 without an SSD. Also taken from the restore cache
 * @param raws raw files (heap); 0 if the volume has none. Also taken from the restore cache
 * @param storeReads ranges that are read from an object store, and the places of blocks in its local cache (heap); 0 if
 *     the volume is in none. Also taken from the restore cache
 * @param transfers buffers through which containers are read and written (native, included in {@link #direct})
 * @param direct all buffers that Java allocates outside the heap (native): the JVM's limit for them
 * @param compressors compression contexts (native)
 * @param check what a check of the volume sorts, and the order of that (heap)
 * @param checkNative database of a check: a copy of the metadata (native)
 */
public record MemoryPlan(
        long budget,
        long heap,
        long restoreCache,
        long dirty,
        long streamLogs,
        long pendingMetadata,
        long metadataCache,
        long frameTables,
        long framesInFlight,
        long segments,
        long indexHeap,
        long nodes,
        long openFiles,
        long indexNative,
        long metadataNative,
        long hot,
        long offers,
        long tierNative,
        long raws,
        long storeReads,
        long transfers,
        long direct,
        long compressors,
        long check,
        long checkNative) {
    /** Minimum budget in bytes; with less, the parts are too small to work. */
    public static final long MIN_BUDGET_BYTES = 256L << 20;

    private static final long MIB = 1 << 20;

    /** Bytes for write buffers and blocks of a database that is only written, except that a mount reads all of it. */
    private static final long TIER_NATIVE_BYTES = 8 * MIB;

    /**
     * Maximum bytes of chunks that wait to be written to the SSD: what an SSD of 500 MB/s writes in an eighth of a
     * second. More brings no gain; chunks that arrive then are put on the list.
     */
    private static final long MOST_OFFER_BYTES = 64 * MIB;

    /**
     * Maximum bytes for what is read from an object store, whatever the budget is: eight requests of a container each
     * under way, twice that arrived, and places for a cache of half a terabyte.
     */
    private static final long MOST_STORE_READ_BYTES = 160 * MIB;

    /**
     * Number of threads that read and write containers in addition to those that serve requests: read-ahead, storing,
     * sealing, jobs. Further threads wait.
     */
    private static final int OTHER_TRANSFERS = 8;

    /** Bytes for a restore's own buffer for its destination, and for its scratch files. */
    private static final long RESTORE_DIRECT_BYTES =
            (FileDirectory.TRANSFER_BUFFERS + 1L) * TransferBuffers.BUFFER_BYTES;

    /**
     * Bytes for what the JDK keeps for each thread that uses channels in other ways (8 KiB each), for sockets, and for
     * database queries.
     */
    private static final long OTHER_DIRECT_BYTES = 4 * MIB;

    /**
     * Number of threads that decode in addition to the workers and those that serve requests: read-ahead, the SSD's
     * readers, jobs.
     */
    private static final int OTHER_DECODERS = 16;

    /**
     * Heap for work in progress, in bytes: a restore in container order uses 25 MiB, buffers for reading containers 16.
     */
    private static final long WORK_BYTES = 41 * MIB;

    /** Maximum bytes for the sorts of a check: its tuples, and half as much to order them. */
    private static final long MOST_CHECK_BYTES = Scratch.MOST_MEMORY_BYTES / 2 * 3;

    /** Maximum bytes for the database of a check. Each record is read once, in the order of the keys. */
    private static final long MOST_CHECK_NATIVE_BYTES = 32 * MIB;

    /**
     * Maximum bytes of changes that wait for their commit, whatever the budget is. A commit writes half of it as one
     * batch. The batch needs native memory, the log's whole length, and time during which the next changes wait.
     */
    private static final long MAX_PENDING_BYTES = 128 * MIB;

    /** Maximum bytes of the intent log, whatever the budget is: a mount after a crash reads all of it. */
    private static final long MAX_INTENT_BYTES = 32 * MIB;

    /**
     * Bytes for logs of streams: 64 that are being written, with the references of a page, and three pages for each of
     * 32 readers.
     */
    private static final long STREAM_LOG_BYTES = 11 * MIB;

    /**
     * Share of the table of ChunkStash, in thousandths of a budget. It moves to the heap what the database of another
     * index has outside; the difference is room for the garbage collector.
     */
    private static final int TABLE = 90;

    /** Total of all parts with shares, in thousandths of a budget. */
    private static final int SHARED = 950;

    /** Minimum bytes of all parts with shares together; with less, they are too small to work. */
    private static final long LEAST_SHARED_BYTES = 128 * MIB;

    /** Part of the heap for changes that wait for an object store. */
    private static final int WAITING_PART = 16;

    /** Share of the restore cache for sequential readers, in quarters. */
    private static final int STREAM_QUARTERS = 3;

    /** Returns the bytes for decoded frames, for readers that are not sequential. */
    public long frameCache() {
        return restoreCache - streams();
    }

    /** Returns the bytes for chunks held for sequential readers. */
    public long streams() {
        return restoreCache / 4 * STREAM_QUARTERS;
    }

    /** Returns the bytes of tuples that a check holds in memory; ordering them takes the rest of {@link #check}. */
    public long checkTuples() {
        return check / 3 * 2;
    }

    /**
     * Returns the bytes of dirty data that may be in the intent log at most. They are dirty after a crash, so they are
     * a share of those.
     */
    public long intentLog() {
        return Math.min(MAX_INTENT_BYTES, dirty / 4);
    }

    /**
     * Returns the bytes of committed changes of the metadata that may wait in the heap for an object store. Those of
     * small commits take twice as much.
     */
    public long waitingChanges() {
        return heap / WAITING_PART;
    }

    /** Returns the number of runs that can be stored at once. */
    public int parallelRuns() {
        return (int) (segments / IngestPipeline.RUN_BYTES);
    }

    /**
     * Divides the budget of a volume.
     *
     * @throws IllegalArgumentException if the budget is too small for the needs of its threads; the message contains
     *     the required size
     */
    public static MemoryPlan of(VolumeConfig config) {
        return of(config.memoryBudgetBytes(), Needs.of(config), true);
    }

    /**
     * Divides the budget of a volume of chunks.
     *
     * @throws IllegalArgumentException as {@link #of(VolumeConfig)}
     */
    public static MemoryPlan ofChunks(VolumeConfig config) {
        return of(config.memoryBudgetBytes(), Needs.of(config), false);
    }

    /** Returns the minimum budget in bytes for the threads of a volume, whatever its own budget is. */
    public static long leastBudget(VolumeConfig config) {
        return Needs.of(config).leastBudget();
    }

    /** Divides the budget of a volume without an SSD and without a front end. */
    public static MemoryPlan of(long budget) {
        return of(budget, IndexClass.ROCKSDB);
    }

    /** Divides the budget of a volume without an SSD and without a front end. */
    public static MemoryPlan of(long budget, IndexClass index) {
        return of(budget, Needs.of("", 1, RequestBuffers.NONE, 0, false, false, false, index), true);
    }

    /**
     * The needs that do not depend on the budget.
     *
     * @param words names the threads, in the message that the budget is too small
     */
    private record Needs(
            String words,
            int writeThreads,
            long transfers,
            long direct,
            long compressors,
            long tierNative,
            boolean hasRaws,
            boolean isInStore,
            IndexClass index) {
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
                    config.hot() != null,
                    config.raw().isEnabled(),
                    config.locations().remote() != null,
                    config.index());
        }

        private static Needs of(
                String words,
                int writeThreads,
                RequestBuffers requests,
                long compressors,
                boolean withSsd,
                boolean hasRaws,
                boolean isInStore,
                IndexClass index) {
            long transfers = (long) (requests.threads() + OTHER_TRANSFERS) * TransferBuffers.BUFFER_BYTES;
            long ssdTransfers = withSsd ? (long) FileDirectory.TRANSFER_BUFFERS * TransferBuffers.BUFFER_BYTES : 0;
            long indexTransfers = index != IndexClass.ROCKSDB
                    ? (long) ChunkStashIndexFactory.TRANSFER_BUFFERS * TransferBuffers.BUFFER_BYTES
                    : 0;
            long direct = requests.bytes()
                    + transfers
                    + ssdTransfers
                    + indexTransfers
                    + RESTORE_DIRECT_BYTES
                    + OTHER_DIRECT_BYTES;
            return new Needs(
                    words,
                    writeThreads,
                    transfers,
                    direct,
                    compressors,
                    withSsd ? TIER_NATIVE_BYTES : 0,
                    hasRaws,
                    isInStore,
                    index);
        }

        /** Returns whether the index has a table in the heap instead of a database outside. */
        boolean hasTable() {
            return index != IndexClass.ROCKSDB;
        }

        /**
         * Returns the bytes for runs that are stored at once: one run for each thread that stores, and one for the
         * requesting thread. If fewer fit, threads share them.
         */
        long segments(long budget) {
            long most = (writeThreads + 1L) * IngestPipeline.RUN_BYTES;
            return Math.min(most, Math.max(2 * IngestPipeline.RUN_BYTES, permille(budget, 40)));
        }

        /** Returns the heap bytes for a check; one check runs at a time. */
        static long check(long budget) {
            return Math.min(MOST_CHECK_BYTES, permille(budget, 16));
        }

        static long checkNative(long budget) {
            return Math.min(MOST_CHECK_NATIVE_BYTES, permille(budget, 16));
        }

        /** Returns the heap bytes for all work in progress. */
        long work(long budget) {
            return WORK_BYTES + segments(budget) + check(budget);
        }

        /** Returns the bytes of a budget that are left for the parts with shares. */
        long left(long budget) {
            return budget - direct - compressors - work(budget) - checkNative(budget);
        }

        long leastBudget() {
            long least = MIN_BUDGET_BYTES;
            while (left(least) < LEAST_SHARED_BYTES) {
                least += MIB;
            }
            return least;
        }
    }

    /** @param hasFiles false: the restore cache has the share of dirty data, except for logs of streams */
    private static MemoryPlan of(long budget, Needs needs, boolean hasFiles) {
        if (budget < MIN_BUDGET_BYTES) {
            throw new IllegalArgumentException("a memory budget of " + budget + " bytes is too small; at least "
                    + MIN_BUDGET_BYTES + " are needed");
        }
        if (needs.left(budget) < LEAST_SHARED_BYTES) {
            throw new IllegalArgumentException("a memory budget of " + ByteSize.exact(budget) + " is too small for "
                    + needs.words + "; at least " + ByteSize.exact(needs.leastBudget()) + " are needed");
        }
        // The amount that all shares refer to: the budget, or less if the shares would not fit in addition to the needs
        // of the threads.
        long whole = Math.min(budget, needs.left(budget) / SHARED * 1000);
        long tierNative = needs.tierNative;
        long hot = tierNative > 0 ? permille(whole, 50) : 0;
        long pending = Math.min(MAX_PENDING_BYTES, permille(whole, 30));
        long offers = tierNative > 0 ? Math.min(MOST_OFFER_BYTES, permille(whole, 40)) : 0;
        long indexNative = permille(whole, 110);
        long indexTotal = permille(whole, 30) + (needs.hasTable() ? permille(whole, TABLE) : 0);
        long diskIndexNative =
                needs.index == IndexClass.CHUNKSTASH ? ChunkStashIndexFactory.nativeBytes(indexTotal) : 0;
        long raws = needs.hasRaws ? permille(whole, 10) : 0;
        long storeReads = needs.isInStore ? Math.min(MOST_STORE_READ_BYTES, permille(whole, 60)) : 0;
        long dirty = permille(whole, 60);
        long streamLogs = hasFiles ? 0 : Math.min(dirty, STREAM_LOG_BYTES);
        long ofDirty = hasFiles ? 0 : dirty - streamLogs;
        return new MemoryPlan(
                budget,
                permille(whole, 710)
                        + (needs.hasTable() ? indexNative - diskIndexNative : 0)
                        - tierNative
                        + extraHeap(budget, whole, needs),
                permille(whole, 180) - hot - offers - tierNative - raws - storeReads + ofDirty,
                hasFiles ? dirty : 0,
                streamLogs,
                pending,
                permille(whole, 80) - pending,
                permille(whole, 20),
                permille(whole, 30),
                needs.segments(budget),
                indexTotal - diskIndexNative,
                permille(whole, 30),
                hasFiles ? permille(whole, 20) : 0,
                needs.hasTable() ? diskIndexNative : indexNative,
                permille(whole, 130),
                hot,
                offers,
                tierNative,
                raws,
                storeReads,
                needs.transfers,
                needs.direct,
                needs.compressors,
                Needs.check(budget),
                Needs.checkNative(budget));
    }

    /**
     * Returns the extra heap for work in progress if the shares were reduced for it. Otherwise the garbage collector's
     * room is large enough.
     */
    private static long extraHeap(long budget, long whole, Needs needs) {
        return Math.min(needs.work(budget), permille(budget - whole, SHARED));
    }

    private static long permille(long budget, int share) {
        return budget / 1000 * share;
    }
}
