package org.opendedup.sar.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStatus;
import org.opendedup.sar.objects.ObjectStore;

/** An object store whose puts a test makes fail, and whose reads it counts. */
final class HookedObjectStore implements ObjectStore {
    /** When objects were put. */
    volatile Optional<Instant> madeAt = Optional.empty();

    private final ObjectStore store;
    final AtomicInteger reads = new AtomicInteger();
    final AtomicInteger statuses = new AtomicInteger();
    /** What puts fail with; null: they do not. */
    volatile @Nullable IOException failure;

    /** Whether no request is answered. */
    volatile boolean isSilent;

    /** Called before each read; null: nothing is. */
    volatile @Nullable Callable<?> beforeRead;

    /** Names of objects that cannot be put, as those of which the local file cannot be read. */
    volatile Predicate<String> refused = name -> false;

    /** Called before and after each put, and before each list; null: nothing is. */
    volatile @Nullable Callable<?> beforePut;

    volatile @Nullable Callable<?> afterPut;
    volatile @Nullable Callable<?> beforeList;

    /** Called before each deletion; null: nothing is. */
    volatile @Nullable Callable<?> beforeDelete;

    /** Names that lists lack, as those of a gateway may for a while. */
    volatile Predicate<String> unlisted = name -> false;

    HookedObjectStore(ObjectStore store) {
        this.store = store;
    }

    private void answer() throws UnavailableException {
        if (isSilent) {
            throw new UnavailableException("no answer");
        }
    }

    @Override
    public void put(String name, ObjectSource source) throws IOException {
        answer();
        IOException thrown = failure;
        if (thrown != null) {
            throw thrown;
        }
        if (refused.test(name)) {
            throw new IOException(name + " is refused");
        }
        call(beforePut);
        store.put(name, source);
        call(afterPut);
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        answer();
        reads.incrementAndGet();
        call(beforeRead);
        store.read(name, offset, target);
    }

    private static void call(@Nullable Callable<?> hook) throws IOException {
        if (hook != null) {
            try {
                hook.call();
            } catch (IOException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException(e);
            }
        }
    }

    @Override
    public ObjectStatus status(String name) throws IOException {
        answer();
        statuses.incrementAndGet();
        return store.status(name);
    }

    @Override
    public Optional<Instant> madeAt(String name) {
        return madeAt;
    }

    @Override
    public ObjectPage list(String prefix, String after, int limit) throws IOException {
        answer();
        call(beforeList);
        // Pages of two: what lists go on with is tried.
        ObjectPage page = store.list(prefix, after, Math.min(2, limit));
        List<ObjectPage.Entry> listed = page.objects().stream()
                .filter(entry -> !unlisted.test(entry.name()))
                .toList();
        return new ObjectPage(listed, page.isLast());
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        call(beforeDelete);
        store.delete(names);
    }

    @Override
    public void removeUnfinished(Instant before) throws IOException {
        store.removeUnfinished(before);
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
