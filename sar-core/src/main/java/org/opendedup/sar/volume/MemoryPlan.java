package org.opendedup.sar.volume;

/**
 * The one place where a volume's memory budget is divided. All of a mounted volume's memory is in here but the JVM's own
 * (code, classes, threads; up to 150 MB). All figures are bytes.
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
 * @param indexHeap fingerprints of recently used containers (heap)
 * @param nodes inodes in use (heap). The kernel's counts of those it remembers beyond them are not in it: 3 to 6 bytes each
 * @param indexNative the index database's blocks, filters and write buffers (native)
 * @param metadataNative the metadata database's (native)
 * @param tier Map table and list of recent reads of the SSD (heap); 0 without one. Taken from the restore cache, which has 180
 *     thousandths of the budget else
 * @param tierNative the Map table's database (native); 0 without one. Taken from the restore cache as well
 * @param buffers request and disk buffers, compression contexts (native)
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
        long indexHeap,
        long nodes,
        long indexNative,
        long metadataNative,
        long tier,
        long tierNative,
        long buffers) {
    /** Write buffers and blocks of a database that is only written, but for its reading as a whole at mount. */
    private static final long TIER_NATIVE_BYTES = 8 << 20;

    /** With less, the parts are too small to work. */
    public static final long MIN_BUDGET_BYTES = 256L << 20;

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

    /** Divides the budget of a volume. */
    public static MemoryPlan of(VolumeConfig config) {
        return of(config.memoryBudgetBytes(), config.tier() != null);
    }

    /** Divides the budget of a volume without an SSD. */
    public static MemoryPlan of(long budget) {
        return of(budget, false);
    }

    private static MemoryPlan of(long budget, boolean withSsd) {
        if (budget < MIN_BUDGET_BYTES) {
            throw new IllegalArgumentException("a memory budget of " + budget + " bytes is too small; at least "
                    + MIN_BUDGET_BYTES + " are needed");
        }
        long tier = withSsd ? permille(budget, 50) : 0;
        long tierNative = withSsd ? TIER_NATIVE_BYTES : 0;
        return new MemoryPlan(
                budget,
                permille(budget, 680) - tierNative,
                permille(budget, 180) - tier - tierNative,
                permille(budget, 60),
                permille(budget, 30),
                permille(budget, 50),
                permille(budget, 20),
                permille(budget, 30),
                permille(budget, 30),
                permille(budget, 30),
                permille(budget, 110),
                permille(budget, 130),
                tier,
                tierNative,
                permille(budget, 80));
    }

    private static long permille(long budget, int share) {
        return budget / 1000 * share;
    }
}
