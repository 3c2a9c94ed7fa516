package org.opendedup.sar.metadata.versions;

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;

/**
 * The records that two states of a volume do not have in common: a snapshot, and a later one or what is committed at
 * present. Found by births and deaths, without comparing values: so a record that was written again with the same value
 * counts as changed, and one whose bytes were only moved to other containers does not.
 *
 * <p>Reads the present records of a family once, and of all versions those that were born or died between the two
 * states. The present state must not change meanwhile if it is one of the two; between two snapshots, anything may be
 * committed. Safe for use by many threads.
 */
public final class StateDifference {
    /** Stands for the present state, as of the last commit. */
    public static final long PRESENT = Long.MAX_VALUE;

    /** Deaths of other kinds that are passed over before a cursor is moved past the rest of them. */
    private static final int MOST_PASSED = 16;

    /** Receives the keys of records. */
    @FunctionalInterface
    public interface KeyConsumer {
        void accept(byte[] key) throws IOException;
    }

    private final KeyValueStore database;
    private final Snapshots snapshots;
    private final long from;
    private final long to;
    /** The lowest birth of what the earlier state cannot have. */
    private final long firstBirth;

    /**
     * @param from number of a snapshot; 0: a volume without any record
     * @param to number of a later one, or {@link #PRESENT}
     */
    public StateDifference(KeyValueStore database, Snapshots snapshots, long from, long to) {
        if (from < 0 || from >= to) {
            throw new IllegalArgumentException("no earlier and later state: " + from + ", " + to);
        }
        this.database = database;
        this.snapshots = snapshots;
        this.from = from;
        this.to = to;
        // What is older than all snapshots has birth 0.
        firstBirth = from == 0 ? 0 : from + 1;
    }

    /**
     * Tells the keys, without the number of a snapshot, of the records of a family that differ: one state has it and
     * the other has none, or another one. In no order. A key is told once for each of the two states that has such a
     * record, so twice if both have; more often only if it is moved meanwhile. ESTALE if one of the snapshots was
     * deleted before the end; then keys may be missing.
     *
     * @param family one of {@link Kinds}
     */
    public void forEachKey(Family family, KeyConsumer consumer) throws IOException {
        Kind kind = Objects.requireNonNull(Kinds.of(family));
        // The present records first: one that is moved meanwhile is found in both places.
        tellPresent(family, Keys.FIRST, Keys.END, consumer);
        tellDead(kind, consumer);
        requireLiving();
    }

    /**
     * Tells the keys as {@link #forEachKey(Family, KeyConsumer)} does, of the records from one key (inclusive) to
     * another (exclusive): reads all versions of these.
     *
     * @param first the first long of its key, or more
     */
    public void forEachKey(Family family, byte[] first, byte[] end, KeyConsumer consumer) throws IOException {
        Kind kind = Objects.requireNonNull(Kinds.of(family));
        tellPresent(family, first, end, consumer);
        byte[] firstVersion = VersionKeys.from(kind, first);
        try (Cursor versions = database.scan(Family.VERSION, firstVersion, VersionKeys.from(kind, end))) {
            tellVersions(kind, versions, consumer);
        }
        requireLiving();
    }

    /**
     * Tells the keys, as {@link #forEachKey(Family, KeyConsumer)} does, of the records of a family that the earlier
     * state has, and the later one has not, or has others of; and perhaps of some others that differ. Reads only what
     * died after the earlier state.
     */
    public void forEachGone(Family family, KeyConsumer consumer) throws IOException {
        tellDead(Objects.requireNonNull(Kinds.of(family)), consumer);
        requireLiving();
    }

    private void requireLiving() throws PosixException {
        if (from > 0) {
            snapshots.requireLiving(from);
        }
        if (to != PRESENT) {
            snapshots.requireLiving(to);
        }
    }

    private boolean isBornBetween(long birth) {
        return birth >= firstBirth && birth <= to;
    }

    /** Returns whether one of the two states has a version, and the other has not. */
    private boolean differs(long birth, long death) {
        return death <= to ? death > from && birth < firstBirth : isBornBetween(birth);
    }

    private void tellPresent(Family family, byte[] first, byte[] end, KeyConsumer consumer) throws IOException {
        try (Cursor present = database.scan(family, first, end)) {
            while (present.next()) {
                if (isBornBetween(Births.of(present.value()))) {
                    consumer.accept(present.key());
                }
            }
        }
    }

    private void tellVersions(Kind kind, Cursor versions, KeyConsumer consumer) throws IOException {
        while (versions.next()) {
            byte[] key = versions.key();
            if (differs(Births.of(versions.value()), VersionKeys.deathOf(kind, key))) {
                consumer.accept(VersionKeys.keyOf(kind, key));
            }
        }
    }

    /** Tells the records whose version died after the earlier state, in the order of the deaths. */
    private void tellDead(Kind kind, KeyConsumer consumer) throws IOException {
        byte @Nullable [] next = Keys.of(from + 1);
        while (next != null) {
            next = tellDead(kind, next, consumer);
        }
    }

    /** Reads deaths until it is worth to pass over some of them; returns the key to go on from, null at the end. */
    private byte @Nullable [] tellDead(Kind kind, byte[] start, KeyConsumer consumer) throws IOException {
        int passed = 0;
        try (Cursor deaths = database.scan(Family.DEATH, start, Keys.END)) {
            while (deaths.next()) {
                byte[] key = deaths.key();
                long death = Keys.longAt(key, 0);
                long birth = Keys.longAt(key, Keys.LONG_BYTES);
                if (VersionKeys.kindOfDeath(key) == kind && differs(birth, death)) {
                    tellDead(kind, VersionKeys.numbersOfDeath(key), birth, death, consumer);
                    passed = 0;
                } else if (++passed >= MOST_PASSED) {
                    return after(kind, key, birth, death);
                }
            }
        }
        return null;
    }

    /** Returns where the next deaths may be that are looked for, after one that is not. */
    private byte[] after(Kind kind, byte[] key, long birth, long death) {
        if (!differs(birth, death)) {
            // Births of one death ascend: those that differ are the first ones, or from one on.
            return death > to && birth < firstBirth ? Keys.of(death, firstBirth) : Keys.of(death + 1);
        }
        byte[] ofKind = VersionKeys.death(death, birth, kind, Keys.FIRST);
        return Arrays.compareUnsigned(key, ofKind) < 0 ? ofKind : Keys.of(death, birth + 1);
    }

    private void tellDead(Kind kind, byte[] numbers, long birth, long death, KeyConsumer consumer) throws IOException {
        if (!kind.hasName()) {
            consumer.accept(numbers);
            return;
        }
        byte[] first = VersionKeys.version(kind, numbers, death);
        byte[] end = VersionKeys.version(kind, numbers, death + 1);
        try (Cursor versions = database.scan(Family.VERSION, first, end)) {
            while (versions.next()) {
                if (Births.of(versions.value()) == birth) {
                    consumer.accept(VersionKeys.keyOf(kind, versions.key()));
                }
            }
        }
    }
}
