package org.opendedup.sar.sim.sar;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.SyntheticTrace;
import org.opendedup.sar.sim.block.TraceProfile;
import org.openjdk.jmh.annotations.AuxCounters;
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
 * Throughput of replaying a trace that was made earlier, as in the warm-up: the stored data and the decisions of the
 * policies, without devices. One replay is {@value #DAYS} days like web-vm, 2.3 million blocks, by a new system with an
 * SSD of 500 MB. {@code blocks} counts them.
 *
 * <pre>
 * scripts/bench simulator
 * </pre>
 *
 * <p>Last result: docs/BENCHMARKS.md.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 1, time = 5)
@Measurement(iterations = 3, time = 5)
@Fork(1)
public class ReplayBenchmark {
    private static final int DAYS = 4;
    private static final long SSD_BYTES = 500_000_000;
    private static final int THRESHOLD = 5;
    private static final long ARRAY_BYTES = 1L << 40;

    @Param({"dedupe", "cache-lba", "cache-content", "sar", "sar-cost"})
    public String system = "sar";

    private final Requests requests = new Requests();

    /** Blocks replayed in a second. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.OPERATIONS)
    public static class Count {
        public long blocks;
    }

    /** A trace in memory. */
    private static final class Requests {
        private long[] firstBlocks = new long[1024];
        private boolean[] writes = new boolean[1024];
        /** Start of the contents of each request, and the end of the last. */
        private int[] starts = new int[1025];

        private long[] contents = new long[4096];
        private int count;

        void add(BlockRequest request) {
            if (count == firstBlocks.length) {
                firstBlocks = Arrays.copyOf(firstBlocks, 2 * count);
                writes = Arrays.copyOf(writes, 2 * count);
                starts = Arrays.copyOf(starts, 2 * count + 1);
            }
            int start = starts[count];
            if (start + request.count() > contents.length) {
                contents = Arrays.copyOf(contents, 2 * contents.length);
            }
            for (int i = 0; i < request.count(); i++) {
                contents[start + i] = request.content(i);
            }
            firstBlocks[count] = request.firstBlock();
            writes[count] = request.isWrite();
            starts[++count] = start + request.count();
        }

        void get(int number, BlockRequest into) {
            into.begin(0, writes[number], firstBlocks[number]);
            for (int i = starts[number]; i < starts[number + 1]; i++) {
                into.add(contents[i]);
            }
        }

        long blocks() {
            return starts[count];
        }
    }

    @Setup
    public void record() {
        SyntheticTrace trace = new SyntheticTrace(TraceProfile.named("web-vm"), DAYS, 1);
        BlockRequest request = new BlockRequest();
        while (trace.next(request)) {
            requests.add(request);
        }
    }

    @Benchmark
    public long replay(Count count) throws IOException {
        BlockRequest request = new BlockRequest();
        try (StorageSystem replayed = SystemKind.of(system)
                .create(new DiskPlaces(ARRAY_BYTES), SSD_BYTES, THRESHOLD, DedupMap.Counting.EVER)) {
            for (int i = 0; i < requests.count; i++) {
                requests.get(i, request);
                replayed.serve(request, TransferSink.NONE);
            }
            count.blocks += requests.blocks();
            return replayed.memoryBytes();
        }
    }
}
