package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStoreProvider;
import org.opendedup.sar.objects.ReplaceableObjects;

/**
 * Folders that answer as late as an object store elsewhere, for measuring: {@code slow://MILLISECONDS/FOLDER}. Each
 * request waits so long before it is made; any number of them wait at the same time.
 */
public final class SlowStoreProvider implements ObjectStoreProvider {
    @Override
    public String scheme() {
        return "slow";
    }

    @Override
    public ObjectStore open(URI address) throws IOException {
        Path folder = Files.createDirectories(Path.of(address.getPath()));
        return new SlowStore(FolderObjectStore.open(folder), Long.parseLong(address.getHost()));
    }

    private static final class SlowStore implements ObjectStore {
        private final ObjectStore store;
        private final long waitNanos;
        private final Map<String, LongAdder> requests = new ConcurrentSkipListMap<>();

        SlowStore(ObjectStore store, long waitMillis) {
            this.store = store;
            waitNanos = TimeUnit.MILLISECONDS.toNanos(waitMillis);
        }

        private void await(String kind) {
            requests.computeIfAbsent(kind, made -> new LongAdder()).increment();
            long end = System.nanoTime() + waitNanos;
            for (long left = waitNanos; left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }

        @Override
        public void put(String name, ObjectSource source) throws IOException {
            await("put");
            store.put(name, source);
        }

        @Override
        public void read(String name, long offset, ByteBuffer target) throws IOException {
            await("read");
            store.read(name, offset, target);
        }

        @Override
        public ObjectStatus status(String name) throws IOException {
            await("status");
            return store.status(name);
        }

        @Override
        public ObjectPage list(String prefix, String after, int limit) throws IOException {
            await("list");
            return store.list(prefix, after, limit);
        }

        @Override
        public void delete(Collection<String> names) throws IOException {
            await("delete");
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
        public void close() throws IOException {
            System.err.println("requests to " + store + ": " + requests);
            store.close();
        }

        @Override
        public String toString() {
            return store.toString();
        }
    }
}
