package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.sim.restore.PackedTrace;
import org.opendedup.sar.sim.restore.Recipe;
import org.opendedup.sar.sim.restore.RestoreCost;
import org.opendedup.sar.sim.restore.RestoreSimulation;
import org.opendedup.sar.sim.trace.DriftingSeries;
import org.opendedup.sar.sim.trace.SeriesParameters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time of one reference of a restore, by policy, in nanoseconds: the window slides by a chunk, and sometimes a
 * container is read. The recipe is the tenth version of a drifting series, about as long as the first, which has
 * {@value #REFERENCES} chunks; 4 MiB containers, memory for 8 of them.
 *
 * <pre>
 * scripts/bench simulator RestoreCacheBenchmark
 * </pre>
 *
 * <p>Last measured on JDK 17, on two cores used by others as well (a load of 5): LRU 83, OPT 75, assembly 91, lookahead
 * base 77, with log 194, default 128; LRU's iterations differ by a factor of two.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Benchmark)
public class RestoreCacheBenchmark {
    private static final int REFERENCES = 100_000;
    private static final int CONTAINER_BYTES = 4 << 20;

    /** The policy measured. */
    @Param({"LRU", "OPT", "ASSEMBLY", "LOOKAHEAD_BASE", "LOOKAHEAD_LOG", "DEFAULT"})
    public CachePolicy policy = CachePolicy.LRU;

    private final PackedTrace trace = new PackedTrace(CONTAINER_BYTES, version -> version == 10);

    @Setup
    public void pack() throws IOException {
        DriftingSeries.emit(new SeriesParameters(10, REFERENCES, 40, 0.03, 0.01, 0.01, 0.05, 1), trace);
    }

    @Benchmark
    @OperationsPerInvocation(REFERENCES)
    public RestoreCost reference() {
        Recipe recipe = trace.recipes().get(0);
        CacheParameters parameters = CacheParameters.of(8L * CONTAINER_BYTES, CONTAINER_BYTES);
        return RestoreSimulation.run(recipe, trace.containers(), policy.make(parameters, ChunkHolder.NONE));
    }
}
