package org.opendedup.sar.container;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;

/**
 * The sealed containers that were written anew or removed: first until the container table says so, then until the
 * space of their old places is given back. Safe for use by many threads.
 */
final class RewrittenContainers {
    /**
     * The old place of a container, and the new one with its frame table: both null if it is removed; the old one
     * without a table if only its level changes. Whether the old place is given back is up to somebody else if
     * {@code keepsOld}.
     */
    private record Move(
            StoredContainer from,
            @Nullable StoredContainer to,
            @Nullable LocatedTable table,
            boolean keepsOld) {}

    /** Moves that are durable and not committed, by container. Guarded by this, as is the list below. */
    private final Map<Long, Move> uncommitted = new HashMap<>();
    /** Old places that nothing refers to. */
    private final List<StoredContainer> vacated = new ArrayList<>();

    /**
     * Adds a container whose new place is durable.
     *
     * @param keepsOld whether {@link #takeVacated} does not return the old place
     */
    synchronized void moved(
            long container, StoredContainer from, StoredContainer to, FrameTable table, boolean keepsOld) {
        uncommitted.put(container, new Move(from, to, new LocatedTable(to.pack(), to.offset(), table), keepsOld));
    }

    /** Adds a container that stays where it is, with its new level. */
    synchronized void marked(long container, StoredContainer from, int level) {
        uncommitted.put(container, new Move(from, from.withRecompressed(level), null, false));
    }

    /** Adds a container to be removed. */
    synchronized void removed(long container, StoredContainer from) {
        uncommitted.put(container, new Move(from, null, null, false));
    }

    /** Returns what the next commit has to contain. */
    synchronized ContainerChanges changes() {
        Map<Long, StoredContainer> stored = new HashMap<>();
        Set<Long> removed = new HashSet<>();
        uncommitted.forEach((container, move) -> {
            if (move.to == null) {
                removed.add(container);
            } else {
                stored.put(container, move.to);
            }
        });
        return new ContainerChanges(stored, removed);
    }

    /** Notes that changes are committed. Returns the containers among them that are in a new place. */
    synchronized Map<Long, LocatedTable> committed(ContainerChanges changes) {
        Map<Long, LocatedTable> inNewPlaces = new HashMap<>();
        uncommitted.entrySet().removeIf(each -> {
            long container = each.getKey();
            StoredContainer to = each.getValue().to;
            boolean isCommitted = to == null
                    ? changes.removed().contains(container)
                    : to.equals(changes.stored().get(container));
            if (isCommitted) {
                if (to == null || !each.getValue().keepsOld && !to.isAt(each.getValue().from)) {
                    vacated.add(each.getValue().from);
                }
                LocatedTable table = each.getValue().table;
                if (table != null) {
                    inNewPlaces.put(container, table);
                }
            }
            return isCommitted;
        });
        return inNewPlaces;
    }

    /** Returns whether {@link #takeVacated} has a place to return. */
    synchronized boolean hasVacated() {
        return !vacated.isEmpty();
    }

    /** Returns the old places of the committed containers, each once. */
    synchronized List<StoredContainer> takeVacated() {
        List<StoredContainer> taken = List.copyOf(vacated);
        vacated.clear();
        return taken;
    }

    /** Returns whether no change waits for a commit, and no old place for being taken. */
    synchronized boolean isEmpty() {
        return uncommitted.isEmpty() && vacated.isEmpty();
    }
}
