package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Keys;

/**
 * The changes that no commit made durable, for a report of what is lost.
 *
 * @param pages number of changed recipe pages, by inode
 * @param intents bytes written to the intent log, by inode
 * @param names names that files got, by inode: one name per inode
 * @param inodes inodes whose attributes changed
 * @param entries number of names that were added or removed
 */
public record Uncommitted(
        Map<Long, Integer> pages, Map<Long, Long> intents, Map<Long, Name> names, Set<Long> inodes, long entries) {
    /** A name in a directory. */
    public record Name(long directory, byte[] name) {}

    public static Uncommitted of(Iterable<Generation> generations) {
        Map<Long, Integer> pages = new HashMap<>();
        Map<Long, Long> intents = new HashMap<>();
        Map<Long, Name> names = new HashMap<>();
        Set<Long> inodes = new HashSet<>();
        long entries = 0;
        for (Generation generation : generations) {
            for (byte[] key : generation.changes(KeyValueStore.Family.RECIPE).keySet()) {
                pages.merge(Keys.longAt(key, 0), 1, Integer::sum);
            }
            generation.changes(KeyValueStore.Family.INTENT).forEach((key, value) -> {
                if (value != Generation.DELETED) {
                    intents.merge(Keys.longAt(key, 0), (long) value.length, Long::sum);
                }
            });
            for (KeyValueStore.Family family : Set.of(KeyValueStore.Family.INODE, KeyValueStore.Family.XATTR)) {
                generation.changes(family).keySet().forEach(key -> inodes.add(Keys.longAt(key, 0)));
            }
            for (var entry : generation.changes(KeyValueStore.Family.ENTRY).entrySet()) {
                entries++;
                if (entry.getValue() != Generation.DELETED) {
                    noteName(entry.getKey(), entry.getValue(), names);
                }
            }
        }
        return new Uncommitted(pages, intents, names, inodes, entries);
    }

    /** Adds the name from an entry's record to {@code names}, by the inode of the entry. */
    private static void noteName(byte[] key, byte[] value, Map<Long, Name> names) {
        long directory = Keys.longAt(key, 0);
        try {
            long inode = Entry.decode(directory, value).inode();
            names.put(inode, new Name(directory, Entry.name(key)));
        } catch (IOException e) {
            throw new AssertionError("a record that was just made", e);
        }
    }
}
