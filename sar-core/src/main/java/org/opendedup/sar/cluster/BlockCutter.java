package org.opendedup.sar.cluster;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.chunk.SegmentCutter;

/**
 * Cuts the bytes of files, one after another, into blocks. Each file begins a chunk. For one thread; fingerprints are
 * computed with the help of an executor. Memory: a segment and a block, twice.
 */
final class BlockCutter {
    private static final int SEGMENT_BYTES = 2 << 20;

    /** Receives the blocks in their order. */
    @FunctionalInterface
    interface Sink {
        /** @param bytes those of the block, which nothing changes any more */
        void block(int shard, byte[] bytes) throws IOException;
    }

    private final BlockShape shape;
    private final SegmentCutter cutter;
    private final Segment segment;
    private final Fingerprinter fingerprinter;
    private final Sink sink;
    private final ByteArrayOutputStream open;
    /** The lowest fingerprint of the open block, as an unsigned number. */
    private long representative = -1;

    /** @param helpers most tasks of {@code executor} that compute fingerprints at the same time */
    BlockCutter(BlockShape shape, ExecutorService executor, int helpers, Sink sink) {
        this.shape = shape;
        open = new ByteArrayOutputStream(shape.mostBytes());
        Chunker chunker = Chunkers.of(Chunking.VARIABLE_SHA256);
        cutter = new SegmentCutter(chunker);
        segment = new Segment(SEGMENT_BYTES + chunker.maxChunkBytes());
        fingerprinter = new Fingerprinter(executor, helpers);
        this.sink = sink;
    }

    /**
     * Adds the bytes of a file.
     *
     * @return their number
     */
    long add(InputStream in) throws IOException {
        byte[] data = segment.data();
        long added = 0;
        int filled = 0;
        boolean end = false;
        cutter.reset();
        while (!end) {
            int wanted = data.length - filled;
            int got = in.readNBytes(data, filled, wanted);
            filled += got;
            added += got;
            end = got < wanted;
            segment.clear();
            int consumed = cutter.cut(segment, 0, filled, end);
            fingerprinter.fingerprint(segment);
            take();
            filled -= consumed;
            System.arraycopy(data, consumed, data, 0, filled);
        }
        return added;
    }

    private void take() throws IOException {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            int length = segment.length(chunk);
            if (open.size() + length > shape.mostBytes()) {
                finish();
            }
            open.write(segment.data(), segment.offset(chunk), length);
            // Zeros say nothing of what a block is like.
            if (!segment.isZero(chunk)) {
                long key = ByteBuffer.wrap(segment.fingerprints()).getLong(Segment.fingerprintOffset(chunk));
                representative = Long.compareUnsigned(key, representative) < 0 ? key : representative;
                if (shape.endsBehind(open.size(), key)) {
                    finish();
                }
            }
        }
    }

    /** Ends the last block. */
    void finish() throws IOException {
        if (open.size() > 0) {
            byte[] bytes = open.toByteArray();
            int shard = BlockShape.shardOf(representative);
            open.reset();
            representative = -1;
            sink.block(shard, bytes);
        }
    }
}
