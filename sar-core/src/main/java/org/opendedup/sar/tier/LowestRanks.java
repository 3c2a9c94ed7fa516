package org.opendedup.sar.tier;

import java.util.Arrays;
import org.opendedup.sar.ssd.MapEntry;

/**
 * Finds the entries of lowest rank that together make enough room, exactly, in memory that does not grow with the table: a
 * radix selection, whose each pass counts the entries of one range of ranks in {@value #BINS} bins and goes on in the bin where
 * the goal is reached. Entries that change between the passes may be missed or taken; nothing depends on them. For one thread.
 */
final class LowestRanks {
    private static final int BIN_BITS = 12;
    private static final int BINS = 1 << BIN_BITS;
    /** So that a round takes no more than a MiB: what needs more room takes another round. */
    private static final int MAX_CHUNKS = 1 << 17;

    private final TierContents contents;
    private final PromotionPolicy policy;
    private final long[] binBytes = new long[BINS];
    private final long[] binEntries = new long[BINS];

    /** Ranks below this leave; some of those equal to it, as many as it takes. */
    private long cut;

    private long bytesLeft;
    private long entriesLeft;

    private long[] chunks = new long[1024];
    private int count;

    /**
     * Selects.
     *
     * @param bytes of records that are to leave at least, or all
     * @param entries that are to leave at least, or all
     */
    LowestRanks(TierContents contents, PromotionPolicy policy, long bytes, long entries) {
        this.contents = contents;
        this.policy = policy;
        bytesLeft = bytes;
        entriesLeft = entries;
        int shift = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(highestRank()) - BIN_BITS);
        narrow(shift);
        while (shift > 0) {
            shift = Math.max(0, shift - BIN_BITS);
            narrow(shift);
        }
    }

    /** The highest rank among those that leave. */
    long cut() {
        return cut;
    }

    private long rank(MapEntry entry) {
        return policy.rank(entry.count, entry.length, entry.saving, entry.heat);
    }

    private long highestRank() {
        long[] highest = {0};
        contents.forEach(entry -> highest[0] = Math.max(highest[0], rank(entry)));
        return highest[0];
    }

    /** Moves the cut up to the bin of width {@code 1 << shift} in which enough has been passed. */
    private void narrow(int shift) {
        Arrays.fill(binBytes, 0);
        Arrays.fill(binEntries, 0);
        contents.forEach(entry -> {
            long bin = rank(entry) - cut >> shift;
            if (bin >= 0 && bin < BINS) {
                binBytes[(int) bin] += entry.length;
                binEntries[(int) bin]++;
            }
        });
        int bin = 0;
        while (bin < BINS - 1 && (binBytes[bin] < bytesLeft || binEntries[bin] < entriesLeft)) {
            bytesLeft -= binBytes[bin];
            entriesLeft -= binEntries[bin];
            bin++;
        }
        cut += (long) bin << shift;
    }

    /** Takes the selected chunks off; returns how many were there. */
    int demote() {
        contents.forEach(this::collect);
        int demoted = 0;
        for (int i = 0; i < count; i++) {
            demoted += contents.demote(chunks[i]) ? 1 : 0;
        }
        return demoted;
    }

    private void collect(MapEntry entry) {
        long rank = rank(entry);
        boolean atCut = rank == cut && (bytesLeft > 0 || entriesLeft > 0);
        if (count == MAX_CHUNKS || rank >= cut && !atCut) {
            return;
        }
        if (atCut) {
            bytesLeft -= entry.length;
            entriesLeft--;
        }
        if (count == chunks.length) {
            chunks = Arrays.copyOf(chunks, 2 * count);
        }
        chunks[count++] = entry.chunkId;
    }
}
