package org.opendedup.sar.tier;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.ssd.MapEntry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes chunks off the SSD (SAR paper §3.5): what no longer qualifies after the settings changed, what is worth least when space
 * is needed, and what nothing refers to any more. Only Map table entries go; the log reclaims their bytes later. Safe for use by
 * many threads.
 *
 * <p>Room is made in the thread that needs it. All else is done by one background thread, which knows at any time all that is
 * wanted of it: {@link #criteria}, the queue of unreferenced chunks, and whether ranks have moved.
 */
public final class DataDemotion implements Admission, Closeable {
    private static final Logger log = LoggerFactory.getLogger(DataDemotion.class);

    /** Room is made down to 19/20 of the limit, so that the table is gone over once for a 20th of it. */
    private static final int ROOM_SHARE = 20;
    /** From 9/10 of the limit on an SSD counts as full: candidates must be worth more than what had to leave. */
    private static final int FULL_SHARE = 10;
    /** 512 KiB. What does not fit is found by a sweep. */
    private static final int QUEUE_CHUNKS = 1 << 16;

    /** Heat is halved when each entry was wanted so often, on average. */
    private static final int REFRESHES_PER_AGEING = 4;

    private final Supplier<@Nullable TierContents> attached;
    private final CountSource counts;
    private final RankFloor floor = new RankFloor();
    private final LongAdder bySettings = new LongAdder();
    private final LongAdder bySpace = new LongAdder();
    private final LongAdder unreferenced = new LongAdder();
    private final Object room = new Object();
    private final Thread worker;
    /** Of the background thread. */
    private int refreshes;

    private volatile PromotionPolicy policy;
    private volatile long examined;
    private volatile long toExamine;

    /** Guards what the worker is to do. */
    private final Object work = new Object();

    private TierSettings settings;
    private final DemotionQueue queue = new DemotionQueue(QUEUE_CHUNKS);
    private boolean overflowed;
    private boolean stale;
    private boolean idle;
    /** What a sweep is to keep; null when nothing is to be swept. A sweep ends early when it is replaced. */
    private volatile @Nullable Criteria criteria;
    /** By what an SSD that was away is to be swept when it is back; null if the settings did not change meanwhile. */
    private @Nullable PromotionPolicy missed;

    private volatile boolean closed;

    /**
     * @param attached the contents of the SSD in use: the same object as long as it is attached, null without one
     * @param counts asked by the background thread only
     * @param name of the volume, for the thread's name
     */
    public DataDemotion(
            Supplier<@Nullable TierContents> attached, TierSettings settings, CountSource counts, String name) {
        this.attached = attached;
        this.settings = settings;
        this.counts = counts;
        policy = PromotionPolicies.of(settings);
        worker = new Thread(this::work, "demotion " + name);
        worker.setDaemon(true);
        worker.start();
    }

    /**
     * What may stay.
     *
     * @param policy which decides; null: any
     * @param upTo chunks of so many references or fewer go
     */
    private record Criteria(@Nullable PromotionPolicy policy, int upTo) {
        boolean keeps(int count, int saving) {
            return count > upTo && (policy == null || policy.keeps(count, saving));
        }
    }

    /** Called by the log's writing thread when more is live than it may: demotes the entries of lowest rank. */
    public void makeRoom() {
        TierContents contents = attached.get();
        if (contents == null) {
            return;
        }
        synchronized (room) {
            while (contents.liveBytes() > contents.liveLimitBytes() || contents.size() > contents.maxEntries()) {
                long bytes = contents.liveBytes() - less(contents.liveLimitBytes(), ROOM_SHARE);
                long entries = contents.size() - less(contents.maxEntries(), ROOM_SHARE);
                LowestRanks lowest = new LowestRanks(contents, policy, bytes, entries);
                int demoted = lowest.demote();
                floor.set(lowest.cut());
                bySpace.add(demoted);
                if (demoted == 0) {
                    return;
                }
            }
        }
    }

    private static long less(long limit, int share) {
        return limit - limit / share;
    }

    @Override
    public boolean admits(long rank) {
        TierContents contents = attached.get();
        if (contents == null || hasRoom(contents) || floor.admits(rank)) {
            return true;
        }
        tick(contents);
        return false;
    }

    @Override
    public boolean hasRoom() {
        TierContents contents = attached.get();
        return contents == null || hasRoom(contents);
    }

    /** An SSD that never had to let anything go has room, however full it is. */
    private boolean hasRoom(TierContents contents) {
        return !floor.isSet() || !isFull(contents);
    }

    @Override
    public long freeBytes() {
        TierContents contents = attached.get();
        return contents == null ? 0 : Math.max(0, less(contents.liveLimitBytes(), ROOM_SHARE) - contents.liveBytes());
    }

    @Override
    public boolean displaces(long rank) {
        return floor.isSet() && floor.isBelow(rank);
    }

    @Override
    public void noteHits(int chunks) {
        TierContents contents = attached.get();
        if (chunks > 0 && contents != null) {
            floor.noteHits(chunks);
            tick(contents);
        }
    }

    private static boolean isFull(TierContents contents) {
        return contents.liveBytes() >= less(contents.liveLimitBytes(), FULL_SHARE)
                || contents.size() >= less(contents.maxEntries(), FULL_SHARE);
    }

    private void tick(TierContents contents) {
        if (floor.isStale(contents.size())) {
            synchronized (work) {
                stale = true;
                work.notifyAll();
            }
        }
    }

    /** Settings changed: demotes in the background what no longer qualifies. */
    public void apply(TierSettings changed) {
        synchronized (work) {
            PromotionPolicy now = PromotionPolicies.of(changed);
            if (changed.policy() != settings.policy()) {
                // Ranks of two policies can't be compared.
                floor.set(RankFloor.NONE);
            }
            policy = now;
            if (isStricter(changed, settings) || criteria != null && criteria.policy() != null) {
                sweep(new Criteria(now, criteria == null ? 0 : criteria.upTo()));
            }
            if (missed != null) {
                missed = now;
            }
            settings = changed;
        }
    }

    /** Whether something that qualified may not do so any more. Otherwise nothing is to be swept: what was read stays. */
    private static boolean isStricter(TierSettings now, TierSettings before) {
        return now.policy() != before.policy()
                || now.referenceCountThreshold() > before.referenceCountThreshold()
                || now.maxRunBytes() < before.maxRunBytes()
                || !now.promoteOnRead() && before.promoteOnRead();
    }

    /** Demotes everything of that many references or fewer, in the background; returns at once. */
    public void demoteUpTo(int references) {
        synchronized (work) {
            sweep(
                    criteria == null
                            ? new Criteria(null, references)
                            : new Criteria(criteria.policy(), Math.max(references, criteria.upTo())));
        }
    }

    /** An SSD was attached that may have been away for a while: what no longer qualifies, or is unreferenced, is demoted. */
    public void noteAttached() {
        synchronized (work) {
            Criteria under = criteria;
            PromotionPolicy by = under != null && under.policy() != null ? under.policy() : missed;
            missed = null;
            sweep(new Criteria(by, under == null ? 0 : under.upTo()));
        }
    }

    private void sweep(Criteria wanted) {
        criteria = wanted;
        work.notifyAll();
    }

    /** The count of a chunk fell to zero. Called with locks of the metadata held: never waits. */
    public void unreferenced(long chunkId) {
        TierContents contents = attached.get();
        if (contents == null || !contents.contains(chunkId)) {
            return;
        }
        synchronized (work) {
            overflowed |= !queue.offer(chunkId);
            work.notifyAll();
        }
    }

    /** Runs in the background thread. */
    private void work() {
        while (awaitWork()) {
            TierContents contents = attached.get();
            try {
                if (contents != null) {
                    refreshIfStale(contents);
                    demoteUnreferenced(contents);
                    sweepIfWanted(contents);
                } else {
                    keepForTheNext();
                    forget();
                }
            } catch (IOException | RuntimeException e) {
                log.warn("what should leave the SSD stays there for now: {}", e.getMessage(), e);
                forget();
            }
        }
    }

    /** Waits for something to do; false if it is to end. */
    private boolean awaitWork() {
        synchronized (work) {
            try {
                while (!closed && !hasWork()) {
                    idle = true;
                    work.notifyAll();
                    work.wait();
                }
            } catch (InterruptedException e) {
                // Nobody interrupts this thread but to end it.
                closed = true;
            }
            idle = closed;
            work.notifyAll();
            return !closed;
        }
    }

    private boolean hasWork() {
        return !queue.isEmpty() || overflowed || stale || criteria != null;
    }

    /** Waits until the background thread has done all that was asked for; for tests and simulations. */
    public void awaitIdle() throws InterruptedException {
        synchronized (work) {
            while (!idle || !closed && hasWork()) {
                work.wait();
            }
        }
    }

    /** Remembers settings by which nothing could be swept. */
    private void keepForTheNext() {
        synchronized (work) {
            if (criteria != null && criteria.policy() != null) {
                missed = criteria.policy();
            }
        }
    }

    /** Nothing can be demoted: without an SSD, or because counts can't be read. */
    private void forget() {
        synchronized (work) {
            queue.clear();
            overflowed = false;
            stale = false;
            criteria = null;
        }
    }

    private void refreshIfStale(TierContents contents) {
        synchronized (work) {
            if (!stale) {
                return;
            }
            stale = false;
        }
        if (++refreshes % REFRESHES_PER_AGEING == 0) {
            contents.age();
        }
        synchronized (room) {
            if (floor.isSet()) {
                // What would leave next is hotter by now, or has aged: so an SSD of what nobody wants any more opens
                // again.
                long bytes = contents.liveLimitBytes() / ROOM_SHARE;
                floor.set(new LowestRanks(contents, policy, bytes, 0).cut());
            }
        }
    }

    private void demoteUnreferenced(TierContents contents) throws IOException {
        while (!closed) {
            long chunkId;
            synchronized (work) {
                if (queue.isEmpty()) {
                    return;
                }
                chunkId = queue.take();
            }
            // It may have been written again meanwhile.
            if (counts.count(chunkId) == 0 && contents.demote(chunkId)) {
                unreferenced.increment();
            }
        }
    }

    private void sweepIfWanted(TierContents contents) throws IOException {
        Criteria wanted;
        synchronized (work) {
            if (criteria == null && overflowed) {
                criteria = new Criteria(null, 0);
                overflowed = false;
            }
            wanted = criteria;
        }
        if (wanted == null) {
            return;
        }
        boolean finished = new Sweep(contents, wanted).run();
        synchronized (work) {
            if (finished && criteria == wanted) {
                criteria = null;
            }
        }
    }

    /** Goes over all entries and asks how many references there are to each by now. */
    private final class Sweep {
        private final TierContents contents;
        private final Criteria wanted;
        private final MapEntry entry = new MapEntry();

        Sweep(TierContents contents, Criteria wanted) {
            this.contents = contents;
            this.wanted = wanted;
            examined = 0;
            toExamine = contents.size();
        }

        /** False if it was called off: closed, replaced by another sweep, or the SSD is gone. */
        boolean run() throws IOException {
            SweepOrder order = new SweepOrder(contents);
            while (order.nextPart()) {
                for (int i = 0; i < order.count(); i++) {
                    if (closed || criteria != wanted || attached.get() != contents) {
                        return false;
                    }
                    examine(order.chunkId(i));
                    examined++;
                }
            }
            return true;
        }

        private void examine(long chunkId) throws IOException {
            int count = counts.count(chunkId);
            if (contents.get(chunkId, entry) && !wanted.keeps(count, entry.saving) && contents.demote(chunkId)) {
                (count == 0 ? unreferenced : bySettings).increment();
            }
        }
    }

    public DemotionStatistics statistics() {
        TierContents contents = attached.get();
        return new DemotionStatistics(
                bySettings.sum(),
                bySpace.sum(),
                unreferenced.sum(),
                contents == null ? 0 : contents.damaged(),
                criteria != null,
                examined,
                toExamine);
    }

    /** Stops the background work. Idempotent. */
    @Override
    public void close() {
        closed = true;
        synchronized (work) {
            work.notifyAll();
        }
        Uninterruptibles.joinUninterruptibly(worker);
    }
}
