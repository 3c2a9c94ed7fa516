package org.opendedup.sar.metadata.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.opendedup.sar.objects.MemoryObjectStore;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;

/** An object store in memory whose requests are seen. Several views of it can be in use, each with steps of its own. */
final class SteppedObjectStore implements ObjectStore {
    private final MemoryObjectStore objects;
    private final Steps steps;
    private final boolean overwrites;

    SteppedObjectStore() {
        this(new MemoryObjectStore(), Steps.FREE, false);
    }

    private SteppedObjectStore(MemoryObjectStore objects, Steps steps, boolean overwrites) {
        this.objects = objects;
        this.steps = steps;
        this.overwrites = overwrites;
    }

    /** Returns a view of the same objects. */
    SteppedObjectStore with(Steps seen) {
        return new SteppedObjectStore(objects, seen, overwrites);
    }

    /** Returns a view for a control: a second put of a name succeeds. */
    SteppedObjectStore overwriting() {
        return new SteppedObjectStore(objects, steps, true);
    }

    /** Returns the names of all objects that begin with {@code prefix}. */
    List<String> names(String prefix) {
        return objects.list(prefix, "", Integer.MAX_VALUE - 1).names();
    }

    /** Replaces the bytes of an object, as damage does. */
    void damage(String name, byte[] bytes) throws IOException {
        objects.delete(List.of(name));
        objects.put(name, ObjectSource.of(bytes));
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        steps.at("put " + name, () -> {
            if (overwrites) {
                objects.delete(List.of(name));
            }
            objects.put(name, source);
        });
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        steps.at("read " + name, () -> objects.read(name, offset, target));
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        ObjectStatus[] status = new ObjectStatus[1];
        steps.at("status " + name, () -> status[0] = objects.status(name));
        return status[0];
    }

    @Override
    public ObjectPage list(String prefix, String after, int limit) throws IOException {
        ObjectPage[] page = new ObjectPage[1];
        steps.at("list " + prefix, () -> page[0] = objects.list(prefix, after, limit));
        return page[0];
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        steps.at("delete " + names, () -> objects.delete(names));
    }

    @Override
    public void removeUnfinished(Instant before) {}

    @Override
    public void close() {}

    @Override
    public String toString() {
        return "memory";
    }
}
