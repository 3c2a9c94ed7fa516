package org.opendedup.sar.metadata;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The changes that no commit made durable, for a report of what is lost.
 *
 * @param pages number of changed recipe pages, by inode
 * @param names names that files got, by inode: one name per inode
 * @param inodes inodes whose attributes changed
 * @param entries number of names that were added or removed
 */
public record Uncommitted(Map<Long, Integer> pages, Map<Long, Name> names, Set<Long> inodes, long entries) {
    /** A name in a directory. */
    public record Name(long directory, byte[] name) {}

    static Uncommitted of(Iterable<Generation> generations) {
        Map<Long, Integer> pages = new HashMap<>();
        Map<Long, Name> names = new HashMap<>();
        Set<Long> inodes = new HashSet<>();
        long entries = 0;
        for (Generation generation : generations) {
            for (byte[] key : generation.changes(KeyValueStore.Family.RECIPE).keySet()) {
                pages.merge(Keys.longAt(key, 0), 1, Integer::sum);
            }
            for (KeyValueStore.Family family : Set.of(KeyValueStore.Family.INODE, KeyValueStore.Family.XATTR)) {
                generation.changes(family).keySet().forEach(key -> inodes.add(Keys.longAt(key, 0)));
            }
            for (var entry : generation.changes(KeyValueStore.Family.ENTRY).entrySet()) {
                entries++;
                if (entry.getValue() != Generation.DELETED) {
                    Namespace.noteName(entry.getKey(), entry.getValue(), names);
                }
            }
        }
        return new Uncommitted(pages, names, inodes, entries);
    }
}
