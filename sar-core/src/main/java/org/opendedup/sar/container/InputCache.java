package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Input;

/**
 * A cache of packs open for reading, bounded in number. Evicts the least recently used file first, and closes it once
 * it is idle.
 */
final class InputCache implements Closeable {
    interface Opener {
        Input open(long pack) throws IOException;
    }

    private final int maxInputs;
    private final Opener opener;

    /** Leases in order of use, the most recently used last. Guarded by this. */
    private final LinkedHashMap<Long, Lease> leases = new LinkedHashMap<>(16, 0.75f, true);
    /** Number of calls of {@link #remove}. Guarded by this. */
    private long removals;

    InputCache(int maxInputs, Opener opener) {
        this.maxInputs = maxInputs;
        this.opener = opener;
    }

    /** An open file; each caller of {@link #acquire} must close its lease. */
    final class Lease implements Closeable {
        private final Input input;
        /** Number of callers that hold this lease. This and {@code evicted} are guarded by the cache. */
        private int users = 1;

        private boolean evicted;

        Lease(Input input) {
            this.input = input;
        }

        Input input() {
            return input;
        }

        @Override
        public void close() throws IOException {
            boolean last;
            synchronized (InputCache.this) {
                users--;
                last = evicted && users == 0;
            }
            if (last) {
                input.close();
            }
        }
    }

    Lease acquire(long pack) throws IOException {
        long before;
        synchronized (this) {
            before = removals;
            Lease cached = leases.get(pack);
            if (cached != null) {
                cached.users++;
                return cached;
            }
        }
        Lease opened = new Lease(opener.open(pack));
        List<Lease> idle = new ArrayList<>();
        synchronized (this) {
            if (before == removals) {
                evict(leases.put(pack, opened), idle);
            } else {
                // It may be the one that was removed meanwhile: its only user closes it.
                opened.evicted = true;
            }
            while (leases.size() > maxInputs) {
                Map.Entry<Long, Lease> eldest = leases.entrySet().iterator().next();
                leases.remove(eldest.getKey());
                evict(eldest.getValue(), idle);
            }
        }
        closeAll(idle);
        return opened;
    }

    private static void evict(@Nullable Lease lease, List<Lease> idle) {
        if (lease != null) {
            lease.evicted = true;
            if (lease.users == 0) {
                idle.add(lease);
            }
        }
    }

    /** Drops a file: the last user closes it. */
    void remove(long pack) throws IOException {
        List<Lease> idle = new ArrayList<>();
        synchronized (this) {
            removals++;
            evict(leases.remove(pack), idle);
        }
        closeAll(idle);
    }

    private static void closeAll(List<Lease> idle) throws IOException {
        for (Lease lease : idle) {
            lease.input.close();
        }
    }

    /** Closes the idle files; the last user of each other file closes it. */
    @Override
    public void close() throws IOException {
        List<Lease> idle = new ArrayList<>();
        synchronized (this) {
            leases.values().forEach(lease -> evict(lease, idle));
            leases.clear();
        }
        closeAll(idle);
    }
}
