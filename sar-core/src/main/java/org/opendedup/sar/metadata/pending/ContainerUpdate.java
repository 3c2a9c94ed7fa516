package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.io.NoAnswer;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of the {@link ContainerTable} in one attempt to commit a generation: the containers that were stored or
 * removed, and the new live bytes of those whose counts the generation changed. Every new record is computed from the
 * records in the database, so an attempt after a failed one is right whether or not the failed one is in the database.
 * The records of stored and removed containers are written even if they stay the same: they replace what a failed
 * attempt may have left.
 *
 * <p>An entry that is damaged, or in a block that the disk does not return, fails no commit, because it is no failed
 * write (docs/adr/0029): it stays as it is, and later commits try again to change it. One whose container was stored or
 * removed is replaced or removed, and the sums of the table go on to count what it had; a check tells it, and a repair
 * makes the table anew.
 */
public final class ContainerUpdate {
    private static final Logger log = LoggerFactory.getLogger(ContainerUpdate.class);
    /** Most containers that later updates change. */
    private static final int MOST_UNREAD = 1000;

    private final KeyValueStore database;
    private final Map<Long, CountRecord> counts;
    private final ContainerChanges changes;
    /** Containers whose entries earlier updates could not read. */
    private final Set<Long> waiting;
    /** The same after this update; those that were tried last are at the end. */
    private final Set<Long> unread;

    private long containers;
    private long storedBytes;
    private long garbageBytes;
    private NavigableSet<Long> open = new TreeSet<>();
    private @Nullable ContainerSummary summary;

    /**
     * @param counts the count records that the generation changed
     * @param waiting containers whose entries earlier updates could not read: see {@link #unread}
     */
    public ContainerUpdate(
            KeyValueStore database, Map<Long, CountRecord> counts, ContainerChanges changes, Set<Long> waiting) {
        this.database = database;
        this.counts = counts;
        this.changes = changes;
        this.waiting = waiting;
        unread = new LinkedHashSet<>(waiting);
    }

    /**
     * Returns the containers whose entries are still to be changed, because they cannot be read, to be tried in order.
     */
    public Set<Long> unread() {
        return Collections.unmodifiableSet(unread);
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
        updateWaiting(batch);
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

    /**
     * Changes the entries that only earlier updates wanted to change, up to the first one that cannot be read: a disk
     * may take seconds for each, and the commit waits for it. The others are tried before that one by later updates.
     */
    private void updateWaiting(Batch batch) throws IOException {
        for (long container : waiting) {
            boolean isChanged = counts.containsKey(container)
                    || changes.stored().containsKey(container)
                    || changes.removed().contains(container);
            if (!isChanged && !update(container, batch)) {
                return;
            }
        }
    }

    /** Returns false if the entry cannot be read. */
    private boolean update(long container, Batch batch) throws IOException {
        ContainerEntry before;
        ContainerEntry after;
        try {
            before = waiting.contains(container) ? read(container) : readTwice(container);
            after = newEntry(container, before);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            boolean isNew = !unread.remove(container);
            if (!isNew || unread.size() < MOST_UNREAD) {
                unread.add(container);
            }
            if (isNew && unread.contains(container)) {
                log.error("the entry of container {} cannot be changed, because it cannot be read", container, e);
            }
            replaceUnread(container, batch);
            return false;
        }
        unread.remove(container);
        update(container, before, after, batch);
        return true;
    }

    /** A disk may return at the second attempt what it did not at the first. */
    private @Nullable ContainerEntry readTwice(long container) throws IOException {
        try {
            return read(container);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            return read(container);
        }
    }

    private @Nullable ContainerEntry read(long container) throws IOException {
        byte[] value = database.get(Family.CONTAINER, Keys.of(container));
        return value == null ? null : ContainerEntry.decode(container, value);
    }

    /** Replaces or removes an entry that cannot be read, if the container was stored or removed. */
    private void replaceUnread(long container, Batch batch) throws IOException {
        byte[] key = Keys.of(container);
        if (changes.removed().contains(container)) {
            removeCounts(container, batch);
            batch.delete(Family.CONTAINER, key);
            open.remove(container);
            unread.remove(container);
        } else if (changes.stored().containsKey(container)) {
            ContainerEntry after = Objects.requireNonNull(newEntry(container, null));
            batch.put(Family.CONTAINER, key, ContainerEntry.encode(after));
            noteState(after);
            unread.remove(container);
        }
    }

    private void update(long container, @Nullable ContainerEntry before, @Nullable ContainerEntry after, Batch batch)
            throws IOException {
        byte[] key = Keys.of(container);
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
            if (before != null && !waiting.contains(container)) {
                return new ContainerEntry(container, stored, before.liveBytes(), before.damagedSlots());
            }
            // Its chunks may have got references in earlier generations, before it had an entry that could be read.
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
        if (sign > 0) {
            noteState(entry);
        } else {
            open.remove(entry.container());
        }
    }

    private void noteState(ContainerEntry entry) {
        if (entry.stored().state() == State.OPEN) {
            open.add(entry.container());
        } else {
            open.remove(entry.container());
        }
    }
}
