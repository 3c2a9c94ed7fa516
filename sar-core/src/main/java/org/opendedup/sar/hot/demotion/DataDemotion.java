package org.opendedup.sar.hot.demotion;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.PromotionPolicy;
import org.opendedup.sar.hot.promotion.Admission;
import org.opendedup.sar.hot.promotion.LowestRanks;
import org.opendedup.sar.hot.promotion.RankFloor;
import org.opendedup.sar.hot.promotion.SweepOrder;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.HotContents;
import org.opendedup.sar.ssd.MapEntry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes chunks from the SSD (SAR paper §3.5): chunks that no longer qualify after the settings changed, those worth
 * least when space is needed, and those no longer referenced. Removes only Map table entries; the log frees their bytes
 * later. Safe for use by many threads.
 *
 * <p>The thread that needs space makes it. All other work is done by one background thread. Its pending work is kept in
 * {@link #criteria}, in the queue of unreferenced chunks, and in the flag for changed ranks.
 */
public final class DataDemotion implements Admission, Closeable {
    private static final Logger log = LoggerFactory.getLogger(DataDemotion.class);

    /** Room is made down to 19/20 of the limit, so that one pass over the table frees 1/20 of it. */
    private static final int ROOM_SHARE = 20;
    /**
     * The SSD counts as full from 9/10 of the limit: candidates must then be worth more than the chunks demoted for
     * space.
     */
    private static final int FULL_SHARE = 10;
    /** Entries of the queue of unreferenced chunks; 512 KiB. A sweep finds chunks that do not fit. */
    private static final int QUEUE_CHUNKS = 1 << 16;

    /** Requests per entry, on average, after which heat is halved. */
    private static final int REFRESHES_PER_AGEING = 4;

    private final Supplier<@Nullable HotContents> attached;
    private final CountSource counts;
    private final RankFloor floor = new RankFloor();
    private final LongAdder bySettings = new LongAdder();
    private final LongAdder bySpace = new LongAdder();
    private final LongAdder unreferenced = new LongAdder();
    private final Object room = new Object();
    private final Thread worker;
    /** Used by the background thread only. */
    private int refreshes;

    private volatile PromotionPolicy policy;
    private volatile long examined;
    private volatile long toExamine;

    /** Guards the pending work of the background thread. */
    private final Object work = new Object();

    private HotSettings settings;
    private final DemotionQueue queue = new DemotionQueue(QUEUE_CHUNKS);
    private boolean overflowed;
    private boolean stale;
    private boolean idle;
    /** The entries that a sweep must keep; null if no sweep is pending. A sweep ends early when this is replaced. */
    private volatile @Nullable Criteria criteria;
    /**
     * The policy by which an SSD must be swept when it is attached again; null if the settings did not change
     * meanwhile.
     */
    private @Nullable PromotionPolicy missed;

    private volatile boolean closed;

    /**
     * @param attached returns the contents of the SSD in use: the same object while it is attached, null without an SSD
     * @param counts reference counts; used by the background thread only
     * @param name name of the volume, for the thread's name
     */
    public DataDemotion(
            Supplier<@Nullable HotContents> attached, HotSettings settings, CountSource counts, String name) {
        this.attached = attached;
        this.settings = settings;
        this.counts = counts;
        policy = settings.promotionPolicy();
        worker = new Thread(this::work, "demotion " + name);
        worker.setDaemon(true);
        worker.start();
    }

    /**
     * The rule for what may stay.
     *
     * @param policy policy that decides; null to keep any chunk
     * @param upTo demotes chunks with at most this many references
     */
    private record Criteria(@Nullable PromotionPolicy policy, int upTo) {
        boolean keeps(int count, int saving) {
            return count > upTo && (policy == null || policy.keeps(count, saving));
        }
    }

    /** Demotes the entries of lowest rank. Called by the log's writing thread when the live data exceed their limit. */
    public void makeRoom() {
        HotContents contents = attached.get();
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
        HotContents contents = attached.get();
        if (contents == null || hasRoom(contents) || floor.admits(rank)) {
            return true;
        }
        tick(contents);
        return false;
    }

    @Override
    public boolean hasRoom() {
        HotContents contents = attached.get();
        return contents == null || hasRoom(contents);
    }

    /**
     * Returns whether there is room. An SSD from which nothing had to be demoted for space has room, at any fill level.
     */
    private boolean hasRoom(HotContents contents) {
        return !floor.isSet() || !isFull(contents);
    }

    @Override
    public long freeBytes() {
        HotContents contents = attached.get();
        return contents == null ? 0 : Math.max(0, less(contents.liveLimitBytes(), ROOM_SHARE) - contents.liveBytes());
    }

    @Override
    public boolean displaces(long rank) {
        return floor.isSet() && floor.isBelow(rank);
    }

    @Override
    public void noteHits(int chunks) {
        HotContents contents = attached.get();
        if (chunks > 0 && contents != null) {
            floor.noteHits(chunks);
            tick(contents);
        }
    }

    private static boolean isFull(HotContents contents) {
        return contents.liveBytes() >= less(contents.liveLimitBytes(), FULL_SHARE)
                || contents.size() >= less(contents.maxEntries(), FULL_SHARE);
    }

    private void tick(HotContents contents) {
        if (floor.isStale(contents.size())) {
            synchronized (work) {
                stale = true;
                work.notifyAll();
            }
        }
    }

    /** Applies changed settings: demotes in the background what no longer qualifies. */
    public void apply(HotSettings changed) {
        synchronized (work) {
            PromotionPolicy now = changed.promotionPolicy();
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

    /**
     * Returns whether a chunk that qualified may not qualify any more. If not, no sweep is needed: chunks that were
     * promoted by reading stay.
     */
    private static boolean isStricter(HotSettings now, HotSettings before) {
        return now.policy() != before.policy()
                || now.referenceCountThreshold() > before.referenceCountThreshold()
                || now.maxRunBytes() < before.maxRunBytes()
                || !now.promoteOnRead() && before.promoteOnRead();
    }

    /** Demotes all chunks with at most this many references, in the background; returns at once. */
    public void demoteUpTo(int references) {
        synchronized (work) {
            sweep(
                    criteria == null
                            ? new Criteria(null, references)
                            : new Criteria(criteria.policy(), Math.max(references, criteria.upTo())));
        }
    }

    /**
     * Notes that an SSD was attached that may have been away for a while: demotes chunks that no longer qualify or are
     * unreferenced.
     */
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

    /** Notes that the count of a chunk fell to zero. Called with locks of the metadata held: never waits. */
    public void unreferenced(long chunkId) {
        HotContents contents = attached.get();
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
            HotContents contents = attached.get();
            try {
                if (contents != null) {
                    refreshIfStale(contents);
                    demoteUnreferenced(contents);
                    sweepIfWanted(contents);
                } else {
                    keepForTheNext();
                    forget();
                }
            } catch (IOException | RuntimeException | Error e) {
                // An error would end the thread, and nothing would be demoted before the next mount.
                log.warn("chunks that were to be demoted remain on the SSD for now: {}", e.getMessage(), e);
                forget();
            }
        }
    }

    /** Waits for work; returns false if the thread must end. */
    private boolean awaitWork() {
        synchronized (work) {
            try {
                while (!closed && !hasWork()) {
                    idle = true;
                    work.notifyAll();
                    work.wait();
                }
            } catch (InterruptedException e) {
                // This thread is interrupted only to end it.
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

    /** Waits until the background thread has finished all pending work; for tests and simulations. */
    public void awaitIdle() throws InterruptedException {
        synchronized (work) {
            while (!idle || !closed && hasWork()) {
                work.wait();
            }
        }
    }

    /** Remembers the policy of a sweep that was not possible without an SSD. */
    private void keepForTheNext() {
        synchronized (work) {
            if (criteria != null && criteria.policy() != null) {
                missed = criteria.policy();
            }
        }
    }

    /** Discards the pending work that can't be done: without an SSD, or because counts can't be read. */
    private void forget() {
        synchronized (work) {
            queue.clear();
            overflowed = false;
            stale = false;
            criteria = null;
        }
    }

    private void refreshIfStale(HotContents contents) {
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
                // The chunks that would be demoted next may have become hotter or aged. So an SSD full of chunks that
                // are no longer requested accepts new ones again.
                long bytes = contents.liveLimitBytes() / ROOM_SHARE;
                floor.set(new LowestRanks(contents, policy, bytes, 0).cut());
            }
        }
    }

    private void demoteUnreferenced(HotContents contents) throws IOException {
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

    private void sweepIfWanted(HotContents contents) throws IOException {
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

    /** Visits all entries, looks up the current references to each, and stores the count in the table. */
    private final class Sweep {
        private final HotContents contents;
        private final Criteria wanted;
        private final MapEntry entry = new MapEntry();

        Sweep(HotContents contents, Criteria wanted) {
            this.contents = contents;
            this.wanted = wanted;
            examined = 0;
            toExamine = contents.size();
        }

        /**
         * Returns false if the sweep was cancelled: this was closed, another sweep replaced it, or the SSD was
         * detached.
         */
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
            if (!contents.get(chunkId, entry)) {
                return;
            }
            if (wanted.keeps(count, entry.saving)) {
                // A table that is rebuilt from the log has no counts, and the table receives no notice of copied or
                // removed references.
                int worth = policy.worth(Cause.READ, count);
                if (worth != entry.count) {
                    contents.setCount(chunkId, worth);
                }
            } else if (contents.demote(chunkId)) {
                (count == 0 ? unreferenced : bySettings).increment();
            }
        }
    }

    public DemotionStatistics statistics() {
        HotContents contents = attached.get();
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
