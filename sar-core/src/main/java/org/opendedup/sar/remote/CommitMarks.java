package org.opendedup.sar.remote;

import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * What commits need of packs: the marks whose metadata the store does not have yet, and which durable bytes of packs it
 * must have before. Safe for use by many threads.
 */
final class CommitMarks {
    /** The packs that the store does not have whole; those that it has are taken out. */
    private final Set<StagedPack> following;

    private final Deletions deletions;
    /**
     * Of each mark that is not shipped, the durable bytes of packs of which the store had less, and no earlier mark in
     * here has as many: a mark also needs what those before it need. So a thousand commits while packs wait for a slow
     * store have no more entries than what they made durable. Marks without entries are left out. Guarded by this.
     */
    private final NavigableMap<Long, Map<StagedPack, Long>> marks = new TreeMap<>();

    /** The last mark. Guarded by this. */
    private long last;

    CommitMarks(Set<StagedPack> following, Deletions deletions) {
        this.following = following;
        this.deletions = deletions;
    }

    /** Returns a mark of what is durable in the folder now, greater than those before. */
    synchronized long next() {
        Map<StagedPack, Long> forced = new HashMap<>();
        for (StagedPack pack : following) {
            synchronized (pack) {
                if (pack.stored || pack.dropped) {
                    following.remove(pack);
                } else if (pack.forced > pack.marked && !deletions.has(pack.name) && !pack.has(pack.forced)) {
                    forced.put(pack, pack.forced);
                    pack.marked = pack.forced;
                }
            }
        }
        last++;
        if (!forced.isEmpty()) {
            marks.put(last, forced);
        }
        return last;
    }

    /** Returns the packs of which the store must have something before a mark is shipped, and how many bytes. */
    synchronized Map<StagedPack, Long> needed(long mark) {
        Map<StagedPack, Long> needed = new HashMap<>();
        for (Map<StagedPack, Long> forced : marks.headMap(mark, true).values()) {
            forced.forEach((pack, bytes) -> needed.merge(pack, bytes, Long::max));
        }
        // An earlier mark may need what was deleted before this one.
        needed.keySet().removeIf(pack -> deletions.wasBefore(pack.name, mark));
        return needed;
    }

    /** Notes that the metadata in the store have all commits up to a mark. */
    synchronized void shipped(long mark) {
        marks.headMap(mark, true).clear();
    }

    /** Deletes a pack after the last mark: the commit that left it has returned, and had its mark before. */
    synchronized void delete(String name) {
        deletions.add(name, last);
    }

    /** Returns how many packs the marks have, each as often as it is in one. */
    synchronized int packs() {
        return marks.values().stream().mapToInt(Map::size).sum();
    }
}
