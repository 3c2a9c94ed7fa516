package org.opendedup.sar.sim.bench;

import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.demotion.LruList;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time to note a read in an LRU list of a million items, in nanoseconds, by one thread and by two. Chunks read for the
 * first time evict the oldest of their set; chunks read twice are found and removed the second time.
 *
 * <pre>
 * scripts/bench jmh LruListBenchmark
 * </pre>
 *
 * <p>Last measured on an Intel Xeon, JDK 17, on two cores much used by others, so in CPU time of one thread: 480 for a
 * first read, 560 for a first and a second: the first loads the set into the processor's cache.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class LruListBenchmark {
    private static final int LENGTH = 4096;

    /** The list, shared by the threads. */
    @State(Scope.Benchmark)
    public static class Shared {
        final LruList list = new LruList(1_000_000);
    }

    /** Produces the chunks that one thread reads. */
    @State(Scope.Thread)
    public static class Chunks {
        private long next = Thread.currentThread().getId() << 32;

        long next() {
            next++;
            return ChunkId.of(1 + next / 512, (int) (next % 512));
        }
    }

    @Benchmark
    public boolean firstRead(Shared shared, Chunks chunks) {
        return shared.list.noteRead(chunks.next(), LENGTH);
    }

    @Benchmark
    public boolean firstAndSecondRead(Shared shared, Chunks chunks) {
        long chunkId = chunks.next();
        boolean first = shared.list.noteRead(chunkId, LENGTH);
        boolean second = shared.list.noteRead(chunkId, LENGTH);
        return first != second;
    }

    @Benchmark
    @Threads(2)
    public boolean firstReadByTwo(Shared shared, Chunks chunks) {
        return shared.list.noteRead(chunks.next(), LENGTH);
    }
}
