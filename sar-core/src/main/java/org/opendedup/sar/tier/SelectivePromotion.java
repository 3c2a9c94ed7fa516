package org.opendedup.sar.tier;

import java.io.IOException;
import java.util.function.LongConsumer;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which chunks are copied to the SSD (SAR paper §3.4), on the write path, on the read path, and, beyond the paper, from
 * the recipe of a file as a whole. Never waits for the SSD. Safe for use by many threads.
 *
 * <p>Three questions, in this order: does the {@link PromotionPolicy} want the chunk, does the {@link Admission} think it worth
 * the place of what a full SSD would lose, does the {@link PromotionTarget} take it.
 */
public final class SelectivePromotion implements AccessListener {
    private static final Logger log = LoggerFactory.getLogger(SelectivePromotion.class);

    private final PromotionTarget target;
    private final Admission admission;
    private final RecentReads recentReads;
    private final PromotionCounters counters = new PromotionCounters();
    private volatile Rules rules;
    private volatile LongConsumer writtenListener = inode -> {};

    /**
     * @param target where promoted chunks go: follows attach and detach
     * @param admission guards a full SSD
     * @param recentReads what was lately read from the disk, an {@link LruList}: follows attach as well
     */
    public SelectivePromotion(
            TierSettings settings, PromotionTarget target, Admission admission, RecentReads recentReads) {
        this.target = target;
        this.admission = admission;
        this.recentReads = recentReads;
        rules = Rules.of(settings);
    }

    /** What is in force together. */
    private record Rules(TierSettings settings, PromotionPolicy policy) {
        static Rules of(TierSettings settings) {
            return new Rules(settings, PromotionPolicies.of(settings));
        }
    }

    public void apply(TierSettings settings) {
        rules = Rules.of(settings);
    }

    /** Sets who is told of each inode that duplicates were written to, on the writer's thread: must not wait. */
    public void listen(LongConsumer listener) {
        writtenListener = listener;
    }

    @Override
    public boolean isActive() {
        return rules.settings().enabled() && target.isAvailable();
    }

    @Override
    public void written(long inode, ChunkRequest duplicates) {
        Rules now = rules;
        if (!now.settings().enabled() || duplicates.count() == 0) {
            return;
        }
        for (int from = 0; from < duplicates.count(); ) {
            int to = Runs.end(duplicates, from);
            writtenRun(now.policy(), duplicates, from, to);
            from = to;
        }
        writtenListener.accept(inode);
    }

    private void writtenRun(PromotionPolicy policy, ChunkRequest duplicates, int from, int to) {
        long runBytes = Runs.bytes(duplicates, from, to);
        int saving = policy.expectedSaving(Cause.WRITE, DiskCost.saving(runBytes));
        int hits = 0;
        for (int i = from; i < to; i++) {
            long chunkId = duplicates.chunkId(i);
            int count = duplicates.references(i);
            if (target.contains(chunkId)) {
                target.noteWanted(chunkId, count, saving);
                counters.present();
                hits++;
            } else if (wants(policy, Cause.WRITE, count, duplicates.length(i), runBytes)) {
                offer(policy, Cause.WRITE, duplicates, i, count, saving);
            }
        }
        admission.noteHits(hits);
    }

    /** Asks the policy, and counts why it refuses. */
    private boolean wants(PromotionPolicy policy, Cause cause, int count, int length, long runBytes) {
        if (policy.promotes(cause, count, length, runBytes)) {
            return true;
        }
        boolean byRun = !policy.promotes(cause, Integer.MAX_VALUE, length, runBytes);
        (byRun ? counters.refusedRun : counters.refusedCount).increment();
        return false;
    }

    private void offer(PromotionPolicy policy, Cause cause, ChunkRequest request, int i, int count, int saving) {
        byte[] data = request.data(i);
        if (data == null) {
            return;
        }
        long rank = policy.rank(policy.worth(cause, count), request.length(i), saving, MapEntry.NEW_HEAT);
        if (isAdmitted(policy, cause, rank)) {
            OfferAnswer answer = target.offer(
                    request.chunkId(i), request.check(i), count, saving, data, request.offset(i), request.length(i));
            counters.answered(answer, cause, request.length(i));
        }
    }

    private boolean isAdmitted(PromotionPolicy policy, Cause cause, long rank) {
        boolean admitted = policy.displaces(cause) ? admission.admits(rank) : admission.hasRoom();
        if (!admitted) {
            counters.refusedRank.increment();
        }
        return admitted;
    }

    @Override
    public void read(ChunkRequest request, CountSource counts) {
        Rules now = rules;
        boolean promotes = now.settings().enabled() && now.settings().promoteOnRead() && target.isAvailable();
        int hits = 0;
        for (int from = 0; from < request.count(); ) {
            int to = Runs.end(request, from);
            hits += noteHits(request, from, to);
            if (promotes) {
                readRun(now.policy(), request, from, to, counts);
            }
            from = to;
        }
        admission.noteHits(hits);
    }

    /** Heats what was read from the SSD; returns how many chunks that was. */
    private int noteHits(ChunkRequest request, int from, int to) {
        int saving = 0;
        int hits = 0;
        for (int i = from; i < to; i++) {
            boolean hit = request.source(i) == Source.SSD && request.data(i) != null;
            if (hit && !Runs.isRepeat(request, i)) {
                saving = saving == 0 ? DiskCost.saving(Runs.bytes(request, from, to)) : saving;
                target.noteWanted(request.chunkId(i), 0, saving);
                hits++;
            }
        }
        return hits;
    }

    private void readRun(PromotionPolicy policy, ChunkRequest request, int from, int to, CountSource counts) {
        long runBytes = 0;
        for (int i = from; i < to; i++) {
            if (request.source(i) != Source.HOME || request.data(i) == null || !isSecondRead(request, i)) {
                continue;
            }
            runBytes = runBytes == 0 ? Runs.bytes(request, from, to) : runBytes;
            readAgain(policy, request, i, runBytes, counts);
        }
    }

    /** Notes that a chunk was read from the disk. A second time in one request is not a second read: its frame is read once. */
    private boolean isSecondRead(ChunkRequest request, int i) {
        long chunkId = request.chunkId(i);
        if (Runs.isRepeat(request, i) || !recentReads.noteRead(chunkId, request.length(i))) {
            return false;
        }
        if (request.isRepeated(i)) {
            // It was this request that put it there: put it there again.
            recentReads.noteRead(chunkId, request.length(i));
            return false;
        }
        return true;
    }

    private void readAgain(PromotionPolicy policy, ChunkRequest request, int i, long runBytes, CountSource counts) {
        long chunkId = request.chunkId(i);
        if (target.contains(chunkId)) {
            counters.present();
            return;
        }
        int count;
        try {
            count = counts.count(chunkId);
        } catch (IOException e) {
            log.warn("a chunk read twice is not promoted, its references are unknown: {}", e.getMessage());
            return;
        }
        if (wants(policy, Cause.READ, count, request.length(i), runBytes)) {
            int saving = policy.expectedSaving(Cause.READ, DiskCost.saving(runBytes));
            offer(policy, Cause.READ, request, i, count, saving);
        }
    }

    /** Whether files' recipes are worth looking at now. */
    boolean promotesByRecipe() {
        Rules now = rules;
        return isActive() && now.policy().promotes(Cause.RECIPE, 1, 1, 1);
    }

    /** What a candidate from a recipe is worth. */
    long rank(int count, int lengthBytes, int saving) {
        return rules.policy().rank(count, lengthBytes, saving, MapEntry.NEW_HEAT);
    }

    boolean contains(long chunkId) {
        return target.contains(chunkId);
    }

    /** Offers a chunk chosen by {@link RecipePromotion}. */
    OfferAnswer offerForRecipe(long chunkId, int check, int count, int saving, byte[] data, int offset, int length) {
        OfferAnswer answer = target.offer(chunkId, check, count, saving, data, offset, length);
        counters.answered(answer, Cause.RECIPE, length);
        return answer;
    }

    public PromotionStatistics statistics() {
        return counters.statistics();
    }
}
