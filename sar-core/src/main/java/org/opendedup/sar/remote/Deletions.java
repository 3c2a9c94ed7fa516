package org.opendedup.sar.remote;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The packs that the volume deleted and that are still there: in the local folder until the metadata in the store do
 * not name them any more, and in the store as long as a reader elsewhere may need them.
 *
 * <p>A reader registers before it copies the metadata. So one that is not registered when these are asked for, after
 * the metadata in the store have stopped naming a pack, will never need it; of those that are, each is waited for. Safe
 * for use by many threads.
 */
final class Deletions implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Deletions.class);
    private static final long PERIOD_MS = 1000;
    /** Time between two questions which readers are registered, each of which is a request to the store. */
    private static final long LOOK_NS = TimeUnit.MINUTES.toNanos(1);
    /** The same while no deleted pack waits: then only the figures need the answer. */
    private static final long IDLE_LOOK_NS = TimeUnit.MINUTES.toNanos(5);

    /** Time between two removals of what puts left that never ended. */
    private static final long SWEEP_NS = TimeUnit.DAYS.toNanos(1);
    /** What is older belongs to a put that has ended: none takes as long, and clocks may differ by hours. */
    private static final Duration UNFINISHED = Duration.ofDays(1);

    /** Removes the local file of a pack. */
    interface Dropping {
        void drop(String name) throws IOException;
    }

    private static final class Deletion {
        final String name;
        /** Number of the last mark before the deletion. */
        final long mark;
        /** Whether the metadata in the store do not name it any more. */
        volatile boolean isUnnamed;
        /** The readers that may need it; null: it is not known yet. Used by {@link #run} only. */
        @Nullable
        Set<String> readers;

        Deletion(String name, long mark) {
            this.name = name;
            this.mark = mark;
        }
    }

    private final ObjectStore store;
    private final Readers readers;
    private final LongSupplier nanoClock;
    private final Dropping dropping;
    private final String volume;
    private final Map<String, Deletion> pending = new ConcurrentHashMap<>();
    /** The last mark of which the store has all metadata. They may lack what an earlier process committed here. */
    private final AtomicLong shipped = new AtomicLong(-1);

    /**
     * Held while packs are deleted, which asks who the owner is. So nothing waits for it that is called while metadata
     * are put: who asks waits for that.
     */
    private final Object deleting = new Object();

    private volatile Closing.Step ownership = () -> {};
    private volatile @Nullable ScheduledThreadPoolExecutor timer;
    /** When the readers were asked for last. */
    private long lookedNs;
    /** When it was last tried to remove what puts left. Used by the timer only. */
    private long sweptNs;

    Deletions(ObjectStore store, Readers readers, LongSupplier nanoClock, String volume, Dropping dropping) {
        this.store = store;
        this.readers = readers;
        this.nanoClock = nanoClock;
        this.dropping = dropping;
        this.volume = volume;
        lookedNs = nanoClock.getAsLong() - IDLE_LOOK_NS;
        sweptNs = nanoClock.getAsLong() - SWEEP_NS;
    }

    /**
     * Begins to delete in the background.
     *
     * @param owned fails if the volume has another owner
     */
    void start(Closing.Step owned) {
        ownership = owned;
        ScheduledThreadPoolExecutor started = new ScheduledThreadPoolExecutor(1, Threads.named(volume + "-delete"));
        started.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        started.scheduleWithFixedDelay(Threads.lasting(this::runLogging), PERIOD_MS, PERIOD_MS, TimeUnit.MILLISECONDS);
        timer = started;
    }

    /** Notes a deletion, after the mark with this number. The commit that left the pack had that mark or an earlier. */
    void add(String name, long mark) {
        pending.put(name, new Deletion(name, mark));
        unname();
    }

    boolean has(String name) {
        return pending.containsKey(name);
    }

    /** Returns whether a pack was deleted before a mark, so that the metadata of that mark do not name it. */
    boolean wasBefore(String name, long mark) {
        Deletion deletion = pending.get(name);
        return deletion != null && deletion.mark < mark;
    }

    /** Returns how many packs are deleted and still in the store. */
    int count() {
        return pending.size();
    }

    /** Notes that the metadata in the store have all commits up to a mark. */
    void shipped(long mark) {
        shipped.accumulateAndGet(mark, Math::max);
        unname();
    }

    private void unname() {
        long upTo = shipped.get();
        for (Deletion deletion : pending.values()) {
            if (!deletion.isUnnamed && deletion.mark <= upTo) {
                try {
                    dropping.drop(deletion.name);
                } catch (IOException e) {
                    log.warn("{} stays in the local folder until a collection: {}", deletion.name, e.getMessage());
                }
                deletion.isUnnamed = true;
            }
        }
    }

    private void runLogging() {
        try {
            long now = nanoClock.getAsLong();
            boolean isDue = pending.values().stream().anyMatch(deletion -> deletion.isUnnamed);
            if (isDue && now - lookedNs >= LOOK_NS) {
                lookedNs = now;
                run();
            } else if (now - lookedNs >= IDLE_LOOK_NS) {
                lookedNs = now;
                readers.look();
            }
        } catch (IOException | RuntimeException e) {
            log.warn("deleted packs are still in {}, and are deleted later: {}", store, e.getMessage());
        }
        sweep();
    }

    /** Removes what puts left in the store that a kill ended: it takes space, and no list shows it. */
    private void sweep() {
        long now = nanoClock.getAsLong();
        if (now - sweptNs < SWEEP_NS) {
            return;
        }
        sweptNs = now;
        try {
            ownership.run();
            store.removeUnfinished(Instant.now().minus(UNFINISHED));
        } catch (IOException | RuntimeException e) {
            // Some stores have no such request, or do not allow it to who owns the objects.
            log.debug("what unfinished puts left in {} stays for another day", store, e);
        }
    }

    /** Deletes the objects that no reader needs. */
    void run() throws IOException {
        synchronized (deleting) {
            deleteUnnamed();
        }
    }

    private void deleteUnnamed() throws IOException {
        List<Deletion> unnamed =
                pending.values().stream().filter(deletion -> deletion.isUnnamed).toList();
        if (unnamed.isEmpty()) {
            return;
        }
        // Asked after the packs were unnamed.
        Set<String> registered = readers.look().keySet();
        List<String> due = new ArrayList<>();
        for (Deletion deletion : unnamed) {
            Set<String> waitedFor = new HashSet<>(deletion.readers == null ? registered : deletion.readers);
            waitedFor.retainAll(registered);
            deletion.readers = waitedFor;
            if (waitedFor.isEmpty()) {
                due.add(deletion.name);
            }
        }
        List<String> objects = objects(due);
        ownership.run();
        for (int from = 0; from < objects.size(); from += ObjectStore.MOST_NAMES) {
            store.delete(objects.subList(from, Math.min(objects.size(), from + ObjectStore.MOST_NAMES)));
        }
        due.forEach(pending::remove);
    }

    /** Returns the objects of packs. */
    private List<String> objects(List<String> packs) throws IOException {
        List<String> objects = new ArrayList<>();
        if (!packs.isEmpty()) {
            Set<String> names = Set.copyOf(packs);
            packs.forEach(pack -> objects.add(PackNames.pack(pack)));
            for (ObjectPage.Entry tail : store.listAll(PackNames.TAILS, "")) {
                if (names.contains(PackNames.packOf(tail.name()))) {
                    objects.add(tail.name());
                }
            }
        }
        return objects;
    }

    /** Deletes nothing any more. */
    void stop() {
        ScheduledThreadPoolExecutor started = timer;
        if (started != null) {
            started.shutdownNow();
        }
        pending.clear();
    }

    /**
     * Ends the deletions in the background, after one more try: what it leaves in the store is found by a collection.
     */
    @Override
    public void close() throws IOException {
        ScheduledThreadPoolExecutor started = timer;
        if (started != null) {
            Threads.end(started);
            runLast();
        }
    }

    private void runLast() {
        try {
            run();
        } catch (IOException | RuntimeException e) {
            log.debug("deleted packs stay in {} until a collection finds them", store, e);
        }
    }
}
