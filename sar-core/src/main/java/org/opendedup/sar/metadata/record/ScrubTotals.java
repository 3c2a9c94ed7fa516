package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.CorruptionException;

/**
 * What a scrub has verified and found.
 *
 * @param containers verified containers
 * @param bytes their bytes on the disk
 * @param chunks their chunks
 * @param damagedFrames frames that are not what was written
 * @param damagedContainers containers whose directory is damaged, or that are missing
 * @param contradictions containers about which the metadata say something else
 */
public record ScrubTotals(
        long containers,
        long bytes,
        long chunks,
        long damagedFrames,
        long damagedContainers,
        long contradictions,
        References references,
        Ssd ssd,
        Index index) {
    /** Of a scrub that begins. */
    public static final ScrubTotals NONE = new ScrubTotals(0, 0, 0, 0, 0, 0, References.NONE, Ssd.NONE, Index.NONE);

    /**
     * What it found in the metadata.
     *
     * @param wrong chunks that files refer to as other content than they are, or beyond their end
     * @param defects other things in the metadata that do not agree: counts, names, inodes
     * @param passedOver whether not all could be compared
     */
    public record References(long wrong, long defects, boolean passedOver) {
        public static final References NONE = new References(0, 0, false);

        private void encode(ValueWriter out) {
            out.writeVarint(wrong).writeVarint(defects).writeByte(passedOver ? 1 : 0);
        }

        private static References decode(ValueReader in) throws CorruptionException {
            return new References(number(in), number(in), in.readVarint(1) == 1);
        }
    }

    /**
     * What it found on the SSD. None of it is a loss: each copy has an original.
     *
     * @param copies verified copies
     * @param bytes their bytes on the SSD
     * @param wrong copies that were not what was written, and were dropped
     * @param leadingNowhere entries of the Map table that were removed: their segment file or their chunk is gone
     * @param passedOver whether not all copies were verified, because the SSD was not in use
     */
    public record Ssd(long copies, long bytes, long wrong, long leadingNowhere, boolean passedOver) {
        public static final Ssd NONE = new Ssd(0, 0, 0, 0, false);

        /** Returns these totals with further copies. */
        public Ssd plus(long moreCopies, long moreBytes, long moreWrong, long moreNowhere) {
            return new Ssd(
                    copies + moreCopies,
                    bytes + moreBytes,
                    wrong + moreWrong,
                    leadingNowhere + moreNowhere,
                    passedOver);
        }

        /** Returns these totals of an SSD that is not verified to its end. */
        public Ssd passOver() {
            return new Ssd(copies, bytes, wrong, leadingNowhere, true);
        }

        private void encode(ValueWriter out) {
            out.writeVarint(copies)
                    .writeVarint(bytes)
                    .writeVarint(wrong)
                    .writeVarint(leadingNowhere)
                    .writeByte(passedOver ? 1 : 0);
        }

        private static Ssd decode(ValueReader in) throws CorruptionException {
            return new Ssd(number(in), number(in), number(in), number(in), in.readVarint(1) == 1);
        }
    }

    /**
     * What it found in samples of the fingerprint index.
     *
     * @param entries examined entries
     * @param wrong entries that named a chunk with another fingerprint, and were removed
     * @param stale entries that named no stored chunk, and were removed
     * @param chunks stored chunks that were looked up
     * @param notIndexed those that the index did not have: their content is stored again when it is written again
     * @param passedOver whether the samples are not complete, because the index was not in use
     */
    public record Index(long entries, long wrong, long stale, long chunks, long notIndexed, boolean passedOver) {
        public static final Index NONE = new Index(0, 0, 0, 0, 0, false);

        /** If more than one entry in this many is stale, the index should be made anew. */
        private static final int STALE_PART = 64;

        /** Returns whether the index should be deleted, so that the next mount makes it anew. */
        public boolean shouldBeMadeAnew() {
            return wrong > 0 || stale > entries / STALE_PART;
        }

        /** Returns these totals with further entries. */
        public Index plusEntries(long more, long moreWrong, long moreStale) {
            return new Index(entries + more, wrong + moreWrong, stale + moreStale, chunks, notIndexed, passedOver);
        }

        /** Returns these totals with further chunks that were looked up. */
        public Index plusChunks(long more, long moreNotIndexed) {
            return new Index(entries, wrong, stale, chunks + more, notIndexed + moreNotIndexed, passedOver);
        }

        /** Returns these totals of samples that are not complete. */
        public Index passOver() {
            return new Index(entries, wrong, stale, chunks, notIndexed, true);
        }

        private void encode(ValueWriter out) {
            out.writeVarint(entries)
                    .writeVarint(wrong)
                    .writeVarint(stale)
                    .writeVarint(chunks)
                    .writeVarint(notIndexed)
                    .writeByte(passedOver ? 1 : 0);
        }

        private static Index decode(ValueReader in) throws CorruptionException {
            return new Index(number(in), number(in), number(in), number(in), number(in), in.readVarint(1) == 1);
        }
    }

    void encode(ValueWriter out) {
        out.writeVarint(containers)
                .writeVarint(bytes)
                .writeVarint(chunks)
                .writeVarint(damagedFrames)
                .writeVarint(damagedContainers)
                .writeVarint(contradictions);
        references.encode(out);
        ssd.encode(out);
        index.encode(out);
    }

    static ScrubTotals decode(ValueReader in) throws CorruptionException {
        return new ScrubTotals(
                number(in),
                number(in),
                number(in),
                number(in),
                number(in),
                number(in),
                References.decode(in),
                Ssd.decode(in),
                Index.decode(in));
    }

    private static long number(ValueReader in) throws CorruptionException {
        return in.readVarint(Long.MAX_VALUE);
    }

    /** Returns the bytes that were read, of containers and of copies on the SSD. */
    public long allBytes() {
        return bytes + ssd.bytes();
    }

    /**
     * Returns whether no file is affected by what was found, or may be: wrong copies on the SSD and stale entries of
     * the index cost nothing.
     */
    public boolean isClean() {
        return damagedFrames == 0
                && damagedContainers == 0
                && contradictions == 0
                && references.wrong() == 0
                && references.defects() == 0
                && index.wrong() == 0;
    }

    /** Returns these totals with one more container. */
    public ScrubTotals plusVerified(long moreBytes, long moreChunks) {
        return new ScrubTotals(
                containers + 1,
                bytes + moreBytes,
                chunks + moreChunks,
                damagedFrames,
                damagedContainers,
                contradictions,
                references,
                ssd,
                index);
    }

    public ScrubTotals plusDamagedFrame() {
        return found(damagedFrames + 1, damagedContainers, contradictions);
    }

    public ScrubTotals plusDamagedContainer() {
        return found(damagedFrames, damagedContainers + 1, contradictions);
    }

    public ScrubTotals plusContradiction() {
        return found(damagedFrames, damagedContainers, contradictions + 1);
    }

    private ScrubTotals found(long frames, long damaged, long contradicting) {
        return new ScrubTotals(containers, bytes, chunks, frames, damaged, contradicting, references, ssd, index);
    }

    public ScrubTotals with(References other) {
        return new ScrubTotals(
                containers, bytes, chunks, damagedFrames, damagedContainers, contradictions, other, ssd, index);
    }

    public ScrubTotals with(Ssd other) {
        return new ScrubTotals(
                containers, bytes, chunks, damagedFrames, damagedContainers, contradictions, references, other, index);
    }

    public ScrubTotals with(Index other) {
        return new ScrubTotals(
                containers, bytes, chunks, damagedFrames, damagedContainers, contradictions, references, ssd, other);
    }
}
