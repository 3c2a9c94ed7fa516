package org.opendedup.sar.sim.data;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.chunk.SegmentCutter;
import org.opendedup.sar.ingest.IngestPipeline;

/**
 * Reads files and cuts them into chunks with the volume's own classes, one segment at a time. For one thread;
 * fingerprints are computed on all cores. Memory: two segments.
 */
public final class DataChunks implements AutoCloseable {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final SegmentCutter cutter;
    private final Segment segment;
    private final ExecutorService helpers;
    private final Fingerprinter fingerprinter;
    private final SegmentSink sink;

    /** @param sink receives the chunks */
    public DataChunks(Chunking chunking, SegmentSink sink) {
        Chunker chunker = Chunkers.of(chunking);
        cutter = new SegmentCutter(chunker);
        segment = new Segment(IngestPipeline.SEGMENT_BYTES + chunker.maxChunkBytes());
        int others = Runtime.getRuntime().availableProcessors() - 1;
        helpers = Executors.newFixedThreadPool(Math.max(1, others), task -> {
            var thread = new Thread(task, "fingerprints");
            thread.setDaemon(true);
            return thread;
        });
        fingerprinter = new Fingerprinter(helpers, others);
        this.sink = sink;
    }

    /** Reads a file as a separate stream. */
    public void read(Path file) throws IOException {
        read(file, 0, Long.MAX_VALUE);
    }

    /**
     * Reads a part of a file as a separate stream.
     *
     * @param bytes length of the part; the file may end earlier
     */
    public void read(Path file, long from, long bytes) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            if (in.skip(from) < from) {
                return;
            }
            cut(in, bytes);
        }
    }

    private void cut(InputStream in, long bytes) throws IOException {
        byte[] data = segment.data();
        long left = bytes;
        int filled = 0;
        boolean end = false;
        cutter.reset();
        while (!end) {
            int wanted = (int) Math.min(data.length - filled, left);
            int got = in.readNBytes(data, filled, wanted);
            filled += got;
            left -= got;
            end = got < wanted || left == 0;
            segment.clear();
            int consumed = cutter.cut(segment, 0, filled, end);
            if (segment.count() > 0) {
                fingerprinter.fingerprint(segment);
                sink.take(segment);
            }
            filled -= consumed;
            System.arraycopy(data, consumed, data, 0, filled);
        }
    }

    /** Returns the first 64 bits of a chunk's fingerprint: enough to distinguish chunks. */
    public static long fingerprint(Segment segment, int chunk) {
        return (long) LONG.get(segment.fingerprints(), Segment.fingerprintOffset(chunk));
    }

    @Override
    public void close() {
        helpers.shutdownNow();
    }
}
