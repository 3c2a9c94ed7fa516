package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.OpenFile;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Times of new files on the fast tier, in microseconds, by the engine without FUSE (TDDFS paper §3.2): to make, write
 * and remove a file of {@value #FILE_BYTES} bytes that lies whole on the fast tier, next to one in chunks; and to
 * migrate such a file. All is in one folder of {@code java.io.tmpdir}.
 *
 * <pre>
 * scripts/bench jmh TddfsBenchmark
 * scripts/bench jmh TddfsBenchmark -jvmArgs -Djava.io.tmpdir=/dev/shm
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
public class TddfsBenchmark {
    private static final int FILE_BYTES = 64 << 10;

    private final byte[] data = new byte[FILE_BYTES];
    private @Nullable SmallVolume volume;
    private long chunks;
    private long next;

    @Setup(Level.Trial)
    public void open() throws IOException {
        volume = new SmallVolume();
        chunks = volume.folderOfChunks("chunks");
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
        volume().close();
    }

    private SmallVolume volume() {
        return Objects.requireNonNull(volume);
    }

    @Benchmark
    public long makeRaw() throws IOException {
        long inode = make(Inode.ROOT);
        remove(Inode.ROOT);
        return inode;
    }

    @Benchmark
    public long makeInChunks() throws IOException {
        long inode = make(chunks);
        remove(chunks);
        return inode;
    }

    /** Also makes the file and removes it. */
    @Benchmark
    public boolean makeRawAndMigrate() throws IOException {
        boolean isMigrated = volume().migrate(make(Inode.ROOT));
        remove(Inode.ROOT);
        return isMigrated;
    }

    private long make(long folder) throws IOException {
        NumberedChunks.fill(data, ++next);
        OpenFile file = volume().create(folder, Long.toString(next));
        volume().write(file, 0, data);
        volume().close(file);
        return file.inode();
    }

    private void remove(long folder) throws IOException {
        volume().remove(folder, Long.toString(next));
    }
}
