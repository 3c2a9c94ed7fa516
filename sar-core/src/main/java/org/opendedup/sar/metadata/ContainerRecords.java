package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.BitSet;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.counts.DamageRecords;
import org.opendedup.sar.metadata.counts.FormerPlaces;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.ContainerSummary;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamagedPlace;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.Totals;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;

/**
 * The records of the container table and of the counts as they are in a database, damaged ones included: for the check
 * of a volume, and for making its container table anew. The volume must not be in use.
 */
public final class ContainerRecords {
    private final KeyValueStore database;
    private final MetadataHeader header;

    private ContainerRecords(KeyValueStore database, MetadataHeader header) {
        this.database = database;
        this.header = header;
    }

    /**
     * Reads the header of a volume's metadata, and nothing else.
     *
     * @throws org.opendedup.sar.common.UnsupportedFormatException if another program version created it
     */
    public static ContainerRecords open(KeyValueStore database) throws IOException {
        return new ContainerRecords(
                database, SystemRecords.decodeHeader(StoredRecords.system(database, SystemRecords.HEADER)));
    }

    public MetadataHeader header() {
        return header;
    }

    public Timeline timeline() throws IOException {
        return EpochHistory.open(database, header.volume());
    }

    /** Receives records; see {@link #forEachEntry}. */
    @FunctionalInterface
    public interface EntryVisitor {
        /** @param entry null if the record is damaged */
        void visit(long container, @Nullable ContainerEntry entry) throws IOException;
    }

    /** Visits the records of the container table in ascending order of ids. */
    public void forEachEntry(EntryVisitor visitor) throws IOException {
        try (Cursor cursor = database.scan(Family.CONTAINER, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                if (key.length == Keys.LONG_BYTES) {
                    visitor.visit(Keys.longAt(key, 0), decode(Keys.longAt(key, 0), cursor.value()));
                }
            }
        }
    }

    /** Returns a container's entry; null if it has none, or a damaged one. */
    public @Nullable ContainerEntry entry(long container) throws IOException {
        byte[] value = database.get(Family.CONTAINER, Keys.of(container));
        return value == null ? null : decode(container, value);
    }

    /** The version of the whole database is checked before: a record of another version is damaged, too. */
    private static @Nullable ContainerEntry decode(long container, byte[] value) {
        try {
            return ContainerEntry.decode(container, value);
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns why the summary of the container table is not the sum of these entries; null if it is. */
    public @Nullable String summaryProblem(Sum sum) throws IOException {
        ContainerSummary found = sum.summary();
        try {
            ContainerSummary stored = StoredRecords.containers(database);
            return stored.equals(found) ? null : "it is " + stored + " and its entries give " + found;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    /** Totals of entries: what the summary of a table with these entries must be. */
    public static final class Sum {
        private long containers;
        private long storedBytes;
        private long garbageBytes;
        private final NavigableSet<Long> open = new TreeSet<>();

        public void add(ContainerEntry entry) {
            containers++;
            storedBytes += entry.stored().bytes();
            garbageBytes += entry.garbageBytes();
            if (entry.stored().state() == State.OPEN) {
                open.add(entry.container());
            }
        }

        private ContainerSummary summary() {
            return new ContainerSummary(containers, storedBytes, garbageBytes, open);
        }
    }

    /** Visits the places from which containers were healed and that are still of use. */
    public void forEachFormer(FormerPlaces.Visitor visitor) throws IOException {
        new FormerPlaces(new Overlay(database)).forEach(visitor);
    }

    /** Visits the counts of all containers in ascending order of ids. */
    public void forEachCounted(MetadataRecords.CountVisitor visitor) throws IOException {
        MetadataRecords.countsOf(database, visitor);
    }

    /**
     * Returns a container's counts; null if it has none.
     *
     * @throws CorruptionException if the record is damaged
     */
    public @Nullable ContainerCounts counts(long container) throws IOException {
        byte[] value = database.get(Family.COUNT, Keys.of(container));
        return value == null ? null : CountRecord.decode(container, value, CountRecord.NO_GENERATION);
    }

    /** Receives the references of all recipes; see {@link #forEachReference}. */
    @FunctionalInterface
    public interface ReferenceVisitor {
        void visit(long chunkId, int fingerprintPrefix);
    }

    /**
     * Visits every reference of every recipe, present ones and those of snapshots. A damaged recipe page has none, and
     * so has a volume of chunks: its recipes are logs, which may name what no longer exists.
     *
     * @return whether no page is damaged
     */
    public boolean forEachReference(ReferenceVisitor visitor) throws IOException {
        boolean areAllWhole = true;
        if (header.contents() == MetadataHeader.Contents.CHUNKS) {
            return areAllWhole;
        }
        try (Cursor cursor = database.scan(Family.RECIPE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                areAllWhole &= visit(cursor.key(), cursor.value(), visitor);
            }
        }
        try (Cursor cursor = database.scan(
                Family.VERSION, VersionKeys.from(Kind.RECIPE, Keys.FIRST), VersionKeys.end(Kind.RECIPE))) {
            while (cursor.next()) {
                areAllWhole &= visit(VersionKeys.numbers(Kind.RECIPE, cursor.key()), cursor.value(), visitor);
            }
        }
        return areAllWhole;
    }

    private boolean visit(byte[] key, byte[] value, ReferenceVisitor visitor) throws IOException {
        RecipePage page;
        try {
            page = RecipeFormat.decode(key, value, header.pageBytes());
        } catch (CorruptionException e) {
            return false;
        }
        for (int entry = 0; entry < page.count(); entry++) {
            if (page.chunkId(entry) != ChunkId.NONE) {
                visitor.visit(page.chunkId(entry), page.fingerprintPrefix(entry));
            }
        }
        return true;
    }

    /** Begins a new table. */
    public Replacement replace() throws IOException {
        return new Replacement(database.batch());
    }

    /**
     * A new container table, which takes the place of the old one in one atomic batch: a crash leaves either. The batch
     * holds only what differs, up to about 60 bytes of native memory for each container.
     */
    public final class Replacement implements AutoCloseable {
        private final Batch batch;
        private final Sum sum = new Sum();
        /** The record of damage, whose changes {@link #commit} adds to the batch. */
        private final Overlay damageChanges = new Overlay(database);

        private final DamageRecords damage;
        private long changes;
        /** Chunks that a recipe refers to, and that this table marks as damaged. */
        private long newlyLost;

        private Replacement(Batch batch) throws IOException {
            this.batch = batch;
            damage = new DamageRecords(damageChanges);
        }

        /**
         * Adds an entry, with the live bytes and damaged slots of the container's counts. All bytes of a container
         * whose counts are damaged are taken for live.
         *
         * @param missing slots that are alive and not in the container: they are marked as damaged
         */
        public void put(long container, StoredContainer stored, BitSet missing) throws IOException {
            CountRecord counts = readable(container);
            ContainerEntry entry = new ContainerEntry(container, stored, stored.rawBytes(), 0);
            if (counts != null) {
                CountRecord marked = mark(container, counts, missing);
                StoredCopies copies = StoredCopies.of(marked);
                entry = new ContainerEntry(
                        container, stored, copies.bytes() - copies.garbageBytes(), marked.damagedSlots());
            }
            sum.add(entry);
            if (!entry.equals(entry(container))) {
                batch.put(Family.CONTAINER, Keys.of(container), ContainerEntry.encode(entry));
                changes++;
            }
        }

        /** Records another place of a container, from which a pass of healing may take what the table's place lacks. */
        public void addFormer(long container, StoredContainer place) {
            damage.former().add(container, place);
            changes++;
        }

        /** Adds an entry of the present table as it is. */
        public void keep(ContainerEntry entry) {
            sum.add(entry);
        }

        private @Nullable CountRecord readable(long container) throws IOException {
            try {
                return StoredRecords.counts(database, container);
            } catch (CorruptionException | UnsupportedFormatException e) {
                return null;
            }
        }

        private CountRecord mark(long container, CountRecord counts, BitSet missing) throws IOException {
            BitSet unmarked = (BitSet) missing.clone();
            missing.stream().filter(counts::isDamaged).forEach(unmarked::clear);
            if (unmarked.isEmpty()) {
                return counts;
            }
            CountRecord marked = counts.copy(CountRecord.NO_GENERATION);
            unmarked.stream().forEach(slot -> marked.markDamaged(slot, slot + 1));
            batch.put(Family.COUNT, Keys.of(container), marked.encode());
            changes++;
            damage.changed(
                    container,
                    damage.known(container),
                    counts.damaged(),
                    marked.damaged(),
                    new DamagedPlace(
                            container,
                            unmarked.nextSetBit(0),
                            unmarked.length(),
                            DamageNote.now(
                                    DamageNote.NO_FRAME, DamageNote.How.OTHER, "these chunks are not in any pack")));
            newlyLost += unmarked.stream().filter(marked::isLost).count();
            return marked;
        }

        /**
         * Leaves a container out that has counts and cannot be found. All its chunks are marked as damaged; counts
         * without a chunk are deleted, since they say nothing.
         */
        public void leaveOut(long container) throws IOException {
            CountRecord counts = readable(container);
            if (counts == null) {
                return;
            }
            if (counts.alive().isEmpty()) {
                batch.delete(Family.COUNT, Keys.of(container));
                changes++;
            } else {
                mark(container, counts, counts.alive());
            }
        }

        /** Removes the entry of a container that the new table does not have. */
        public void remove(long container) throws IOException {
            batch.delete(Family.CONTAINER, Keys.of(container));
            changes++;
        }

        /**
         * Makes the new table durable.
         *
         * @return the number of records that differed
         */
        public long commit() throws IOException {
            if (summaryProblem(sum) != null) {
                batch.put(Family.SYSTEM, SystemRecords.CONTAINERS, SystemRecords.encodeContainers(sum.summary()));
                changes++;
            }
            Totals totals = newlyLost > 0 ? MetadataRecords.totalsOf(database) : null;
            if (totals != null) { // A repair counts damaged ones again.
                StoredCopies lost = new StoredCopies(0, 0, 0, 0, newlyLost);
                Totals now = new Totals(
                        totals.logicalBytes(), totals.files(), totals.stored().plus(lost));
                batch.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(now));
                changes++;
            }
            for (var change : damageChanges.pending().changes(Family.SYSTEM).entrySet()) {
                if (change.getValue() == Generation.DELETED) {
                    batch.delete(Family.SYSTEM, change.getKey());
                } else {
                    batch.put(Family.SYSTEM, change.getKey(), change.getValue());
                }
            }
            if (changes > 0) {
                batch.commit();
            }
            return changes;
        }

        @Override
        public void close() {
            batch.close();
        }
    }
}
