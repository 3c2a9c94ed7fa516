package org.opendedup.sar.hot.promotion;

import java.util.Arrays;
import org.opendedup.sar.hot.policy.PromotionPolicy;
import org.opendedup.sar.ssd.HotContents;
import org.opendedup.sar.ssd.MapEntry;

/**
 * Finds the entries of lowest rank that together free enough space, exactly, with memory independent of the table's
 * size. It is a radix selection: each pass counts the entries of one range of ranks in {@value #BINS} bins, and the
 * next pass continues in the bin where the goal is reached. Entries that change between passes may be missed or
 * selected; nothing depends on them. For use by one thread.
 */
public final class LowestRanks {
    private static final int BIN_BITS = 12;
    private static final int BINS = 1 << BIN_BITS;
    /** Limit of chunks per round, so that a round uses at most 1 MiB; larger demands need further rounds. */
    private static final int MAX_CHUNKS = 1 << 17;

    private final HotContents contents;
    private final PromotionPolicy policy;
    private final long[] binBytes = new long[BINS];
    private final long[] binEntries = new long[BINS];

    /** All entries of lower rank are demoted, and as many of equal rank as needed. */
    private long cut;

    private long bytesLeft;
    private long entriesLeft;

    private long[] chunks = new long[1024];
    private int count;

    /**
     * Selects the entries.
     *
     * @param bytes least bytes of records to demote, or all
     * @param entries least number of entries to demote, or all
     */
    public LowestRanks(HotContents contents, PromotionPolicy policy, long bytes, long entries) {
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

    /** Returns the highest rank among the selected entries. */
    public long cut() {
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

    /** Moves the cut to the bin of width {@code 1 << shift} in which the goal is reached. */
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

    /** Demotes the selected chunks; returns how many were present. */
    public int demote() {
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
