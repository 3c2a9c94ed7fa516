package org.opendedup.sar.index.chunkstash;

import org.opendedup.sar.index.IndexParameter;
import org.opendedup.sar.index.IndexParameters;

/**
 * How a ChunkStash index divides its memory, and what of its entries the table has.
 *
 * @param tableBytes most bytes of the table; at least {@link #LEAST_TABLE_BYTES}
 * @param frames pages in memory, those that are being filled among them
 * @param segmentBytes length of a segment of the log
 * @param interval the table has one of this many entries of a page, at most; a power of two. 1: all, as long as memory
 *     suffices
 * @param samples which entries of a page these are
 * @param candidates positions of the table in which a fingerprint can be; see {@link CuckooTable}
 */
public record StashSettings(
        long tableBytes, int frames, int segmentBytes, int interval, Samples samples, int candidates) {
    /** A table of this many bytes has room for a page and a half. */
    public static final long LEAST_TABLE_BYTES = 12 << 10;

    /** Usual length of a segment of the log, in bytes. */
    public static final int SEGMENT_BYTES = StashLog.SEGMENT_BYTES;

    /** Highest interval: one entry of a page. */
    public static final int MOST_INTERVAL = PageDirectory.PAGE_ENTRIES;

    private static final int MOST_FRAMES = 1024;

    /** Number of segments in a bounded log, about: one is moved at a time, and those who write wait for it. */
    private static final int MOST_SEGMENTS = 64;

    private static final int LEAST_SEGMENT_BYTES = 1 << 20;

    /** Which entries of a page are in a table that has not all (ChunkStash, sections 3.5 and 4.6). */
    public enum Samples {
        /** Every second, fourth, … one. What volumes use. */
        UNIFORM,
        /**
         * Each with the same chance, independent of the others. For measurements: the files do not say which samples
         * their table has.
         */
        RANDOM;

        /** Returns whether the entry that a pointer leads to is in the table. */
        boolean has(long pointer, int interval) {
            long number = this == UNIFORM ? PageDirectory.entry(pointer) : mixed(pointer);
            return (number & interval - 1) == 0;
        }

        /** The last steps of SplitMix64. */
        private static long mixed(long number) {
            long mixed = (number ^ number >>> 30) * 0xbf58476d1ce4e5b9L;
            mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
            return mixed ^ mixed >>> 31;
        }
    }

    public StashSettings {
        if (tableBytes < LEAST_TABLE_BYTES || frames < 2 || segmentBytes < 1) {
            throw new IllegalArgumentException("too small for a ChunkStash index: table of " + tableBytes + " bytes, "
                    + frames + " pages, segments of " + segmentBytes + " bytes");
        }
        if (Integer.bitCount(interval) != 1 || interval < 1 || interval > MOST_INTERVAL) {
            throw new IllegalArgumentException(
                    "one of " + interval + " entries; it must be a power of two up to " + MOST_INTERVAL);
        }
        if (!CuckooTable.isPossible(candidates)) {
            throw new IllegalArgumentException(candidates + " candidate positions");
        }
    }

    /** A table of all entries, or of uniform samples if that is full. */
    StashSettings(long tableBytes, int frames, int segmentBytes) {
        this(tableBytes, frames, segmentBytes, 1, Samples.UNIFORM, CuckooTable.CANDIDATES);
    }

    /** Returns the bytes of a table that these entries fill as far as it is filled. */
    public static long tableBytes(long entries) {
        return (long) Math.ceil(entries / CuckooTable.MOST_LOAD) * CuckooTable.slotBytes(Integer.BYTES);
    }

    /** Returns these settings with segments short enough that a bounded log has many. */
    StashSettings forSpace(long mostBytes) {
        long bytes = Math.min(segmentBytes, Math.max(LEAST_SEGMENT_BYTES, mostBytes / MOST_SEGMENTS));
        return new StashSettings(tableBytes, frames, (int) bytes, interval, samples, candidates);
    }

    /** Divides bytes of memory: an eighth for pages, the rest for the table. */
    static StashSettings of(long memoryBytes, IndexParameters parameters) {
        int frames = (int)
                Math.min(MOST_FRAMES, Math.max(StashWriter.MOST_OPEN + 20, memoryBytes / 8 / PageFrames.FRAME_BYTES));
        return new StashSettings(
                memoryBytes - (long) frames * PageFrames.FRAME_BYTES,
                frames,
                SEGMENT_BYTES,
                (int) parameters.get(IndexParameter.SAMPLING, 1),
                Samples.UNIFORM,
                (int) parameters.get(IndexParameter.WIDTH, CuckooTable.CANDIDATES));
    }
}
