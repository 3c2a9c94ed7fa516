package org.opendedup.sar.metadata;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/** The records that a damaged database has lost: ranges of keys in which there may have been some. */
final class LostRecords {
    /**
     * A range of keys.
     *
     * @param after last record before it that could be read; empty if none could
     * @param before first record behind it that could be read; {@link Keys#END} if none could
     */
    record Range(Family family, byte[] after, byte[] before) {
        boolean contains(byte[] key) {
            return Arrays.compareUnsigned(after, key) < 0 && Arrays.compareUnsigned(key, before) < 0;
        }

        /** Returns the lowest number that a key of the range may begin with. */
        long first() {
            return after.length < Keys.LONG_BYTES ? 0 : Keys.longAt(after, 0);
        }

        /** Returns the highest number that a key of the range may begin with. */
        long last() {
            return before.length < Keys.LONG_BYTES ? Long.MAX_VALUE : Keys.longAt(before, 0);
        }
    }

    private final List<Range> ranges = new ArrayList<>();
    private long missingChanges;

    void add(Family family, byte[] after, byte[] before) {
        ranges.add(new Range(family, after, before));
    }

    /** Adds a record that was read and has wrong content. */
    void addRecord(Family family, byte[] key) {
        add(family, preceding(key), Arrays.copyOf(key, key.length + 1));
    }

    /** Returns the key of the same length that precedes another one; {@link Keys#FIRST} if there is none. */
    private static byte[] preceding(byte[] key) {
        byte[] ahead = key.clone();
        for (int at = ahead.length - 1; at >= 0; at--) {
            // A 0 becomes 0xff, and the byte before it becomes lower, too.
            if (ahead[at]-- != 0) {
                return ahead;
            }
        }
        return Keys.FIRST;
    }

    void addChanges(long changes) {
        missingChanges += changes;
    }

    /** Returns the number of changes that were acknowledged and are not in the logs any more. */
    long missingChanges() {
        return missingChanges;
    }

    boolean isEmpty() {
        return ranges.isEmpty() && missingChanges == 0;
    }

    List<Range> of(Family family) {
        return ranges.stream().filter(range -> range.family() == family).toList();
    }

    boolean contains(Family family, byte[] key) {
        return ranges.stream().anyMatch(range -> range.family() == family && range.contains(key));
    }
}
