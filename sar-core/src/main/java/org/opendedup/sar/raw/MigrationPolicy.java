package org.opendedup.sar.raw;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Chooses the raw files that are migrated: when use passes a threshold, those that a rule puts first, until use is at a
 * lower threshold (TDDFS paper, §3.2). Small files stay as long as all of them together take only a small share of the
 * fast tier, because little space and few duplicates are gained by migrating them.
 *
 * @param capacityBytes bytes of the fast tier for raw files
 * @param highPercent share from which files are migrated
 * @param lowPercent share at which migration ends
 * @param rule which files come first
 */
public record MigrationPolicy(long capacityBytes, int highPercent, int lowPercent, MigrationRule rule) {
    /** Maximum length of a small file, in bytes: the paper's largest chunk. */
    public static final long SMALL_BYTES = 16 << 10;

    /** Share of the capacity up to which small files stay, in percent. */
    public static final int SMALL_PERCENT = 5;

    /** Time since the last access of a file before it is copied ahead, in milliseconds: ten minutes. */
    public static final long AHEAD_AGE_MS = 600_000;

    /** Returns whether the used bytes are above the threshold from which files are migrated. */
    public boolean isHigh(long usedBytes) {
        return usedBytes > share(highPercent);
    }

    /** Returns whether the room for new raw files is so small that migration is not to wait for anything. */
    public boolean isUrgent(long usedBytes) {
        return usedBytes > share(highPercent + (100 - highPercent) / 2);
    }

    /** Returns whether no room is left for new raw files. */
    public boolean isFull(long usedBytes) {
        return usedBytes >= capacityBytes;
    }

    private long share(int percent) {
        return capacityBytes / 100 * percent + capacityBytes % 100 * percent / 100;
    }

    /**
     * Returns the files to migrate now, in the order of the rule.
     *
     * @param usedBytes bytes that all raw files take, also those that are no candidates
     * @param candidates files that may be migrated: at rest and not pinned
     * @param nowMs present time, in milliseconds since 1970
     */
    public List<MigrationCandidate> choose(long usedBytes, Collection<MigrationCandidate> candidates, long nowMs) {
        return isHigh(usedBytes) ? first(usedBytes - share(lowPercent), candidates, nowMs) : List.of();
    }

    /**
     * Returns the files that are worth storing in chunks ahead, so that their migration only deletes them: while use is
     * between the thresholds, those that would be chosen if it passed the higher one, except files that were used
     * lately, because they may change again.
     *
     * @param usedBytes as in {@link #choose}, as are the others
     */
    public List<MigrationCandidate> ahead(long usedBytes, Collection<MigrationCandidate> candidates, long nowMs) {
        if (usedBytes <= share(lowPercent) || isHigh(usedBytes)) {
            return List.of();
        }
        return first(share(highPercent) - share(lowPercent), candidates, nowMs).stream()
                .filter(file -> file.accessedMs() <= nowMs - AHEAD_AGE_MS)
                .toList();
    }

    /** Returns the first files in the order of the rule that together take the given bytes, or all. */
    private List<MigrationCandidate> first(long bytes, Collection<MigrationCandidate> candidates, long nowMs) {
        long small = candidates.stream()
                .filter(file -> file.size() <= SMALL_BYTES)
                .mapToLong(MigrationCandidate::bytes)
                .sum();
        boolean smallStay = small <= share(SMALL_PERCENT);
        List<MigrationCandidate> sorted = new ArrayList<>(candidates);
        sorted.sort(rule.order(nowMs));
        List<MigrationCandidate> chosen = new ArrayList<>();
        long left = bytes;
        for (MigrationCandidate file : sorted) {
            if (left <= 0) {
                break;
            }
            if (file.size() > SMALL_BYTES || !smallStay) {
                chosen.add(file);
                left -= file.bytes();
            }
        }
        return chosen;
    }
}
