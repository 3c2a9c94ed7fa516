package org.opendedup.sar.metadata.recipes;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SortedSet;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.versions.Snapshots;

/**
 * What lies between two snapshots: the versions that were born after the one and died by the other. No other snapshot
 * than those between them has these.
 *
 * @param before number of a snapshot; 0 for the begin of the volume
 * @param after number of a later one, or the number of the next one that is made
 */
record VersionGap(long before, long after) {
    /** Returns the gaps that are left if these snapshots are deleted: one for each run of them, in ascending order. */
    static List<VersionGap> around(SortedSet<Long> numbers, Snapshots snapshots) {
        Deque<VersionGap> gaps = new ArrayDeque<>();
        for (long number : numbers) {
            VersionGap last = gaps.peekLast();
            boolean goesOn = last != null && last.after == number;
            long before = goesOn ? gaps.removeLast().before : snapshots.before(number);
            gaps.addLast(new VersionGap(before, snapshots.after(number)));
        }
        return List.copyOf(gaps);
    }

    /** The first snapshot with which such a version can have died. */
    long firstDeath() {
        return before + 2;
    }

    /**
     * Returns the first death from {@code from} on that a version has; a number behind all of the gap if there is none.
     * So the numbers between, of snapshots that were freed long ago, cost nothing.
     */
    long nextDeath(Overlay overlay, long from) throws IOException {
        if (from > after) {
            return from;
        }
        try (Cursor cursor = overlay.scan(Family.DEATH, Keys.of(from), Keys.of(after + 1))) {
            return cursor.next() ? Keys.longAt(cursor.key(), 0) : after + 1;
        }
    }

    /** Returns the first key that a death in this gap can have. What is older than all snapshots has birth 0. */
    byte[] from(long death) {
        return Keys.of(death, before == 0 ? 0 : before + 1);
    }

    /** Returns a key above all deaths of one number. */
    byte[] to(long death) {
        return Keys.of(death, death);
    }
}
