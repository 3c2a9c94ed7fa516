package org.opendedup.sar.sim.bench;

import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.MapTable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time of a Map table operation, in nanoseconds, by one thread: looking up a present entry, looking up an absent one
 * (done for every duplicate that is written), and replacing an entry by another (remove and put).
 *
 * <pre>
 * scripts/bench jmh MapTableBenchmark
 * </pre>
 *
 * <p>Last measured on an Intel Xeon, JDK 17, on two cores much used by others, so in CPU time of the thread, with 100
 * 000 and with a million entries: present 50 and 200, absent 70 and 200, replaced 300 and 1200 (a look-up, moving back
 * the entries that follow, another look-up).
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class MapTableBenchmark {
    private static final int CONTAINER_CHUNKS = 512;
    /** A prime stride visits all chunks in an order without locality. */
    private static final long STRIDE = 15_485_863;

    @Param({"100000", "1000000"})
    public int entries;

    private final MapTable table = new MapTable();
    private final MapEntry entry = new MapEntry();
    private long next;
    private long oldest;
    private long newest;

    @Setup
    public void fill() {
        for (newest = 0; newest < entries; newest++) {
            put(newest);
        }
    }

    private static long chunkId(long number) {
        return ChunkId.of(1 + number / CONTAINER_CHUNKS, (int) (number % CONTAINER_CHUNKS));
    }

    private void put(long number) {
        entry.chunkId = chunkId(number);
        entry.length = 2048;
        table.put(entry);
    }

    @Benchmark
    public boolean getPresent() {
        next = (next + STRIDE) % entries;
        return table.get(chunkId(oldest + next), entry);
    }

    @Benchmark
    public boolean containsAbsent() {
        next = (next + STRIDE) % entries;
        return table.contains(chunkId(newest + next));
    }

    @Benchmark
    public void replaceOldest() {
        table.remove(chunkId(oldest++), entry);
        put(newest++);
    }
}
