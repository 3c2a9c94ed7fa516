package org.opendedup.sar.raw;

import java.util.Comparator;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** In which order raw files leave the fast tier. */
public enum MigrationRule {
    /** The least recently used first (TDDFS paper, §3.2). */
    LRU {
        @Override
        Comparator<MigrationCandidate> order(long nowMs) {
            return Comparator.comparingLong(MigrationCandidate::accessedMs)
                    .thenComparingLong(MigrationCandidate::inode);
        }
    },
    /** Those first that are worth least for each byte that they take; see {@link #worth}. */
    MIXED {
        @Override
        Comparator<MigrationCandidate> order(long nowMs) {
            return Comparator.comparingDouble((MigrationCandidate file) -> worth(file, nowMs))
                    .thenComparingLong(MigrationCandidate::inode);
        }
    };

    /** Bytes that a hard disk reads in the time of one seek: 13 ms at 150 MB/s. */
    static final double SEEK_BYTES = 2e6;

    abstract Comparator<MigrationCandidate> order(long nowMs);

    /**
     * Returns what it is worth that a file stays: number of openings, times what one more would cost on the disk (a
     * seek and the bytes), divided by the bytes that the file takes and by the time since its last access, in
     * milliseconds. The first three factors are those of GreedyDual-Size-Frequency (Cherkasova: HP Labs report
     * HPL-98-69, 1998). That ages files by a clock of what was evicted; here the time does it, as in the space-time
     * product of Smith (Long Term File Migration, CACM 24(8), 1981), because files are also chosen that were last used
     * before the mount.
     */
    static double worth(MigrationCandidate file, long nowMs) {
        double cost = (SEEK_BYTES + file.size()) / Math.max(1, file.bytes());
        return Math.max(1, file.openings()) * cost / Math.max(1, nowMs - file.accessedMs());
    }

    /** Returns the rule of this name, in lower case; null if there is none. */
    public static @Nullable MigrationRule of(String name) {
        for (MigrationRule rule : values()) {
            if (rule.toString().equals(name)) {
                return rule;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
