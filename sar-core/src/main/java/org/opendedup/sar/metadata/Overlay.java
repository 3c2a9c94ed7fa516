package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * The database with the changes not yet committed laid over it: the pending generation over the frozen one over the
 * database. A reader takes both generations in one step, and before it looks into the database; so a commit that ends
 * meanwhile can hide nothing from it.
 */
final class Overlay {
    /** The generations a reader sees, newest first. */
    record Layers(Generation pending, @Nullable Generation frozen) {}

    private final KeyValueStore database;
    private volatile Layers layers = new Layers(new Generation(1), null);

    Overlay(KeyValueStore database) {
        this.database = database;
    }

    Layers layers() {
        return layers;
    }

    Generation pending() {
        return layers.pending;
    }

    KeyValueStore database() {
        return database;
    }

    byte @Nullable [] get(Family family, byte[] key) throws IOException {
        Layers now = layers;
        byte[] value = now.pending.changes(family).get(key);
        if (value == null && now.frozen != null) {
            value = now.frozen.changes(family).get(key);
        }
        if (value == null) {
            return database.get(family, key);
        }
        return value == Generation.DELETED ? null : value;
    }

    void put(Family family, byte[] key, byte[] value) {
        pending().put(family, key, value);
    }

    void remove(Family family, byte[] key) {
        pending().put(family, key, Generation.DELETED);
    }

    /** A cursor from {@code from} (inclusive) to {@code to} (exclusive), over all layers merged. */
    Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        Layers now = layers;
        List<Cursor> sources = new ArrayList<>(3);
        sources.add(new MapCursor(now.pending.changes(family).subMap(from, to)));
        if (now.frozen != null) {
            sources.add(new MapCursor(now.frozen.changes(family).subMap(from, to)));
        }
        sources.add(database.scan(family, from, to));
        return new MergedCursor(sources);
    }

    /** Freezes the pending generation. No change may run meanwhile; reads may. */
    Generation freeze() {
        Layers now = layers;
        if (now.frozen != null) {
            throw new IllegalStateException("the generation frozen before is not committed yet");
        }
        layers = new Layers(new Generation(now.pending.number() + 1), now.pending);
        return now.pending;
    }

    /** Writes the frozen generation in one batch, and drops it. */
    void commit(Generation generation) throws IOException {
        if (layers.frozen != generation) {
            throw new IllegalStateException("not the frozen generation, or committed before");
        }
        if (!generation.isEmpty()) {
            write(generation);
        }
        layers = new Layers(layers.pending, null);
    }

    private void write(Generation generation) throws IOException {
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
            batch.commit();
        }
    }
}
