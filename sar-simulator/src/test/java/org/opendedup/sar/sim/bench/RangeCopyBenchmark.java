package org.opendedup.sar.sim.bench;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
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
 * Throughput of copying a file of 8 GiB by its recipe, in GiB a second, on real folders, including the commits that
 * become due. The file is 512 MiB of random bytes, repeated sixteen times. {@code shift} is the offset of the target's
 * pages from the source's, in bytes.
 *
 * <pre>
 * scripts/bench jmh RangeCopyBenchmark
 * </pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 3)
@Fork(1)
public class RangeCopyBenchmark {
    private static final int GIB = 8;
    private static final long FILE_BYTES = (long) GIB << 30;
    private static final int RANDOM_BYTES = 512 << 20;
    private static final int WRITE_BYTES = 1 << 20;

    @Param({"0", "12345"})
    private int shift;

    private @Nullable Bench bench;

    @Setup
    public void makeVolume() throws IOException {
        bench = new Bench();
    }

    @TearDown
    public void removeVolume() throws IOException {
        Objects.requireNonNull(bench).close();
    }

    /** Copies to a new file each time. */
    @Benchmark
    @OperationsPerInvocation(GIB)
    public void copy() throws IOException {
        Objects.requireNonNull(bench).copy(shift);
    }

    /** A volume with the file. */
    private static final class Bench implements Closeable {
        private final Path folder = Files.createTempDirectory("range-copy");
        private final Volume volume;
        private final OpenFile source;
        private long copies;

        Bench() throws IOException {
            VolumeConfig config = new VolumeConfig(
                    "bench",
                    1L << 50,
                    95,
                    new VolumeConfig.Locations(
                            folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                    Chunking.VARIABLE_SHA256,
                    new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                    256 << 10,
                    1L << 30,
                    2,
                    new VolumeConfig.RootDirectory(0755, 0, 0));
            Volume.create(config);
            volume = Volume.open(config);
            source = make("source");
            fill();
        }

        private OpenFile make(String name) throws IOException {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            return volume.open(
                    volume.makeNode(Inode.ROOT, bytes, 0100644, 0, new Owner(0, 0))
                            .inode(),
                    true);
        }

        private void fill() throws IOException {
            byte[] bytes = new byte[WRITE_BYTES];
            Random random = new Random(1);
            for (long at = 0; at < RANDOM_BYTES; at += WRITE_BYTES) {
                random.nextBytes(bytes);
                volume.write(source, at, ByteBuffer.wrap(bytes));
            }
            for (long at = RANDOM_BYTES; at < FILE_BYTES; at *= 2) {
                volume.copy(source, 0, source, at, at);
            }
            volume.sync();
        }

        void copy(int shift) throws IOException {
            OpenFile target = make("target" + copies++);
            long copied = volume.copy(source, 0, target, shift, FILE_BYTES);
            volume.close(target);
            if (copied != FILE_BYTES) {
                throw new IllegalStateException("copied " + copied + " bytes");
            }
        }

        @Override
        public void close() throws IOException {
            volume.close(source);
            volume.close();
            try (Stream<Path> walk = Files.walk(folder)) {
                List<Path> paths = walk.sorted(Comparator.reverseOrder()).toList();
                for (Path path : paths) {
                    Files.delete(path);
                }
            }
        }
    }
}
