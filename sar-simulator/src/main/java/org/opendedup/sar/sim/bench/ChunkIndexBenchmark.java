package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;
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
 * Throughput of the RocksDB index with segments of 256 chunks, in chunks a second, with 128 MiB of memory. The index is
 * filled first, with 512 chunks a container, and reopened, so that its cache is empty. The benchmark computes
 * fingerprints during the measurement; that costs 20 ns a chunk.
 *
 * <pre>
 * scripts/bench jmh ChunkIndexBenchmark
 * </pre>
 *
 * <p>Last measured on an Intel Xeon, JDK 17, two cores shared with other work, a million chunks: insert 550 000, new
 * chunks 362 000, a duplicate stream 3.6 million, random duplicates 285 000. Runs differ by a third. For a CPU second
 * of the calling thread, in another run with two tables for four at level 0: insert 716 000, new 639 000, duplicate
 * stream 4.9 million, random 623 000; with ten million chunks: 496 000, 1.17 million, 1.14 million, 82 000 (random
 * duplicates then read blocks that do not fit the 96 MiB of cache).
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 3, time = 3)
@Fork(1)
public class ChunkIndexBenchmark {
    private static final int SEGMENT_CHUNKS = 256;
    private static final int CONTAINER_CHUNKS = 512;
    private static final byte[] FRAME_TABLE = new byte[512];

    @Param({"1000000", "10000000"})
    public int chunks;

    private final Segment segment = new Segment(SEGMENT_CHUNKS * 8192);
    private Path folder = Path.of("");
    private ChunkIndex index = ChunkIndexes.heap();
    private long next;
    private long nextNew;

    @Setup(Level.Trial)
    public void fill() throws IOException {
        folder = Files.createTempDirectory("chunk-index");
        index = ChunkIndexes.openRocksDb(folder, 128 << 20);
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            segment.add(0, 8192, false);
        }
        for (nextNew = 0; nextNew < chunks; ) {
            insertNewSegment();
        }
        index.close();
        index = ChunkIndexes.openRocksDb(folder, 128 << 20);
    }

    @TearDown(Level.Trial)
    public void delete() throws IOException {
        index.close();
        ChunkIndexes.destroy(folder);
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public void insert() throws IOException {
        insertNewSegment();
    }

    private void insertNewSegment() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            setFingerprint(i, nextNew);
            segment.setChunkId(i, ChunkId.of(1 + nextNew / CONTAINER_CHUNKS, (int) (nextNew % CONTAINER_CHUNKS)));
            segment.setFresh(i, true);
            nextNew++;
        }
        index.insert(segment);
        if (nextNew % CONTAINER_CHUNKS == 0) {
            index.cover(nextNew / CONTAINER_CHUNKS, FRAME_TABLE);
        }
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public long lookupNew() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            setFingerprint(i, Long.MIN_VALUE + next++);
        }
        return lookup();
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public long lookupDuplicateStream() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            setFingerprint(i, next++ % chunks);
        }
        return lookup();
    }

    @Benchmark
    @OperationsPerInvocation(SEGMENT_CHUNKS)
    public long lookupRandomDuplicates() throws IOException {
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            setFingerprint(i, Long.remainderUnsigned(mix(next++), chunks));
        }
        return lookup();
    }

    private long lookup() throws IOException {
        index.lookup(segment);
        return segment.chunkId(0);
    }

    /** Sets random bytes that depend only on {@code number}. */
    private void setFingerprint(int chunk, long number) {
        ByteBuffer target =
                ByteBuffer.wrap(segment.fingerprints(), Segment.fingerprintOffset(chunk), Fingerprints.BYTES);
        for (int i = 0; i < Fingerprints.BYTES / Long.BYTES; i++) {
            target.putLong(mix(number * 4 + i));
        }
    }

    private static long mix(long value) {
        long z = (value + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
