package org.opendedup.sar.chunk;

/**
 * Cuts one stream into the chunks of its segments: where zeros begin a chunk, a zero run; elsewhere what the {@link
 * Chunker} says. The chunks are the same however the stream is divided into segments, except that a zero run which a
 * segment's end divides becomes one run in each. For one stream, by one thread at a time.
 */
public final class SegmentCutter {
    /**
     * Fewer zeros than this are data like any other, in bytes: the size of a memory page and of a disk image's block. Zeros
     * up to the stream's end are a run whatever their number.
     */
    public static final int MIN_ZERO_RUN_BYTES = 4096;

    private final Chunker chunker;
    private boolean inZeroRun;

    public SegmentCutter(Chunker chunker) {
        this.chunker = chunker;
    }

    /** Forgets the stream: what is cut next begins a new one. */
    public void reset() {
        inZeroRun = false;
    }

    /**
     * Adds to {@code segment} the chunks of {@code segment.data()[from .. to)}, which continues the stream where the last
     * call stopped.
     *
     * @param end whether the stream ends at {@code to}; all bytes are then consumed
     * @return how many bytes were consumed, from {@code from} on. The others are the beginning of a chunk that ends behind
     *     {@code to}; there are fewer of them than {@code max(}{@link Chunker#maxChunkBytes()}{@code ,}{@link
     *     #MIN_ZERO_RUN_BYTES}{@code )}. The caller passes them again, first, with what follows them.
     */
    public int cut(Segment segment, int from, int to, boolean end) {
        byte[] data = segment.data();
        int position = from;
        while (position < to) {
            int zeros = ZeroRuns.length(data, position, to);
            boolean open = position + zeros == to && !end;
            int run = runLength(zeros, position + zeros == to, end);
            if (run > 0) {
                segment.add(position, run, true);
                position += run;
                inZeroRun = true;
                continue;
            }
            if (open) {
                break;
            }
            inZeroRun = false;
            int length = chunker.cut(data, position, to, end);
            if (length == 0) {
                break;
            }
            segment.add(position, length, false);
            position += length;
        }
        return position - from;
    }

    /** How many of the {@code zeros} bytes at a chunk's beginning are a zero run; the rest is data, or not known yet. */
    private int runLength(int zeros, boolean reachesEnd, boolean end) {
        if (reachesEnd && end) {
            return zeros;
        }
        if (zeros < MIN_ZERO_RUN_BYTES && !inZeroRun) {
            return 0;
        }
        return zeros - zeros % chunker.alignment();
    }
}
