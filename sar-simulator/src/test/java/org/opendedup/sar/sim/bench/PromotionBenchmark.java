package org.opendedup.sar.sim.bench;

import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.demotion.DataDemotion;
import org.opendedup.sar.hot.demotion.LruList;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.SelectivePromotion;
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
 * Time that selective promotion adds to a chunk that is written again, and to one that is read from the disk, in
 * nanoseconds, by policy (SAR paper §3.4). A request has {@value #CHUNKS} chunks in runs of {@value #RUN} neighbours;
 * each chunk has as many references as the paper's threshold. The SSD takes each chunk and keeps none.
 *
 * <pre>
 * scripts/bench jmh PromotionBenchmark
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
public class PromotionBenchmark {
    private static final int CHUNKS = 256;
    private static final int RUN = 8;
    private static final int CHUNK_BYTES = 4096;
    private static final int THRESHOLD = 5;

    @Param
    public HotSettings.Policy policy = HotSettings.Policy.REFERENCE_COUNT;

    private final ChunkRequest request = new ChunkRequest();
    private final byte[] data = new byte[CHUNK_BYTES];
    private final CopiesInMemory ssd = new CopiesInMemory();
    private DataDemotion demotion = demotion(settings());
    private SelectivePromotion promotion = promotion(settings());
    private long next;

    private HotSettings settings() {
        return new HotSettings(true, 1L << 40, THRESHOLD, 128 << 10, true, 1_000_000, policy);
    }

    private DataDemotion demotion(HotSettings settings) {
        return new DataDemotion(() -> ssd, settings, chunkId -> THRESHOLD, "benchmark");
    }

    private SelectivePromotion promotion(HotSettings settings) {
        return new SelectivePromotion(settings, ssd, demotion, new LruList(settings.lruEntries())::noteRead, 0);
    }

    /** Begins anew, since the policy is known only now. */
    @Setup(Level.Trial)
    public void open() {
        demotion.close();
        demotion = demotion(settings());
        promotion = promotion(settings());
    }

    @TearDown(Level.Trial)
    public void close() {
        demotion.close();
    }

    /** Sets chunks from a number on as the request; each run lies in a container of its own. */
    private void fill(long from) {
        request.clear();
        for (int i = 0; i < CHUNKS; i++) {
            long run = (from + i) / RUN;
            request.add(ChunkId.of(1 + (run & 0xffffff), i % RUN), CHUNK_BYTES, 0, -1);
            request.setReferences(i, THRESHOLD);
            request.setData(i, data, 0, CHUNK_BYTES);
        }
    }

    @Benchmark
    @OperationsPerInvocation(CHUNKS)
    public int writtenAgain() {
        fill(next += CHUNKS);
        promotion.onDuplicatesWritten(0, request);
        return request.count();
    }

    @Benchmark
    @OperationsPerInvocation(CHUNKS)
    public int firstRead() {
        fill(next += CHUNKS);
        promotion.onChunksRead(request, chunkId -> THRESHOLD);
        return request.count();
    }

    @Benchmark
    @OperationsPerInvocation(2 * CHUNKS)
    public int firstAndSecondRead() {
        fill(next += CHUNKS);
        promotion.onChunksRead(request, chunkId -> THRESHOLD);
        promotion.onChunksRead(request, chunkId -> THRESHOLD);
        return request.count();
    }
}
