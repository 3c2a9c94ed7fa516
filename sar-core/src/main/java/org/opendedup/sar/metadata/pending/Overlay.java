package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.MapCursor;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.versions.Kinds;
import org.opendedup.sar.metadata.versions.SnapshotReads;
import org.opendedup.sar.metadata.versions.Snapshots;
import org.opendedup.sar.metadata.versions.VersionKeeper;
import org.opendedup.sar.metadata.versions.VersionKeeper.Rule;

/**
 * The database with the uncommitted changes laid over it: the pending generation over the frozen one over the database.
 * A reader reads the references of both generations in one step, and only then reads the database; so a commit that
 * ends in the meantime hides nothing from it. Ranges of the database may be held in memory; readers use them instead of
 * the database.
 */
public final class Overlay {
    /** The generations that a reader sees, newest first. */
    public record Layers(Generation pending, @Nullable Generation frozen) {}

    private final KeyValueStore database;
    private final Snapshots snapshots;
    private final SnapshotReads snapshotReads;
    /** Ranges that are queried before the database: a few, each for the duration of one step of a change. */
    private final List<HeldRange> held = new CopyOnWriteArrayList<>();

    private volatile Layers layers;

    /** Lays changes over a database of which no snapshot is made or read. */
    public Overlay(KeyValueStore database) {
        this(database, Snapshots.none());
    }

    public Overlay(KeyValueStore database, Snapshots snapshots) {
        this.database = database;
        this.snapshots = snapshots;
        snapshotReads = new SnapshotReads(database, snapshots);
        layers = new Layers(new Generation(1, Rule.of(snapshots)), null);
    }

    public Layers layers() {
        return layers;
    }

    public Generation pending() {
        return layers.pending;
    }

    public KeyValueStore database() {
        return database;
    }

    public byte @Nullable [] get(Family family, byte[] key) throws IOException {
        if (isInSnapshot(family, key)) {
            return committed(family, key);
        }
        Layers now = layers;
        byte[] value = now.pending.changes(family).get(key);
        if (value == null && now.frozen != null) {
            value = now.frozen.changes(family).get(key);
        }
        if (value == null) {
            return committed(family, key);
        }
        return value == Generation.DELETED ? null : value;
    }

    private boolean isInSnapshot(Family family, byte[] key) {
        return snapshots.birth() > 0
                && Kinds.of(family) != null
                && key.length >= Keys.LONG_BYTES
                && SnapshotIds.isInSnapshot(Keys.longAt(key, 0));
    }

    /** Returns whether a record that was born then stays in a snapshot when it is replaced now. */
    public boolean keeps(long bornIn) {
        return pending().rule().keeps(bornIn);
    }

    /**
     * Notes what the commit of the pending changes will write besides them, in bytes, so that they do not get too many.
     */
    public void noteKept(int bytes) {
        pending().addBytes(bytes);
    }

    /** Returns the birth of the records that are put now. */
    public long birth() {
        return pending().rule().birth();
    }

    private byte @Nullable [] committed(Family family, byte[] key) throws IOException {
        if (!held.isEmpty()) {
            for (HeldRange range : held) {
                if (range.covers(family, key)) {
                    return range.get(key);
                }
            }
        }
        return isInSnapshot(family, key) ? snapshotReads.get(family, key) : database.get(family, key);
    }

    private Cursor committed(Family family, byte[] from, byte[] to) throws IOException {
        for (HeldRange range : held) {
            if (range.covers(family, from, to)) {
                return range.scan(from, to);
            }
        }
        return isInSnapshot(family, from) ? snapshotReads.scan(family, from, to) : database.scan(family, from, to);
    }

    /**
     * Keeps the committed records from {@code from} (inclusive) to {@code to} (exclusive) in memory until
     * {@link #release}: the first {@code max} records whose removal does not wait for a commit, or fewer if they have
     * many bytes.
     *
     * @param first the first key that a record may have, {@code from} or greater
     */
    public HeldRange hold(Family family, byte[] from, byte[] first, byte[] to, int max) throws IOException {
        boolean isOfSnapshot = isInSnapshot(family, first);
        HeldRange range = new HeldRange(family, from, to, isOfSnapshot);
        // Commits report their changes to the range as soon as it is in the list, and it reads the database only then:
        // so it misses none.
        held.add(range);
        try {
            try (Cursor cursor =
                    isOfSnapshot ? snapshotReads.scan(family, first, to) : database.scan(family, first, to)) {
                range.load(cursor, max, key -> isRemoved(family, key));
            }
            return range;
        } catch (IOException | RuntimeException e) {
            held.remove(range);
            throw e;
        }
    }

    private boolean isRemoved(Family family, byte[] key) {
        Layers now = layers;
        byte[] value = now.pending.changes(family).get(key);
        if (value == null && now.frozen != null) {
            value = now.frozen.changes(family).get(key);
        }
        return value == Generation.DELETED;
    }

    public void release(HeldRange range) {
        held.remove(range);
    }

    public void put(Family family, byte[] key, byte[] value) {
        Generation pending = pending();
        pending.put(
                family,
                key,
                Kinds.of(family) == null
                        ? value
                        : Births.stamped(value, pending.rule().birth()));
    }

    /**
     * Puts a record in the place of one with this birth, also in the snapshots that have that one: it says the same in
     * another form.
     */
    public void rewrite(Family family, byte[] key, byte[] value, long birth) {
        pending().put(family, key, Births.stamped(value, birth));
    }

    public void remove(Family family, byte[] key) {
        pending().put(family, key, Generation.DELETED);
    }

    /** Returns a cursor from {@code from} (inclusive) to {@code to} (exclusive), over all layers merged. */
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        if (isInSnapshot(family, from)) {
            return committed(family, from, to);
        }
        Layers now = layers;
        List<Cursor> sources = new ArrayList<>(3);
        sources.add(new MapCursor(now.pending.changes(family).subMap(from, to)));
        if (now.frozen != null) {
            sources.add(new MapCursor(now.frozen.changes(family).subMap(from, to)));
        }
        sources.add(committed(family, from, to));
        return new MergedCursor(sources);
    }

    /** Freezes the pending generation. No change may run at the same time; reads may. */
    public Generation freeze() {
        Layers now = layers;
        if (now.frozen != null) {
            throw new IllegalStateException("the generation frozen before is not committed yet");
        }
        layers = new Layers(new Generation(now.pending.number() + 1, Rule.of(snapshots)), now.pending);
        return now.pending;
    }

    /**
     * Writes the frozen generation and the changes of the container table in one batch, and drops the generation.
     *
     * @return whether anything was to be written
     */
    public boolean commit(Generation generation, ContainerUpdate containers) throws IOException {
        if (layers.frozen != generation) {
            throw new IllegalStateException("not the frozen generation, or committed before");
        }
        boolean hasChanges = !generation.isEmpty() || !containers.isEmpty();
        if (hasChanges) {
            write(generation, containers);
            held.forEach(range -> range.committed(generation));
        }
        layers = new Layers(layers.pending, null);
        return hasChanges;
    }

    private void write(Generation generation, ContainerUpdate containers) throws IOException {
        try (Batch batch = database.batch()) {
            for (Family family : Family.values()) {
                VersionKeeper.keep(
                        database,
                        batch,
                        generation.rule(),
                        family,
                        generation.changes(family),
                        generation.changes(Family.VERSION));
                for (var change : generation.changes(family).entrySet()) {
                    if (change.getValue() == Generation.DELETED) {
                        batch.delete(family, change.getKey());
                    } else {
                        batch.put(family, change.getKey(), change.getValue());
                    }
                }
            }
            for (var change : generation.counts().entrySet()) {
                batch.put(
                        Family.COUNT,
                        Keys.of(change.getKey()),
                        change.getValue().encode());
            }
            containers.addTo(batch);
            batch.commit();
        }
    }
}
