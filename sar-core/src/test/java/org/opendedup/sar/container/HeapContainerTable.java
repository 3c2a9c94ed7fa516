package org.opendedup.sar.container;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;

/** The container table of one volume in memory, as a commit leaves it. Safe for use by many threads. */
public final class HeapContainerTable implements ContainerClaims {
    private final TreeMap<Long, StoredContainer> entries = new TreeMap<>();
    /** Live slots by container; none are live by default. */
    final Map<Long, BitSet> live = new HashMap<>();

    /** Makes everything that was appended to a store before the call durable, and commits the changes of this table. */
    public void commit(ContainerStore store) throws IOException {
        // Commits of a volume follow each other: an older entry must not replace a newer one.
        synchronized (store) {
            ContainerChanges changes = store.force();
            commit(changes);
            store.committed(changes);
        }
    }

    /** Ends all containers of a store and commits, as a volume does when it is closed. */
    public void sealAll(ContainerStore store) throws IOException {
        store.endAll();
        commit(store);
    }

    /** Makes the changes, as a durable commit does. */
    public synchronized void commit(ContainerChanges changes) {
        entries.putAll(changes.stored());
        entries.keySet().removeAll(changes.removed());
    }

    /** Returns the table as it is now; later changes of one do not affect the other. */
    synchronized HeapContainerTable copy() {
        HeapContainerTable copy = new HeapContainerTable();
        copy.entries.putAll(entries);
        live.forEach((container, slots) -> copy.live.put(container, (BitSet) slots.clone()));
        return copy;
    }

    @Override
    public synchronized @Nullable StoredContainer stored(long container) {
        return entries.get(container);
    }

    @Override
    public synchronized BitSet slots(long container) {
        return (BitSet) live.getOrDefault(container, new BitSet()).clone();
    }

    @Override
    public void forEachFrom(long first, StoppingVisitor visitor) throws IOException {
        for (Map.Entry<Long, StoredContainer> entry : snapshot().tailMap(first).entrySet()) {
            if (!visitor.visit(entry.getKey(), entry.getValue())) {
                return;
            }
        }
    }

    @Override
    public void forEachOpen(Visitor visitor) throws IOException {
        forEach((container, stored) -> {
            if (stored.state() == StoredContainer.State.OPEN) {
                visitor.visit(container, stored);
            }
        });
    }

    private synchronized SortedMap<Long, StoredContainer> snapshot() {
        return new TreeMap<>(entries);
    }

    @Override
    public synchronized long containers() {
        return entries.size();
    }

    @Override
    public synchronized long storedBytes() {
        return entries.values().stream().mapToLong(StoredContainer::bytes).sum();
    }
}
