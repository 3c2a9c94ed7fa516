package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.HashSet;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.StoredCopies;

/**
 * Checks that the container table and the count records are consistent, as of the last commit. Keeps the ids of all
 * containers in memory.
 */
public final class ContainerTableCheck {
    private final KeyValueStore database;
    private final ContainerTable table;
    private final Consumer<String> report;
    private final Set<Long> known = new HashSet<>();
    private final NavigableSet<Long> open = new TreeSet<>();
    private long storedBytes;
    private long garbageBytes;

    private ContainerTableCheck(MetadataStore metadata, Consumer<String> report) {
        database = metadata.overlay().database();
        table = metadata.containers();
        this.report = report;
    }

    /**
     * Runs the check. No commit may run at the same time.
     *
     * @param report receives each problem, as one sentence
     */
    public static void run(MetadataStore metadata, Consumer<String> report) throws IOException {
        ContainerTableCheck check = new ContainerTableCheck(metadata, report);
        ContainerSummary stored = check.run();
        // A commit that failed may be in the database nevertheless.
        if (metadata.uncommitted() == null) {
            check.compareMemory(stored);
        }
    }

    private void compareMemory(ContainerSummary stored) {
        ContainerSummary now =
                new ContainerSummary(table.containers(), table.storedBytes(), table.garbageBytes(), stored.open());
        if (!now.equals(stored)) {
            report.accept(
                    "the summary of the container table is " + now + " in memory and " + stored + " in the database");
        }
    }

    private ContainerSummary run() throws IOException {
        table.forEach(this::check);
        try (Cursor cursor = database.scan(Family.COUNT, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                long container = Keys.longAt(cursor.key(), 0);
                if (!known.contains(container)) {
                    checkNeedsNoEntry(
                            container, CountRecord.decode(container, cursor.value(), CountRecord.NO_GENERATION));
                }
            }
        }
        ContainerSummary summary = StoredRecords.containers(database);
        ContainerSummary found = new ContainerSummary(known.size(), storedBytes, garbageBytes, open);
        if (!summary.equals(found)) {
            report.accept("the summary of the container table is " + summary + " and its entries give " + found);
        }
        return summary;
    }

    private void check(ContainerEntry entry) throws IOException {
        known.add(entry.container());
        storedBytes += entry.stored().bytes();
        garbageBytes += entry.garbageBytes();
        if (entry.stored().state() == State.OPEN) {
            open.add(entry.container());
        }
        CountRecord counts = StoredRecords.counts(database, entry.container());
        StoredCopies copies = StoredCopies.of(counts);
        long live = copies.bytes() - copies.garbageBytes();
        if (entry.liveBytes() != live) {
            report.accept("container " + entry.container() + " has " + entry.liveBytes()
                    + " live bytes in the container table and " + live + " in its counts");
        }
        if (entry.damagedSlots() != counts.damagedSlots()) {
            report.accept("container " + entry.container() + " has " + entry.damagedSlots()
                    + " damaged slots in the container table and " + counts.damagedSlots() + " in its counts");
        }
    }

    /**
     * Only a container of which recovery found no whole frame has counts and no entry: it has chunks, and all of them
     * are damaged.
     */
    private void checkNeedsNoEntry(long container, CountRecord counts) {
        if (counts.hasSoundCopy()) {
            report.accept("container " + container + " has counts and is not in the container table");
        } else if (counts.alive().isEmpty()) {
            report.accept("container " + container
                    + " has a count record without any chunk and is not in the container table");
        }
    }
}
