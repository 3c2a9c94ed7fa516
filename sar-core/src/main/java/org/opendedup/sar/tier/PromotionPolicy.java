package org.opendedup.sar.tier;

/**
 * What makes a chunk worth its place on the SSD. Plain values in and out, no state: the mounted volume and the trace-driven
 * simulator run the same code.
 */
public interface PromotionPolicy {
    /**
     * Whether a stored chunk that was referenced or read again deserves the SSD.
     *
     * @param count references to the chunk
     * @param lengthBytes its bytes before compression
     * @param runBytes bytes of the run it was wanted in: neighbours in the request that are contiguous in its container, which
     *     cost the disk one request together
     */
    boolean promotes(Cause cause, int count, int lengthBytes, long runBytes);

    /**
     * Whether a chunk may stay on the SSD after the settings changed.
     *
     * @param saving of the shortest run it was wanted in, see {@link DiskCost#saving}
     */
    boolean keeps(int count, int saving);

    /**
     * References by which a candidate is ranked against what is on a full SSD.
     *
     * @param count references to it
     */
    int worth(Cause cause, int count);

    /**
     * What a read is expected to save for each KiB, as {@link #rank} takes it: less than it would save, if a read is unlikely.
     *
     * @param saving disk time saved if the chunk is read, see {@link DiskCost#saving}
     * @return at least 1, at most {@code saving}
     */
    int expectedSaving(Cause cause, int saving);

    /** Whether a chunk promoted for this cause may push out another; if not, it gets free space only. */
    boolean displaces(Cause cause);

    /**
     * What a copy is worth; where space is needed, the lowest go first, and a candidate below all of them is refused.
     *
     * @param count references to the chunk, as far as the Map table knows
     * @param recordBytes bytes it takes on the SSD
     * @param saving see {@link #expectedSaving}; once it was read from the SSD, all that this saved
     * @param heat how often it was wanted lately, 0 to 255
     */
    long rank(int count, int recordBytes, int saving, int heat);
}
