package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sim.trace.BackupVersion;

/** Stores a trace with several indexes, one after another. */
final class IndexRun {
    private static final int SEGMENT_BYTES = 2 << 20;
    private static final double PETABYTE = 1e15;
    /** CPU time of a chunk that is found or inserted in memory, in seconds; assumed, the same for all. */
    private static final double CHUNK_SECONDS = 1e-6;
    /** A random 4 KiB read of the SAR paper's disk, and its mean rate. */
    private static final double DISK_SECONDS = 13.29e-3;

    private static final double DISK_BYTES_PER_SECOND = 72e6;
    /** The SAR paper's SSD. */
    private static final double FLASH_SECONDS = 0.0436e-3;

    private static final double FLASH_BYTES_PER_SECOND = 250e6;

    private final List<BackupVersion> versions;
    private final IndexSizes sizes;
    private final Path work;
    private long chunks;
    private long bytes;
    private final ExactModel exact;

    /**
     * Stores the trace with an exact index, which the others are compared with.
     *
     * @param work folder for the files of the volume's own indexes
     */
    IndexRun(List<BackupVersion> versions, IndexSizes sizes, Path work) throws IOException {
        this.versions = versions;
        this.sizes = sizes;
        this.work = work;
        exact = new ExactModel();
        store(exact);
        for (BackupVersion version : versions) {
            chunks += version.chunks();
            bytes += version.bytes();
        }
    }

    /** Returns the number of segments of the trace. */
    long segments() {
        return exact.segments();
    }

    /** Returns the length of the trace's data, in bytes. */
    long bytes() {
        return bytes;
    }

    /** Returns the length of the different chunks, in bytes. */
    long uniqueBytes() {
        return exact.uniqueBytes();
    }

    /**
     * A row, and what the clock said.
     *
     * @param measuredLookupsPerSecond chunks a second in this process, with what the models' reads really took
     */
    record Measured(IndexRow row, double measuredLookupsPerSecond) {}

    /** Stores the trace with an index. */
    Measured run(IndexKind kind) throws IOException {
        return run(kind, sizes);
    }

    /** Stores the trace with an index of other sizes. */
    Measured run(IndexKind kind, IndexSizes others) throws IOException {
        Path folder = Files.createTempDirectory(work, "sar-sim-index");
        try (IndexModel model = model(kind, folder, others)) {
            long nanos = store(model);
            return new Measured(row(kind, model), chunks * 1e9 / nanos);
        } finally {
            PrivateFiles.deleteFolder(folder);
        }
    }

    /** Examines what similarity finds of the trace, and what locality adds to it. */
    SimilarityStudy similarity(IndexSizes others) throws IOException {
        Path folder = Files.createTempDirectory(work, "sar-sim-index");
        try (IndexModel silo = model(IndexKind.SILO, folder, others)) {
            SimilarityStudy study = new SimilarityStudy(silo);
            forEachSegment(study::store);
            return study;
        } finally {
            PrivateFiles.deleteFolder(folder);
        }
    }

    /** Returns the bytes that each of some nodes stores if blocks of the trace are distributed over them. */
    long[] routed(int nodes, long blockBytes) throws IOException {
        BlockRouting routing = BlockRouting.modulo(nodes);
        forEachSegment(segment -> {
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                routing.add(segment.key(chunk), segment.length(chunk));
            }
            if (routing.openBytes() >= blockBytes) {
                routing.finish();
            }
        });
        routing.finish();
        return routing.stored();
    }

    /** Returns the share of the duplicates that is found if so many bytes are stored. */
    double foundShare(long storedBytes) {
        return share(bytes - storedBytes, exact.foundBytes());
    }

    /** Returns the seconds that an index on a disk takes for a GiB of the trace. */
    double secondsPerGib(IndexRow row) {
        return chunks / row.diskLookupsPerSecond() / bytes * (1 << 30);
    }

    private IndexModel model(IndexKind kind, Path folder, IndexSizes others) throws IOException {
        return switch (kind) {
            case EXACT -> new ExactModel();
            case CHUNKSTASH -> ChunkStashModel.open(folder, others.stash(chunks, bytes));
            case DDFS -> new DdfsModel(exact.uniqueChunks(), others.cachedContainers());
            case SPARSE -> new SparseModel();
            case BINNING -> new BinningModel();
            case SILO -> SiloModel.open(folder, others.silo());
        };
    }

    /** Returns the nanoseconds that the model took. */
    private long store(IndexModel model) throws IOException {
        long[] nanos = {0};
        forEachSegment(segment -> {
            long began = System.nanoTime();
            model.store(segment);
            nanos[0] += System.nanoTime() - began;
        });
        long began = System.nanoTime();
        model.finish();
        return nanos[0] + System.nanoTime() - began;
    }

    @FunctionalInterface
    private interface SegmentVisitor {
        /** @param segment used again for the next one */
        void visit(TraceSegment segment) throws IOException;
    }

    private void forEachSegment(SegmentVisitor visitor) throws IOException {
        TraceSegment segment = new TraceSegment();
        for (BackupVersion version : versions) {
            for (int chunk = 0; chunk < version.chunks(); chunk++) {
                segment.add(version.fingerprint(chunk), version.length(chunk));
                if (segment.bytes() >= SEGMENT_BYTES || chunk + 1 == version.chunks()) {
                    visitor.visit(segment);
                    segment.clear();
                }
            }
        }
    }

    private IndexRow row(IndexKind kind, IndexModel model) throws IOException {
        return new IndexRow(
                kind.toString(),
                model.foundBytes(),
                share(model.foundBytes(), exact.foundBytes()),
                share(model.foundChunks(), exact.foundChunks()),
                share(exact.foundChunks() - model.foundChunks(), chunks),
                model.sampling(),
                model.indexBytes(),
                model.indexBytes() * PETABYTE / Math.max(1, exact.uniqueBytes()),
                kind.paperBytesPerPb(),
                model.cacheBytes(),
                model.reads(),
                share(model.reads(), exact.segments()),
                lookupsPerSecond(model, DISK_SECONDS, DISK_BYTES_PER_SECOND),
                lookupsPerSecond(model, FLASH_SECONDS, FLASH_BYTES_PER_SECOND));
    }

    private double lookupsPerSecond(IndexModel model, double readSeconds, double bytesPerSecond) {
        double seconds = chunks * CHUNK_SECONDS + model.reads() * readSeconds + model.readBytes() / bytesPerSecond;
        return chunks / seconds;
    }

    private static double share(long part, long all) {
        return all == 0 ? 0 : (double) part / all;
    }
}
