package org.opendedup.sar.common;

import java.util.Collections;
import java.util.Map;
import java.util.Set;

/**
 * Changes of the container table, which are committed together with those of the reference counts.
 *
 * @param stored new entries, and entries with a new place or length, by container id
 * @param removed ids of containers that do not exist any more; ids without an entry are ignored
 */
public record ContainerChanges(Map<Long, StoredContainer> stored, Set<Long> removed) {
    public static final ContainerChanges NONE = new ContainerChanges(Map.of(), Set.of());

    /** @throws IllegalArgumentException if a container is in both */
    public ContainerChanges {
        if (!Collections.disjoint(stored.keySet(), removed)) {
            throw new IllegalArgumentException(
                    "a container can't be both stored and removed: " + stored.keySet() + " and " + removed);
        }
        stored = Map.copyOf(stored);
        removed = Set.copyOf(removed);
    }

    public boolean isEmpty() {
        return stored.isEmpty() && removed.isEmpty();
    }
}
