package org.opendedup.sar.sim.bench;

import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.copies.SsdHealth;
import org.opendedup.sar.hot.distributor.DataDistributor;
import org.opendedup.sar.ssd.ChunkRequest;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time to decide whether a chunk of a read comes from the SSD or from home, in nanoseconds (SAR paper §3.6). A request
 * has {@value #CHUNKS} chunks, {@value #FRAME_CHUNKS} of each frame, and 4 frames of each container; frames are known
 * at once. A million chunks are on the SSD.
 *
 * <pre>
 * scripts/bench jmh DistributorBenchmark
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
public class DistributorBenchmark {
    private static final int CHUNKS = 256;
    private static final int FRAME_CHUNKS = 8;
    private static final int CONTAINER_CHUNKS = 32;
    private static final int CHUNK_BYTES = 8192;
    private static final int COPIES = 1_000_000;

    /** Share of the chunks that have copies, in percent. */
    @Param({"0", "50", "100"})
    public int copiesPercent;

    private final ChunkRequest request = new ChunkRequest();
    private final CopiesInMemory ssd = new CopiesInMemory();
    private final DataDistributor distributor = new DataDistributor(() -> ssd, "benchmark", SsdHealth.IGNORED);
    private long next;

    @Setup(Level.Trial)
    public void fill() {
        for (long number = 0; number < COPIES; number++) {
            ssd.put(chunkId(number), CHUNK_BYTES);
        }
    }

    @TearDown(Level.Trial)
    public void close() {
        distributor.close();
    }

    private static long chunkId(long number) {
        return ChunkId.of(1 + number / CONTAINER_CHUNKS, (int) (number % CONTAINER_CHUNKS));
    }

    @Benchmark
    @OperationsPerInvocation(CHUNKS)
    public int split() {
        request.clear();
        next = (next + CHUNKS) % (COPIES - CHUNKS);
        for (int i = 0; i < CHUNKS; i++) {
            boolean isCopied = i * 100 < copiesPercent * CHUNKS;
            request.add(chunkId(isCopied ? next + i : COPIES + next + i), CHUNK_BYTES, 0, -1);
        }
        distributor.split(request, chunkId -> ChunkId.slot(chunkId) / FRAME_CHUNKS);
        return request.count();
    }
}
