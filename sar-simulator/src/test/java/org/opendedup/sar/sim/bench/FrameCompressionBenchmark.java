package org.opendedup.sar.sim.bench;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Compression and decompression of a container's frame of 64 KiB by one thread, in bytes of chunks a microsecond, which
 * is MB/s. The bytes are lines of numbered words, which zstd level 1 compresses to a fifth; random bytes are stored raw
 * after an attempt to compress them.
 *
 * <pre>
 * scripts/bench jmh FrameCompressionBenchmark
 * </pre>
 *
 * <p>Last result: docs/BENCHMARKS.md.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class FrameCompressionBenchmark {
    private static final int FRAME_BYTES = 64 << 10;
    private static final int FRAMES = 64;
    private static final int WORDS = 4000;

    @Param({"ZSTD", "LZ4"})
    public Compression.Codec codec = Compression.Codec.ZSTD;

    private final Random random = new Random(1);
    private final byte[][] frames = new byte[FRAMES][];
    private final byte[][] compressed = new byte[FRAMES][];
    private final byte[] noise = new byte[FRAME_BYTES];
    private final byte[] decoded = new byte[FRAME_BYTES];
    private Compressor compressor = new Compressor(new Compression(codec, 1, FRAME_BYTES));
    private byte[] target = new byte[0];
    private int next;

    @Setup
    public void fill() {
        compressor.close();
        compressor = new Compressor(new Compression(codec, 1, FRAME_BYTES));
        target = new byte[compressor.bound(FRAME_BYTES)];
        random.nextBytes(noise);
        for (int i = 0; i < FRAMES; i++) {
            frames[i] = text();
            int length = compressor.compress(frames[i], 0, FRAME_BYTES, target, 0);
            compressed[i] = Arrays.copyOf(target, length);
        }
    }

    private byte[] text() {
        StringBuilder text = new StringBuilder();
        while (text.length() < FRAME_BYTES) {
            int word = random.nextInt(WORDS);
            text.append("word-").append(word * word).append(word % 7 == 0 ? '\n' : ' ');
        }
        return Arrays.copyOf(text.toString().getBytes(StandardCharsets.US_ASCII), FRAME_BYTES);
    }

    @TearDown
    public void close() {
        compressor.close();
    }

    @Benchmark
    @OperationsPerInvocation(FRAME_BYTES)
    public int encode() {
        next = (next + 1) % FRAMES;
        return compressor.compress(frames[next], 0, FRAME_BYTES, target, 0);
    }

    @Benchmark
    @OperationsPerInvocation(FRAME_BYTES)
    public int encodeNoise() {
        return compressor.compress(noise, 0, FRAME_BYTES, target, 0);
    }

    @Benchmark
    @OperationsPerInvocation(FRAME_BYTES)
    public byte[] decode() {
        next = (next + 1) % FRAMES;
        String problem = compressor.decompress(codec, compressed[next], 0, compressed[next].length, decoded);
        if (problem != null) {
            throw new IllegalStateException(problem);
        }
        return decoded;
    }
}
