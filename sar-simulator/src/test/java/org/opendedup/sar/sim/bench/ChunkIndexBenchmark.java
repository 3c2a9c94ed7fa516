package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.NoChunkIndex;
import org.opendedup.sar.volume.store.ChunkIndexes;
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
 * Throughput of each class of index with segments of 256 chunks, in chunks a second, with 128 MiB of memory. The index
 * is filled first, with 512 chunks a container, and reopened, so that its cache is empty. The benchmark computes
 * fingerprints during the measurement; that costs 20 ns a chunk.
 *
 * <pre>
 * scripts/bench jmh ChunkIndexBenchmark
 * </pre>
 *
 * <p>{@code scripts/bench index} measures the classes side by side, with their memory and what they read and write.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 3, time = 3)
@Fork(1)
public class ChunkIndexBenchmark {
    private static final int SEGMENT_CHUNKS = NumberedChunks.SEGMENT_CHUNKS;
    private static final byte[] FRAME_TABLE = new byte[512];

    @Param({"1000000", "10000000"})
    public int chunks;

    @Param
    public IndexClass kind = IndexClass.ROCKSDB;

    private final Segment segment = NumberedChunks.segment();
    private Path folder = Path.of("");
    private ChunkIndex index = new NoChunkIndex();
    private long next;
    private long nextNew;

    @Setup(Level.Trial)
    public void fill() throws IOException {
        folder = Files.createTempDirectory("chunk-index");
        index = ChunkIndexes.open(kind, folder, 128 << 20);
        for (nextNew = 0; nextNew < chunks; ) {
            insertNewSegment();
        }
        index.close();
        index = ChunkIndexes.open(kind, folder, 128 << 20);
    }

    @TearDown(Level.Trial)
    public void delete() throws IOException {
        index.close();
        ChunkIndexes.destroy(kind, folder);
        Files.deleteIfExists(folder);
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public void insert() throws IOException {
        insertNewSegment();
    }

    private void insertNewSegment() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            NumberedChunks.setFingerprint(segment, i, nextNew);
            segment.setChunkId(i, NumberedChunks.placeOf(nextNew));
            segment.setFresh(i, true);
            nextNew++;
        }
        index.insert(segment);
        if (nextNew % NumberedChunks.CONTAINER_CHUNKS == 0) {
            index.cover(NumberedChunks.containerOf(nextNew - 1), FRAME_TABLE);
        }
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public long lookupNew() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            NumberedChunks.setFingerprint(segment, i, NumberedChunks.UNKNOWN + next++);
        }
        return lookup();
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public long lookupDuplicateStream() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            NumberedChunks.setFingerprint(segment, i, next++ % chunks);
        }
        return lookup();
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public long lookupRandomDuplicates() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            NumberedChunks.setFingerprint(segment, i, Long.remainderUnsigned(NumberedChunks.mix(next++), chunks));
        }
        return lookup();
    }

    private long lookup() throws IOException {
        index.lookup(segment);
        return segment.chunkId(0);
    }
}
