package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.Keys;

/**
 * The container table: which containers exist, where each lies, and how much of it is in use. All methods show it as of
 * the last commit; {@link MetadataStore#commit(Generation, ContainerChanges)} changes it, in the batch that changes the
 * reference counts. Safe for use by many threads.
 *
 * <p>Opening a volume reads one record of it, whatever the number of containers.
 */
public final class ContainerTable {
    /** Receives the entries of containers one by one. */
    @FunctionalInterface
    public interface Visitor {
        void visit(ContainerEntry entry) throws IOException;
    }

    private final KeyValueStore database;
    private volatile ContainerSummary summary;

    private ContainerTable(KeyValueStore database, ContainerSummary summary) {
        this.database = database;
        this.summary = summary;
    }

    public static ContainerTable open(KeyValueStore database) throws IOException {
        return new ContainerTable(database, StoredRecords.containers(database));
    }

    /** Takes over the summary that a commit has written. */
    public void committed(ContainerSummary now) {
        summary = now;
    }

    /** Returns where a container lies; null if it has no entry. */
    public @Nullable StoredContainer get(long container) throws IOException {
        ContainerEntry entry = entry(container);
        return entry == null ? null : entry.stored();
    }

    /** Returns the number of containers. */
    public long containers() {
        return summary.containers();
    }

    /** Returns whether a container with a lower id is open, as of the last commit. */
    public boolean hasOpenBelow(long container) {
        return !summary.open().headSet(container, false).isEmpty();
    }

    /** Returns the sum of the containers' lengths in their packs, in bytes. */
    public long storedBytes() {
        return summary.storedBytes();
    }

    /** Returns the sum of {@link ContainerEntry#garbageBytes} of all entries. */
    public long garbageBytes() {
        return summary.garbageBytes();
    }

    /** Receives entries until it returns false. */
    @FunctionalInterface
    public interface StoppingVisitor {
        boolean visit(ContainerEntry entry) throws IOException;
    }

    /** Visits all entries in ascending order of ids. */
    public void forEach(Visitor visitor) throws IOException {
        forEachFrom(0, entry -> {
            visitor.visit(entry);
            return true;
        });
    }

    /**
     * Visits the entries of containers with an id not less than {@code first}, in ascending order, until the visitor
     * returns false.
     */
    public void forEachFrom(long first, StoppingVisitor visitor) throws IOException {
        try (Cursor cursor = database.scan(Family.CONTAINER, Keys.of(first), Keys.END)) {
            boolean goesOn = true;
            while (goesOn && cursor.next()) {
                goesOn = visitor.visit(ContainerEntry.decode(Keys.longAt(cursor.key(), 0), cursor.value()));
            }
        }
    }

    /**
     * Visits the entries of the open containers in ascending order of ids. Reads no other entries. For the opening of a
     * volume and the checker: no commit may run at the same time.
     */
    public void forEachOpen(Visitor visitor) throws IOException {
        for (long container : summary.open()) {
            ContainerEntry entry = entry(container);
            if (entry == null || entry.stored().state() != State.OPEN) {
                throw new CorruptionException(
                        "metadata database, entry of container " + container,
                        -1,
                        "an open container, as in the list of open ones",
                        entry == null ? "no entry" : "a sealed one");
            }
            visitor.visit(entry);
        }
    }

    private @Nullable ContainerEntry entry(long container) throws IOException {
        byte[] value = database.get(Family.CONTAINER, Keys.of(container));
        return value == null ? null : ContainerEntry.decode(container, value);
    }
}
