package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.SystemRecords;

/**
 * The changes of the {@link ContainerTable} in one attempt to commit a generation: the containers that were stored or
 * removed, and the new live bytes of those whose counts the generation changed. Every new record is computed from the
 * records in the database, so an attempt after a failed one is right whether or not the failed one is in the database.
 * The records of stored and removed containers are written even if they stay the same: they replace what a failed
 * attempt may have left.
 */
public final class ContainerUpdate {
    private final KeyValueStore database;
    private final Map<Long, CountRecord> counts;
    private final ContainerChanges changes;

    private long containers;
    private long storedBytes;
    private long garbageBytes;
    private NavigableSet<Long> open = new TreeSet<>();
    private @Nullable ContainerSummary summary;

    /** @param counts the count records that the generation changed */
    public ContainerUpdate(KeyValueStore database, Map<Long, CountRecord> counts, ContainerChanges changes) {
        this.database = database;
        this.counts = counts;
        this.changes = changes;
    }

    /** Returns whether no container was stored or removed. */
    boolean isEmpty() {
        return changes.isEmpty();
    }

    /**
     * Adds the changed records to the batch of the commit. The batch must exist before this reads: creating it reopens
     * a database whose last write failed, and only then is it known whether that write is in the database.
     */
    void addTo(Batch batch) throws IOException {
        if (counts.isEmpty() && changes.isEmpty()) {
            // As of a sync of few bytes: nothing is read or sorted for it.
            return;
        }
        ContainerSummary before = StoredRecords.containers(database);
        containers = before.containers();
        storedBytes = before.storedBytes();
        garbageBytes = before.garbageBytes();
        open = new TreeSet<>(before.open());
        for (long container : changedContainers()) {
            update(container, batch);
        }
        ContainerSummary after = new ContainerSummary(containers, storedBytes, garbageBytes, open);
        if (!changes.isEmpty() || !after.equals(before)) {
            batch.put(Family.SYSTEM, SystemRecords.CONTAINERS, SystemRecords.encodeContainers(after));
        }
        summary = after;
    }

    /** Returns the table's summary once the batch is committed; null if it stays the same. */
    public @Nullable ContainerSummary summary() {
        return summary;
    }

    /** Returns the containers whose entries may change, in ascending order: neighbours lie in one block on the disk. */
    private long[] changedContainers() {
        return Stream.of(counts.keySet(), changes.stored().keySet(), changes.removed())
                .flatMapToLong(ids -> ids.stream().mapToLong(Long::longValue))
                .sorted()
                .distinct()
                .toArray();
    }

    private void update(long container, Batch batch) throws IOException {
        byte[] key = Keys.of(container);
        byte[] value = database.get(Family.CONTAINER, key);
        ContainerEntry before = value == null ? null : ContainerEntry.decode(container, value);
        ContainerEntry after = newEntry(container, before);
        account(before, -1);
        account(after, 1);
        if (after == null) {
            removeCounts(container, batch);
        }
        if (changes.removed().contains(container)) {
            batch.delete(Family.CONTAINER, key);
        } else if (after != null && (changes.stored().containsKey(container) || !after.equals(before))) {
            batch.put(Family.CONTAINER, key, ContainerEntry.encode(after));
        }
    }

    /**
     * Deletes the count record of a container without an entry once it says nothing any more, although the generation
     * may have put it into the batch. A removed container with damaged copies keeps it: files still refer to them. The
     * commit that makes the last one a tombstone deletes it.
     *
     * @throws IllegalStateException if the container is to be removed and has an existing copy that is not damaged
     */
    private void removeCounts(long container, Batch batch) throws IOException {
        boolean isRemoved = changes.removed().contains(container);
        CountRecord newest = counts.get(container);
        if (newest == null) {
            newest = StoredRecords.counts(database, container);
        }
        if (isRemoved && newest.hasSoundCopy()) {
            throw new IllegalStateException("container " + container + " has chunks: it can't be removed");
        }
        if (newest.isAllTombstones() || isRemoved && newest.alive().isEmpty()) {
            batch.delete(Family.COUNT, Keys.of(container));
        }
    }

    /** Returns a container's new entry; null if it has none. */
    private @Nullable ContainerEntry newEntry(long container, @Nullable ContainerEntry before) throws IOException {
        if (changes.removed().contains(container)) {
            return null;
        }
        StoredContainer stored = changes.stored().get(container);
        if (stored == null) {
            if (before == null) {
                return null;
            }
            stored = before.stored();
        }
        CountRecord changed = counts.get(container);
        if (changed == null) {
            if (before != null) {
                return new ContainerEntry(container, stored, before.liveBytes(), before.damagedSlots());
            }
            // Its chunks may have got references in earlier generations, before it had an entry.
            changed = StoredRecords.counts(database, container);
        }
        StoredCopies copies = StoredCopies.of(changed);
        return new ContainerEntry(container, stored, copies.bytes() - copies.garbageBytes(), changed.damagedSlots());
    }

    /** Adds an entry to the summary, or subtracts it with {@code sign} -1. */
    private void account(@Nullable ContainerEntry entry, int sign) {
        if (entry == null) {
            return;
        }
        containers += sign;
        storedBytes += sign * entry.stored().bytes();
        garbageBytes += sign * entry.garbageBytes();
        if (entry.stored().state() == State.OPEN) {
            if (sign > 0) {
                open.add(entry.container());
            } else {
                open.remove(entry.container());
            }
        }
    }
}
