package org.opendedup.sar.sim.tddfs.tier;

/**
 * Collects chunks that are read from the slow tier together, each once, in the order in which they are wanted. For one
 * thread; {@link #begin} starts the next collection.
 */
public final class SlowReads {
    /**
     * Chunks that are passed in the time of a seek and half a revolution: 13 ms at 96 MB/s, divided by 8 KiB. Passing
     * fewer takes their share of it.
     */
    private static final double SEEK_CHUNKS = 155;

    private final Contents contents;
    private final ChunkTier slow;
    private final int grain;
    private final IntColumn collected = new IntColumn();
    private int collection;
    private long bytes;
    private double seeks;
    private int lastPlace;

    public SlowReads(Contents contents, ChunkTier slow, int grain) {
        this.contents = contents;
        this.slow = slow;
        this.grain = grain;
    }

    /** Begins a collection. */
    public void begin() {
        collection++;
        bytes = 0;
        seeks = 0;
        lastPlace = 0;
    }

    /** Adds a chunk; without effect if it is in the collection. */
    public void add(int content) {
        if (collected.get(content) == collection) {
            return;
        }
        collected.set(content, collection);
        bytes += contents.length(content);
        int skipped = slow.place(content) - lastPlace - 1;
        seeks += lastPlace == 0 || skipped < 0 ? 1 : Math.min(1, grain * skipped / SEEK_CHUNKS);
        lastPlace = slow.place(content);
    }

    /** Returns what was collected. */
    public Reads reads() {
        return new Reads(bytes, seeks);
    }

    /**
     * Reads from the slow tier.
     *
     * @param seeks seeks that they take; a part of one where a gap is passed
     */
    public record Reads(long bytes, double seeks) {}
}
