package org.opendedup.sar.metadata.counts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.DamagedPlace;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.SystemRecords;

/**
 * The record of damage: where, when and how each was found. {@link ReferenceCounts} changes it together with its marks,
 * so a commit writes both in one batch. A place is recorded as long as a slot of its range is marked as damaged.
 *
 * <p>At most {@value #MAX_PLACES} places are recorded: a disk that fails must not fill the database. The marks of all
 * further ones are only counted, see {@link #unrecorded}. Safe for use by many threads.
 */
public final class DamageRecords {
    /** Maximum number of recorded places: some two megabytes. */
    public static final int MAX_PLACES = 10_000;

    /** Maximum number of recorded packs. Mounting finds a pack that is missing, recorded or not. */
    private static final int MAX_PACKS = 10_000;

    private static final byte[] PLACE = Keys.of("damage ");
    private static final byte[] PACK = Keys.of("damaged-pack ");

    private final Overlay overlay;
    private final FormerPlaces former;
    private final int maxPlaces;
    /** Guarded by this. */
    private int places;
    /** Guarded by this. */
    private long unrecorded;

    public DamageRecords(Overlay overlay) throws IOException {
        this(overlay, MAX_PLACES);
    }

    /** @param maxPlaces maximum number of recorded places */
    DamageRecords(Overlay overlay, int maxPlaces) throws IOException {
        this.overlay = overlay;
        this.maxPlaces = maxPlaces;
        former = new FormerPlaces(overlay);
        places = places().size();
        byte[] stored = overlay.get(Family.SYSTEM, SystemRecords.UNRECORDED_DAMAGE);
        unrecorded = stored == null ? 0 : SystemRecords.decodeNumber(stored);
    }

    /** Returns the recorded places, in ascending order of containers and slots. */
    public List<DamagedPlace> places() throws IOException {
        return scan(overlay, PLACE, after(PLACE));
    }

    /** Returns the places from which damaged containers were healed or recovered and that are still of use. */
    public FormerPlaces former() {
        return former;
    }

    /**
     * What is recorded of a container.
     *
     * @param places its damaged places, in ascending order
     * @param former where it was before it was healed or recovered
     */
    record Known(List<DamagedPlace> places, List<StoredContainer> former) {
        static final Known NOTHING = new Known(List.of(), List.of());
    }

    /** Returns what is recorded of a container. */
    public Known known(long container) throws IOException {
        return new Known(scan(overlay, placeKey(container, 0), placeKey(container + 1, 0)), former.of(container));
    }

    private static List<DamagedPlace> scan(Overlay records, byte[] from, byte[] to) throws IOException {
        List<DamagedPlace> found = new ArrayList<>();
        try (Cursor cursor = records.scan(Family.SYSTEM, from, to)) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                long container = Keys.longAt(key, PLACE.length);
                int slot = (int) Keys.longAt(key, PLACE.length + Keys.LONG_BYTES);
                found.add(DamagedPlace.decode(container, slot, cursor.value()));
            }
        }
        return found;
    }

    /**
     * Makes {@link #unrecorded} right by all counts and places, in a database that nobody changes meanwhile. To be
     * called after marks were written without their places.
     */
    public static void recount(KeyValueStore database) throws IOException {
        Overlay stored = new Overlay(database);
        long found = 0;
        try (Cursor cursor = database.scan(Family.COUNT, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                long container = Keys.longAt(cursor.key(), 0);
                BitSet damaged = damaged(container, cursor.value());
                if (!damaged.isEmpty()) {
                    List<DamagedPlace> places = scan(stored, placeKey(container, 0), placeKey(container + 1, 0));
                    found += uncovered(damaged, byFirstSlot(places));
                }
            }
        }
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, SystemRecords.UNRECORDED_DAMAGE, SystemRecords.encodeNumber(found));
            batch.commit();
        }
    }

    /** Returns the damaged slots of a count record; none if it cannot be decoded. */
    private static BitSet damaged(long container, byte[] counts) {
        try {
            return CountRecord.decode(container, counts, CountRecord.NO_GENERATION)
                    .damaged();
        } catch (IOException e) {
            return new BitSet();
        }
    }

    /** Returns the number of slots that are marked as damaged, and that no recorded place has. */
    public synchronized long unrecorded() {
        return unrecorded;
    }

    /**
     * Records a change of the marks of one container, whose records nobody else may change meanwhile. Reads nothing, so
     * it cannot fail. With the last mark the former places of the container go.
     *
     * @param known the result of {@link #known} before the change
     * @param before the damaged slots before the change
     * @param after the damaged slots after the change
     * @param added the place that was found damaged; null if none was
     */
    public synchronized void changed(
            long container, Known known, BitSet before, BitSet after, @Nullable DamagedPlace added) {
        if (after.isEmpty()) {
            known.former().forEach(place -> former.remove(container, place));
        }
        SortedMap<Integer, DamagedPlace> ranges = byFirstSlot(known.places());
        long uncovered = unrecorded - uncovered(before, ranges);
        if (added != null) {
            add(added, ranges);
        }
        for (DamagedPlace place : List.copyOf(ranges.values())) {
            int damaged = after.nextSetBit(place.firstSlot());
            if (damaged < 0 || damaged >= place.endSlot()) {
                overlay.remove(Family.SYSTEM, placeKey(container, place.firstSlot()));
                ranges.remove(place.firstSlot());
                places--;
            }
        }
        uncovered += uncovered(after, ranges);
        if (uncovered != unrecorded) {
            // Below 0 if marks were written without their places: the record must stay one that can be read.
            unrecorded = Math.max(0, uncovered);
            overlay.put(Family.SYSTEM, SystemRecords.UNRECORDED_DAMAGE, SystemRecords.encodeNumber(unrecorded));
        }
    }

    private static SortedMap<Integer, DamagedPlace> byFirstSlot(List<DamagedPlace> places) {
        SortedMap<Integer, DamagedPlace> ranges = new TreeMap<>();
        places.forEach(place -> ranges.put(place.firstSlot(), place));
        return ranges;
    }

    private void add(DamagedPlace added, SortedMap<Integer, DamagedPlace> ranges) {
        DamagedPlace old = ranges.get(added.firstSlot());
        if (old == null && places >= maxPlaces) {
            return;
        }
        DamagedPlace place = added;
        if (old == null) {
            places++;
        } else {
            // What was found first says most about the cause.
            int end = Math.max(old.endSlot(), added.endSlot());
            place = new DamagedPlace(old.container(), old.firstSlot(), end, old.note());
        }
        ranges.put(place.firstSlot(), place);
        overlay.put(Family.SYSTEM, placeKey(place.container(), place.firstSlot()), place.encode());
    }

    private static int uncovered(BitSet damaged, Map<Integer, DamagedPlace> ranges) {
        BitSet rest = (BitSet) damaged.clone();
        ranges.values().forEach(place -> rest.clear(place.firstSlot(), place.endSlot()));
        return rest.cardinality();
    }

    /** Returns the packs that were found missing, with when, in milliseconds since 1970. */
    public SortedMap<Long, Long> missingPacks() throws IOException {
        SortedMap<Long, Long> found = new TreeMap<>();
        try (Cursor cursor = overlay.scan(Family.SYSTEM, PACK, after(PACK))) {
            while (cursor.next()) {
                found.put(Keys.longAt(cursor.key(), PACK.length), SystemRecords.decodeNumber(cursor.value()));
            }
        }
        return found;
    }

    /**
     * Records which packs are missing now, as a change like any other: adds the new ones, and removes those that are
     * back.
     *
     * @param foundMs when that was found, in milliseconds since 1970
     * @return the packs that were not known to be missing
     */
    public List<Long> noteMissingPacks(SortedMap<Long, Long> missing, long foundMs) throws IOException {
        SortedMap<Long, Long> known = missingPacks();
        synchronized (this) {
            for (long pack : known.keySet()) {
                if (!missing.containsKey(pack)) {
                    overlay.remove(Family.SYSTEM, packKey(pack));
                }
            }
            List<Long> added = new ArrayList<>();
            for (long pack : missing.keySet()) {
                if (!known.containsKey(pack)) {
                    added.add(pack);
                    if (known.size() + added.size() <= MAX_PACKS) {
                        overlay.put(Family.SYSTEM, packKey(pack), SystemRecords.encodeNumber(foundMs));
                    }
                }
            }
            return added;
        }
    }

    private static byte[] placeKey(long container, long slot) {
        return Keys.join(PLACE, Keys.of(container, slot));
    }

    private static byte[] packKey(long pack) {
        return Keys.join(PACK, Keys.of(pack));
    }

    /** Returns the key after all that begin with a prefix. */
    private static byte[] after(byte[] prefix) {
        byte[] key = prefix.clone();
        key[key.length - 1]++;
        return key;
    }
}
