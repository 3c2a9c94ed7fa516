package org.opendedup.sar.sim.estimate;

import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.container.StoredSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.ssd.SsdSize;

/**
 * Measures the compressed size of stored chunks: puts new chunks into frames, as the volume does, and compresses some
 * of them. For a chunk that the {@link ChunkSample} does not cover it is not known whether it is new. It is assumed to
 * be as the last chunk for which this is known, because duplicates are usually neighbours. Such a chunk fills the
 * frame, but adds no weight: a frame weighs as much as the new chunks of the sample in it, each multiplied by the
 * number of chunks that it represents. If all chunks are covered and all frames are compressed, these are the volume's
 * own frames.
 *
 * <p>For one thread. Memory: a frame, and its compressed bytes.
 */
final class FrameSample implements AutoCloseable {
    /**
     * First of the bits of a hash that select whether the frame that begins with this chunk is compressed; the chunk
     * sample uses other bits.
     */
    private static final int CHOICE_SHIFT = 40;
    /**
     * Weight of a new ratio is an eighth, as in the volume's check whether a container is full; but the first ratios
     * weigh the same, so that no assumed ratio remains in their mean.
     */
    private static final int RECENT_FRAMES = 8;

    private final Compressor compressor;
    private final Compressor ssdCompressor = new Compressor(SsdSize.COMPRESSION);
    private final int frameBytes;
    private final long choiceMask;

    private final byte[] raw;
    private final byte[] compressed;
    private int filled;
    private int firstLength;
    private int listBytes;
    private double weight;
    /** Whether the last chunk for which this is known was new. */
    private boolean amongNew = true;

    private boolean chosen;

    private double recentRatio = 1;
    private int recentFrames;
    private boolean leftOut;
    private double weights;
    private double weightedRatios;
    private double squaredWeights;
    private double squaredWeightRatios;
    private double squaredWeightSquaredRatios;
    private double copyBytes;
    private double copiedBytes;

    /**
     * Makes an empty sample.
     *
     * @param compression compression of the volume
     * @param level one of 2 to the power of this many frames is compressed, at random; 0: all are
     */
    FrameSample(Compression compression, int level) {
        compressor = new Compressor(compression);
        frameBytes = compression.frameBytes();
        choiceMask = (1L << level) - 1;
        raw = new byte[frameBytes];
        compressed = new byte[Math.max(compressor.bound(frameBytes), ssdCompressor.bound(frameBytes))];
    }

    /**
     * Adds a new chunk of the sample.
     *
     * @param hash hash of the chunk, as of {@link ChunkSample#hash}
     * @param share share of the chunks that the sample covers
     */
    void addNew(Segment segment, int chunk, long hash, double share) {
        amongNew = true;
        append(segment, chunk, hash);
        weight += segment.length(chunk) / share;
        finishIfFull();
    }

    /** Skips a chunk of the sample that is a duplicate. */
    void skipDuplicate() {
        amongNew = false;
    }

    /** Adds a chunk that the sample does not cover, if it seems to be new. */
    void addUnknown(Segment segment, int chunk, long hash) {
        leftOut = true;
        if (amongNew) {
            append(segment, chunk, hash);
            finishIfFull();
        }
    }

    private void append(Segment segment, int chunk, long hash) {
        int length = segment.length(chunk);
        if (filled > 0 && filled + length > frameBytes) {
            finish();
        }
        if (filled == 0) {
            firstLength = length;
            chosen = (hash >>> CHOICE_SHIFT & choiceMask) == 0;
        }
        System.arraycopy(segment.data(), segment.offset(chunk), raw, filled, length);
        filled += length;
        listBytes += StoredSize.listEntry(length);
    }

    private void finishIfFull() {
        if (filled >= frameBytes) {
            finish();
        }
    }

    /** Ends the frame that is being filled, as the end of the data does. */
    void finish() {
        if (weight > 0 && chosen) {
            int payload = compressor.compress(raw, 0, filled, compressed, 0);
            noteCopy();
            note((double) StoredSize.frame(listBytes, payload == 0 ? filled : payload) / filled);
        }
        leftOut |= !chosen && filled > 0;
        filled = 0;
        listBytes = 0;
        weight = 0;
    }

    private void note(double ratio) {
        recentFrames = Math.min(RECENT_FRAMES, recentFrames + 1);
        recentRatio += (ratio - recentRatio) / recentFrames;
        double squared = weight * weight;
        weights += weight;
        weightedRatios += weight * ratio;
        squaredWeights += squared;
        squaredWeightRatios += squared * ratio;
        squaredWeightSquaredRatios += squared * ratio * ratio;
    }

    /**
     * Compresses the first chunk of a frame in the way of an SSD's copies. All chunks would cost as much again as the
     * frames.
     */
    private void noteCopy() {
        int payload = ssdCompressor.compress(raw, 0, firstLength, compressed, 0);
        copyBytes += weight * SsdSize.record(payload == 0 ? firstLength : payload);
        copiedBytes += weight * firstLength;
    }

    /** Returns the bytes of an SSD's copies for each byte of their chunks; 1 if there are no frames. */
    double copyRatio() {
        return copiedBytes == 0 ? 1 : copyBytes / copiedBytes;
    }

    /** Returns the stored bytes for each byte of new chunks, of the most recently compressed frames. */
    double recentRatio() {
        return recentRatio;
    }

    /**
     * Returns the stored bytes for each byte of new chunks, including the overhead of frames and directories but not
     * that of containers; 1 if there are no frames. The error is that of a ratio of two sums over frames drawn at
     * random (Cochran, Sampling Techniques, 2.11).
     */
    Figure ratio() {
        if (weights == 0) {
            return Figure.exact(1);
        }
        double ratio = weightedRatios / weights;
        double residues = squaredWeightSquaredRatios - 2 * ratio * squaredWeightRatios + ratio * ratio * squaredWeights;
        return new Figure(ratio, leftOut ? Math.sqrt(Math.max(0, residues)) / weights : 0);
    }

    @Override
    public void close() {
        compressor.close();
        ssdCompressor.close();
    }
}
