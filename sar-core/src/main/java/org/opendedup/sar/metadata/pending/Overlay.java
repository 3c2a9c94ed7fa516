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
import org.opendedup.sar.metadata.record.Keys;

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
    /** Ranges that are queried before the database: a few, each for the duration of one step of a change. */
    private final List<HeldRange> held = new CopyOnWriteArrayList<>();

    private volatile Layers layers = new Layers(new Generation(1), null);

    public Overlay(KeyValueStore database) {
        this.database = database;
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

    private byte @Nullable [] committed(Family family, byte[] key) throws IOException {
        if (!held.isEmpty()) {
            for (HeldRange range : held) {
                if (range.covers(family, key)) {
                    return range.get(key);
                }
            }
        }
        return database.get(family, key);
    }

    private Cursor committed(Family family, byte[] from, byte[] to) throws IOException {
        for (HeldRange range : held) {
            if (range.covers(family, from, to)) {
                return range.scan(from, to);
            }
        }
        return database.scan(family, from, to);
    }

    /**
     * Keeps the committed records from {@code from} (inclusive) to {@code to} (exclusive) in memory until
     * {@link #release}: the first {@code max} records whose removal does not wait for a commit.
     *
     * @param first the first key that a record may have, {@code from} or greater
     */
    public HeldRange hold(Family family, byte[] from, byte[] first, byte[] to, int max) throws IOException {
        HeldRange range = new HeldRange(family, from, to);
        // Commits report their changes to the range as soon as it is in the list, and it reads the database only then:
        // so it misses none.
        held.add(range);
        try {
            range.load(database, first, max, key -> isRemoved(family, key));
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
        pending().put(family, key, value);
    }

    public void remove(Family family, byte[] key) {
        pending().put(family, key, Generation.DELETED);
    }

    /** Returns a cursor from {@code from} (inclusive) to {@code to} (exclusive), over all layers merged. */
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
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
        layers = new Layers(new Generation(now.pending.number() + 1), now.pending);
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
