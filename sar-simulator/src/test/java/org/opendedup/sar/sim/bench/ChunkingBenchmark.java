package org.opendedup.sar.sim.bench;

import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.chunk.SegmentCutter;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Throughput of cutting and fingerprinting segments of 2 MiB of random bytes, in segments a second; MB/s are 2.1 times
 * this number.
 *
 * <pre>
 * scripts/bench jmh ChunkingBenchmark
 * </pre>
 *
 * <p>Last measured on an Intel Xeon, JDK 17, two cores shared with other work: content-defined 1140 to 1180 (2.4 GB/s),
 * fixed 535 000 (it examines few bytes of each chunk), zeros 8800 (18 GB/s), fingerprints with one thread 810 (1.7
 * GB/s). With two threads no second core was available, so that figure is still to be measured.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ChunkingBenchmark {
    private static final int SEGMENT_BYTES = 2 << 20;

    private final Segment segment = new Segment(SEGMENT_BYTES);
    private final Segment zeros = new Segment(SEGMENT_BYTES);
    private final SegmentCutter variable = new SegmentCutter(Chunkers.of(Chunking.VARIABLE_SHA256));
    private final SegmentCutter fixed = new SegmentCutter(Chunkers.of(Chunking.SHA256));
    private final ExecutorService executor = Executors.newFixedThreadPool(1);
    private final Fingerprinter alone = new Fingerprinter(executor, 0);
    private final Fingerprinter helped = new Fingerprinter(executor, 1);

    @Setup
    public void fill() {
        new Random(1).nextBytes(segment.data());
        cutVariable();
    }

    @TearDown
    public void stop() {
        executor.shutdown();
    }

    @Benchmark
    public int cutVariable() {
        return cut(variable, segment);
    }

    @Benchmark
    public int cutFixed() {
        return cut(fixed, segment);
    }

    @Benchmark
    public int cutZeros() {
        return cut(variable, zeros);
    }

    private static int cut(SegmentCutter cutter, Segment segment) {
        segment.clear();
        cutter.reset();
        return cutter.cut(segment, 0, SEGMENT_BYTES, true);
    }

    @Benchmark
    public byte[] fingerprintWithOneThread() {
        alone.fingerprint(segment);
        return segment.fingerprints();
    }

    @Benchmark
    public byte[] fingerprintWithTwoThreads() {
        helped.fingerprint(segment);
        return segment.fingerprints();
    }
}
