package org.opendedup.sar.objects.reliable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectParts;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;

/** A store that does what another does, but for what a test overrides. */
class ForwardingStore implements ObjectStore {
    private final ObjectStore store;

    ForwardingStore(ObjectStore store) {
        this.store = store;
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        store.put(name, source);
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        store.read(name, offset, target);
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        return store.status(name);
    }

    @Override
    public ObjectPage list(String prefix, String after, int limit) throws IOException {
        return store.list(prefix, after, limit);
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        store.delete(names);
    }

    @Override
    public void removeUnfinished(Instant before) throws IOException {
        store.removeUnfinished(before);
    }

    @Override
    public Optional<ReplaceableObjects> replaceable() {
        return store.replaceable();
    }

    @Override
    public Optional<ObjectParts> parts() {
        return store.parts();
    }

    @Override
    public void close() throws IOException {
        store.close();
    }

    @Override
    public String toString() {
        return "forwarded " + store;
    }
}
