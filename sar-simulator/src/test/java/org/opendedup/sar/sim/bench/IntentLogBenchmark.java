package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.volume.node.OpenFile;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time to write bytes to a file and to make them durable, in microseconds, by the engine without FUSE: up to 64 KiB go
 * into the intent log, more are stored in chunks first. Most of it is the fsync of the file system of
 * {@code java.io.tmpdir}. The file is written from its beginning to {@value #FILE_BYTES} bytes, again and again.
 *
 * <pre>
 * scripts/bench jmh IntentLogBenchmark
 * scripts/bench jmh IntentLogBenchmark -jvmArgs -Djava.io.tmpdir=/dev/shm
 * </pre>
 *
 * <p>Last result, and the same without a disk: docs/BENCHMARKS.md.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 3, time = 2)
@Fork(1)
public class IntentLogBenchmark {
    private static final long FILE_BYTES = 16 << 20;

    @Param({"100", "4096", "65536", "131072"})
    public int bytes;

    private byte[] data = new byte[0];
    private @Nullable SmallVolume volume;
    private @Nullable OpenFile file;
    private long offset;

    @Setup(Level.Trial)
    public void open() throws IOException {
        volume = new SmallVolume();
        file = volume.create(volume.folderOfChunks("chunks"), "file");
        data = new byte[bytes];
        offset = 0;
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
        volume().close(file());
        volume().close();
    }

    private SmallVolume volume() {
        return Objects.requireNonNull(volume);
    }

    private OpenFile file() {
        return Objects.requireNonNull(file);
    }

    @Benchmark
    public long writeAndSync() throws IOException {
        offset = offset + bytes > FILE_BYTES ? 0 : offset + bytes;
        NumberedChunks.fill(data, offset);
        volume().write(file(), offset, data);
        volume().sync(file());
        return offset;
    }
}
