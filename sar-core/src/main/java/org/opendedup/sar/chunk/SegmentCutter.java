package org.opendedup.sar.chunk;

/**
 * Cuts one stream into the chunks of its segments. Where zeros begin a chunk, it makes a zero run; elsewhere the
 * {@link Chunker} decides. The chunks do not depend on how the stream is divided into segments, with one exception: a
 * zero run across a segment's end becomes one run in each segment. For one stream, by one thread at a time.
 */
public final class SegmentCutter {
    /**
     * Minimum length of a zero run, in bytes: the size of a memory page and of a disk image's block. Fewer zeros are
     * treated as data. Zeros up to the stream's end are a run whatever their number.
     */
    public static final int MIN_ZERO_RUN_BYTES = 4096;

    private final Chunker chunker;
    private boolean inZeroRun;

    public SegmentCutter(Chunker chunker) {
        this.chunker = chunker;
    }

    /** Resets the state: the next call of {@link #cut} begins a new stream. */
    public void reset() {
        inZeroRun = false;
    }

    /**
     * Adds to {@code segment} the chunks of {@code segment.data()[from .. to)}, which continues the stream where the
     * last call stopped.
     *
     * @param end whether the stream ends at {@code to}; all bytes are then consumed
     * @return bytes consumed, from {@code from} on. The other bytes are the beginning of a chunk that ends after
     *     {@code to}; there are fewer of them than
     *     {@code max(}{@link Chunker#maxChunkBytes()}{@code ,}{@link #MIN_ZERO_RUN_BYTES}{@code )}. The caller passes
     *     them again, first, together with the bytes that follow them.
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

    /**
     * Adds {@code segment.data()[from .. to)} as one chunk, which is a whole stream, if a chunk may be as long and may
     * end anywhere, and they are not all zeros; else cuts them.
     */
    public void addWhole(Segment segment, int from, int to) {
        reset();
        boolean isOne = to - from <= chunker.maxChunkBytes()
                && chunker.alignment() == 1
                && ZeroRuns.length(segment.data(), from, to) < to - from;
        if (isOne) {
            segment.add(from, to - from, false);
        } else {
            cut(segment, from, to, true);
        }
    }

    /**
     * Returns how many of the {@code zeros} bytes at a chunk's beginning form a zero run. The other bytes are data, or
     * not known yet.
     */
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
