package org.opendedup.sar.sim.bench;

import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.ChunkHash;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;
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
 * Time to slide the look-ahead window by one reference, in nanoseconds: one reference enters at its head, the current
 * one leaves, and no container is read. The window is that of memory for 8 containers of 4 MiB. Recipes pass through
 * containers in runs of {@value #RUN} chunks, which reach each container repeatedly.
 *
 * <pre>
 * scripts/bench jmh WindowSlideBenchmark
 * </pre>
 *
 * <p>Last result: docs/BENCHMARKS.md.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class WindowSlideBenchmark {
    private static final int CONTAINER_BYTES = 4 << 20;
    private static final int CHUNK_BYTES = 8 << 10;
    private static final int CONTAINERS = 1000;
    private static final int RUN = 16;
    private static final int RUNS_PER_CONTAINER = CONTAINER_BYTES / CHUNK_BYTES / RUN;

    /** A policy that decides by container, and one that decides by chunk. */
    @Param({"LOOKAHEAD_BASE", "DEFAULT"})
    public CachePolicy policy = CachePolicy.DEFAULT;

    private ContainerCache cache = make();
    private long current;
    private long head;

    private ContainerCache make() {
        return policy.make(CacheParameters.of(8L * CONTAINER_BYTES, CONTAINER_BYTES), ChunkHolder.NONE);
    }

    @Setup
    public void fill() {
        cache = make();
        current = 0;
        for (head = 0; head * CHUNK_BYTES < cache.windowBytes(); head++) {
            cache.ahead(chunkId(head), CHUNK_BYTES);
        }
    }

    private static long chunkId(long position) {
        long run = ChunkHash.of(position / RUN) & Long.MAX_VALUE;
        int slot = (int) (run / CONTAINERS % RUNS_PER_CONTAINER) * RUN + (int) (position % RUN);
        return ChunkId.of(1 + run % CONTAINERS, slot);
    }

    @Benchmark
    public boolean slide() {
        cache.ahead(chunkId(head++), CHUNK_BYTES);
        boolean held = cache.contains(chunkId(current++));
        cache.advance();
        return held;
    }
}
