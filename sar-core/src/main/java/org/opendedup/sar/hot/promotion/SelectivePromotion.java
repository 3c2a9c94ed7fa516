package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.PromotionPolicy;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.OfferFate;
import org.opendedup.sar.ssd.OfferListener;
import org.opendedup.sar.ssd.PromotionTarget;
import org.opendedup.sar.ssd.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which chunks are copied to the SSD (SAR paper §3.4), on the write path, on the read path, and, beyond the
 * paper, from the recipe of a file as a whole. Never waits for the SSD. Safe for use by many threads.
 *
 * <p>It asks three questions, in this order. Does the {@link PromotionPolicy} want the chunk? Does the
 * {@link Admission} rate it above what a full SSD would lose? Does the {@link PromotionTarget} accept it? A chunk
 * refused only for a full queue is {@linkplain RememberedOffers remembered} and offered again, by {@link OfferRetries}
 * or with its next duplicate.
 */
public final class SelectivePromotion implements AccessListener, OfferListener {
    private static final Logger log = LoggerFactory.getLogger(SelectivePromotion.class);

    private final PromotionTarget target;
    private final Admission admission;
    private final RecentReads recentReads;
    private final RememberedOffers remembered;
    private final PromotionCounters counters = new PromotionCounters();
    private volatile Rules rules;
    private volatile LongConsumer writtenListener = inode -> {};
    private volatile SpanListener unfinishedListener = (inode, from, to) -> {};

    /**
     * Receives bytes {@code from} to {@code to} (exclusive) of a file, whose duplicates are to be judged later. Must
     * not wait.
     */
    @FunctionalInterface
    public interface SpanListener {
        void onRunUnfinished(long inode, long from, long to);
    }

    /**
     * @param target destination of promoted chunks, across attach and detach
     * @param admission guards a full SSD
     * @param recentReads chunks recently read, an {@code LruList}; replaced at attach as well
     * @param mostRemembered chunks that may be remembered while the queue is full
     */
    public SelectivePromotion(
            HotSettings settings,
            PromotionTarget target,
            Admission admission,
            RecentReads recentReads,
            int mostRemembered) {
        this.target = target;
        this.admission = admission;
        this.recentReads = recentReads;
        remembered = new RememberedOffers(mostRemembered);
        rules = Rules.of(settings);
    }

    /** Settings and their policy, which change together. */
    private record Rules(HotSettings settings, PromotionPolicy policy) {
        static Rules of(HotSettings settings) {
            return new Rules(settings, settings.promotionPolicy());
        }
    }

    public void apply(HotSettings settings) {
        rules = Rules.of(settings);
    }

    /**
     * Sets the listener for each inode to which duplicates were written. Called on the writer's thread: must not wait.
     */
    public void listen(LongConsumer listener) {
        writtenListener = listener;
    }

    /**
     * Sets the listener for duplicates whose run had not ended when they were written. Called on the writer's thread.
     */
    public void listenUnfinished(SpanListener listener) {
        unfinishedListener = listener;
    }

    @Override
    public long longRunBytes() {
        return rules.settings().maxRunBytes();
    }

    @Override
    public void onRunUnfinished(long inode, long from, long to) {
        if (rules.settings().enabled()) {
            unfinishedListener.onRunUnfinished(inode, from, to);
        }
    }

    @Override
    public boolean isActive() {
        return rules.settings().enabled() && target.isAvailable();
    }

    @Override
    public void onDuplicatesMissed(int duplicates, Refusal why) {
        if (rules.settings().enabled()) {
            counters.offered(duplicates);
            counters.refused(why, duplicates);
        }
    }

    @Override
    public void onDuplicatesWritten(long inode, ChunkRequest duplicates) {
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
        long requestRun = Runs.bytes(duplicates, from, to);
        int offered = 0;
        int hits = 0;
        for (int i = from; i < to; i++) {
            long runBytes = duplicates.runBytes(i) == 0 ? requestRun : duplicates.runBytes(i);
            if (runBytes == FileRuns.UNFINISHED) {
                continue;
            }
            offered++;
            int saving = policy.expectedSaving(Cause.WRITE, DiskCost.saving(runBytes));
            long chunkId = duplicates.chunkId(i);
            int count = duplicates.references(i);
            if (target.contains(chunkId)) {
                target.noteWanted(chunkId, count, saving);
                counters.refused(Refusal.PRESENT);
                hits++;
            } else if (wants(policy, Cause.WRITE, count, duplicates.length(i), runBytes)) {
                offer(policy, Cause.WRITE, duplicates, i, count, runBytes);
            }
        }
        counters.offered(offered);
        admission.noteHits(hits);
    }

    /** Asks the policy, and counts the reason if it refuses. */
    private boolean wants(PromotionPolicy policy, Cause cause, int count, int length, long runBytes) {
        Refusal refusal = refusal(policy, cause, count, length, runBytes);
        if (refusal != null) {
            counters.refused(refusal);
        }
        return refusal == null;
    }

    /** Returns why the policy refuses a chunk; null if it wants the chunk. */
    private static @Nullable Refusal refusal(
            PromotionPolicy policy, Cause cause, int count, int length, long runBytes) {
        if (policy.promotes(cause, count, length, runBytes)) {
            return null;
        }
        return policy.promotes(cause, Integer.MAX_VALUE, length, runBytes) ? Refusal.COUNT : Refusal.RUN;
    }

    private void offer(PromotionPolicy policy, Cause cause, ChunkRequest request, int i, int count, long runBytes) {
        byte[] data = request.data(i);
        if (data == null) {
            counters.refused(Refusal.UNREADABLE);
            return;
        }
        int saving = policy.expectedSaving(cause, DiskCost.saving(runBytes));
        if (!isAdmitted(policy, cause, count, request.length(i), saving)) {
            counters.refused(Refusal.RANK);
            return;
        }
        long chunkId = request.chunkId(i);
        OfferAnswer answer = target.offer(
                chunkId,
                request.fingerprintPrefix(i),
                count,
                saving,
                cause,
                data,
                request.offset(i),
                request.length(i));
        switch (answer) {
            case TAKEN, LANDED -> {
                noteTaken(answer, cause, request.length(i));
                // The accepted bytes also settle an earlier offer that is remembered.
                forget(chunkId, Refusal.PRESENT);
            }
            case QUEUE_FULL -> remember(chunkId, cause, runBytes, request.length(i));
            default -> counters.refused(refusal(answer));
        }
    }

    private boolean isAdmitted(PromotionPolicy policy, Cause cause, int count, int length, int saving) {
        return policy.displaces(cause)
                ? admission.admits(policy.rank(policy.worth(cause, count), length, saving, MapEntry.NEW_HEAT))
                : admission.hasRoom();
    }

    private void noteTaken(OfferAnswer answer, Cause cause, int lengthBytes) {
        if (answer == OfferAnswer.LANDED) {
            counters.landed(cause, lengthBytes);
        } else {
            counters.queued();
        }
    }

    private static Refusal refusal(OfferAnswer answer) {
        return switch (answer) {
            case PRESENT -> Refusal.PRESENT;
            case TOO_LARGE -> Refusal.TOO_LARGE;
            case UNAVAILABLE -> Refusal.UNAVAILABLE;
            case QUEUE_FULL -> Refusal.QUEUE;
            case TAKEN, LANDED -> throw new IllegalArgumentException(answer + " is no refusal");
        };
    }

    private void remember(long chunkId, Cause cause, long runBytes, int length) {
        switch (remembered.add(chunkId, cause, runBytes)) {
            case REMEMBERED -> {}
            case KNOWN -> counters.refused(Refusal.PRESENT);
            case FULL -> {
                counters.refused(Refusal.QUEUE);
                if (cause == Cause.READ) {
                    // Its read removed it from the list of recent reads; it is added again, so that its next read
                    // offers it again.
                    recentReads.noteRead(chunkId, length);
                }
            }
        }
    }

    @Override
    public void onDecided(OfferFate fate, int tag, int lengthBytes) {
        counters.decided();
        switch (fate) {
            case LANDED -> counters.landed(Cause.values()[tag], lengthBytes);
            case NO_ROOM -> counters.refused(Refusal.NO_ROOM);
            case DAMAGED -> counters.refused(Refusal.DAMAGED);
            case WRITE_FAILED -> counters.refused(Refusal.WRITE_FAILED);
        }
    }

    /** Returns the number of chunks that wait to be fetched again. */
    int remembered() {
        return remembered.size();
    }

    /** Returns these chunks, ascending. */
    long[] rememberedChunks() {
        return remembered.sorted();
    }

    boolean hasQueueRoom() {
        return target.hasQueueRoom();
    }

    /** Returns whether a remembered chunk is worth fetching; forgets it if not. */
    boolean isStillWanted(long chunkId, CountSource counts) throws IOException {
        if (target.contains(chunkId)) {
            forget(chunkId, Refusal.PRESENT);
            return false;
        }
        if (counts.count(chunkId) == 0) {
            forget(chunkId, Refusal.UNREFERENCED);
            return false;
        }
        return remembered.get(chunkId) != RememberedOffers.ABSENT;
    }

    /** Forgets a remembered chunk. */
    void forget(long chunkId, Refusal why) {
        if (remembered.remove(chunkId)) {
            counters.refused(why);
        }
    }

    /**
     * Offers a remembered chunk again, by the current rules. It stays remembered if the queue is still full, or there
     * is no SSD.
     *
     * @param contents the frame that has its slot
     */
    void offerAgain(long chunkId, CountSource counts, Frame contents) throws IOException {
        int known = remembered.get(chunkId);
        if (known == RememberedOffers.ABSENT) {
            return;
        }
        PromotionPolicy policy = rules.policy();
        Cause cause = RememberedOffers.cause(known);
        long runBytes = RememberedOffers.runBytes(known);
        int slot = ChunkId.slot(chunkId);
        int length = contents.length(slot);
        int count = counts.count(chunkId);
        int saving = policy.expectedSaving(cause, DiskCost.saving(runBytes));
        Refusal refusal = count == 0
                ? Refusal.UNREFERENCED
                : length == 0 ? Refusal.UNREADABLE : refusal(policy, cause, count, length, runBytes);
        if (refusal != null) {
            forget(chunkId, refusal);
        } else if (!isAdmitted(policy, cause, count, length, saving)) {
            forget(chunkId, Refusal.RANK);
        } else {
            OfferAnswer answer = target.offer(
                    chunkId,
                    contents.fingerprintPrefix(slot),
                    count,
                    saving,
                    cause,
                    contents.data(),
                    contents.offset(slot),
                    length);
            offeredAgain(chunkId, answer, cause, length);
        }
    }

    private void offeredAgain(long chunkId, OfferAnswer answer, Cause cause, int length) {
        switch (answer) {
            case TAKEN, LANDED -> {
                if (!remembered.remove(chunkId)) {
                    // A writer has settled the remembered offer meanwhile, so this is one more.
                    counters.offered(1);
                }
                noteTaken(answer, cause, length);
            }
            case QUEUE_FULL, UNAVAILABLE -> log.debug("chunk {} keeps waiting", ChunkId.toString(chunkId));
            default -> forget(chunkId, refusal(answer));
        }
    }

    @Override
    public void onChunksRead(ChunkRequest request, CountSource counts) {
        Rules now = rules;
        boolean promotes = now.settings().enabled() && now.settings().promoteOnRead() && target.isAvailable();
        long[] lacking = promotes ? LackingChunks.runBytes(request, target) : LackingChunks.NONE;
        int hits = 0;
        for (int from = 0; from < request.count(); ) {
            int to = Runs.end(request, from);
            hits += noteHits(request, from, to);
            if (promotes) {
                readRun(now.policy(), request, from, to, lacking, counts);
            }
            from = to;
        }
        admission.noteHits(hits);
    }

    /** Raises the heat of chunks that have a copy, read from it or from memory; returns their number. */
    private int noteHits(ChunkRequest request, int from, int to) {
        int saving = 0;
        int hits = 0;
        for (int i = from; i < to; i++) {
            boolean hit = request.data(i) != null && (request.source(i) == Source.SSD || isCopyInMemory(request, i));
            if (hit && !Runs.isRepeat(request, i)) {
                saving = saving == 0 ? DiskCost.saving(Runs.bytes(request, from, to)) : saving;
                target.noteWanted(request.chunkId(i), 0, saving);
                hits++;
            }
        }
        return hits;
    }

    private boolean isCopyInMemory(ChunkRequest request, int i) {
        return request.source(i) == Source.MEMORY && target.contains(request.chunkId(i));
    }

    /** @param lacking see {@link LackingChunks#runBytes} */
    private void readRun(
            PromotionPolicy policy, ChunkRequest request, int from, int to, long[] lacking, CountSource counts) {
        long runBytes = 0;
        for (int i = from; i < to; i++) {
            boolean isOffered =
                    request.data(i) != null && request.source(i) != Source.SSD && !isCopyInMemory(request, i);
            if (isOffered && lacking.length > 0 && lacking[i] > 0 && !Runs.isRepeat(request, i)) {
                offerRead(policy, request, i, lacking[i], counts);
                continue;
            }
            if (!isOffered || !isWanted(policy, request, i)) {
                continue;
            }
            runBytes = runBytes == 0 ? Runs.bytes(request, from, to) : runBytes;
            offerRead(policy, request, i, runBytes, counts);
        }
    }

    private boolean isWanted(PromotionPolicy policy, ChunkRequest request, int i) {
        return policy.promotesFirstRead() ? !Runs.isRepeat(request, i) : isSecondRead(request, i);
    }

    /**
     * Notes that a chunk was read, from the disk or from memory: memory has it until the volume is closed, or others
     * need the room. A second occurrence in one request is not a second read.
     */
    private boolean isSecondRead(ChunkRequest request, int i) {
        long chunkId = request.chunkId(i);
        if (Runs.isRepeat(request, i) || !recentReads.noteRead(chunkId, request.length(i))) {
            return false;
        }
        if (request.isRepeated(i)) {
            // This request itself added it; add it again.
            recentReads.noteRead(chunkId, request.length(i));
            return false;
        }
        return true;
    }

    private void offerRead(PromotionPolicy policy, ChunkRequest request, int i, long runBytes, CountSource counts) {
        long chunkId = request.chunkId(i);
        counters.offered(1);
        if (target.contains(chunkId)) {
            counters.refused(Refusal.PRESENT);
            return;
        }
        int count;
        try {
            count = counts.count(chunkId);
        } catch (IOException e) {
            log.warn("a chunk that was read is not promoted, its references are unknown: {}", e.getMessage());
            counters.refused(Refusal.UNREADABLE);
            return;
        }
        if (wants(policy, Cause.READ, count, request.length(i), runBytes)) {
            offer(policy, Cause.READ, request, i, count, runBytes);
        }
    }

    /**
     * Handles a written duplicate whose bytes are not in memory: remembers it, if it is wanted, so that it is fetched
     * and offered. Raises the heat of one that is on the SSD.
     *
     * @param count current references to it
     */
    void wantedUnread(long chunkId, int count, int length, long runBytes) {
        PromotionPolicy policy = rules.policy();
        int saving = policy.expectedSaving(Cause.WRITE, DiskCost.saving(runBytes));
        counters.offered(1);
        if (count == 0) {
            counters.refused(Refusal.UNREFERENCED);
        } else if (target.contains(chunkId)) {
            target.noteWanted(chunkId, count, saving);
            counters.refused(Refusal.PRESENT);
            admission.noteHits(1);
        } else if (wants(policy, Cause.WRITE, count, length, runBytes)) {
            if (isAdmitted(policy, Cause.WRITE, count, length, saving)) {
                remember(chunkId, Cause.WRITE, runBytes, length);
            } else {
                counters.refused(Refusal.RANK);
            }
        }
    }

    /** Returns whether examining recipes is of any use now. */
    boolean promotesByRecipe() {
        Rules now = rules;
        return isActive() && now.policy().promotes(Cause.RECIPE, 1, 1, 1);
    }

    /** Returns the rank of a candidate from a recipe. */
    long rank(int count, int lengthBytes, int saving) {
        PromotionPolicy policy = rules.policy();
        return policy.rank(count, lengthBytes, policy.expectedSaving(Cause.RECIPE, saving), MapEntry.NEW_HEAT);
    }

    boolean contains(long chunkId) {
        return target.contains(chunkId);
    }

    /**
     * Offers a chunk that was read from home for {@link RecipePromotion}, which itself retries while the queue is full.
     */
    OfferAnswer offerForRecipe(
            long chunkId, int fingerprintPrefix, int count, int saving, byte[] data, int offset, int length) {
        int expected = rules.policy().expectedSaving(Cause.RECIPE, saving);
        OfferAnswer answer =
                target.offer(chunkId, fingerprintPrefix, count, expected, Cause.RECIPE, data, offset, length);
        switch (answer) {
            case QUEUE_FULL -> {}
            case TAKEN, LANDED -> {
                counters.offered(1);
                noteTaken(answer, Cause.RECIPE, length);
                forget(chunkId, Refusal.PRESENT);
            }
            default -> {
                counters.offered(1);
                counters.refused(refusal(answer));
            }
        }
        return answer;
    }

    /** Returns whether a file in chunks that is opened comes to the SSD as a whole. */
    boolean reloads(long fileBytes) {
        Rules now = rules;
        return isActive()
                && now.settings().promoteOnRead()
                && now.policy().reloads(fileBytes, now.settings().capacityBytes());
    }

    /**
     * Offers a chunk that was read from home because its file comes to the SSD as a whole.
     *
     * @param contents the frame that has it
     * @return why it is refused; {@link Refusal#QUEUE} if a later offer may be taken; null if it is on its way
     */
    @Nullable
    Refusal offerForReload(long chunkId, int count, Frame contents) {
        PromotionPolicy policy = rules.policy();
        int slot = ChunkId.slot(chunkId);
        int length = contents.length(slot);
        int saving = policy.expectedSaving(Cause.READ, DiskCost.saving(length));
        if (!isAdmitted(policy, Cause.READ, count, length, saving)) {
            counters.offered(1);
            counters.refused(Refusal.RANK);
            return Refusal.RANK;
        }
        OfferAnswer answer = target.offer(
                chunkId,
                contents.fingerprintPrefix(slot),
                count,
                saving,
                Cause.READ,
                contents.data(),
                contents.offset(slot),
                length);
        switch (answer) {
            case QUEUE_FULL -> {
                return Refusal.QUEUE;
            }
            case TAKEN, LANDED -> {
                counters.offered(1);
                noteTaken(answer, Cause.READ, length);
                forget(chunkId, Refusal.PRESENT);
                return null;
            }
            default -> {
                counters.offered(1);
                counters.refused(refusal(answer));
                return answer == OfferAnswer.PRESENT ? null : refusal(answer);
            }
        }
    }

    public PromotionStatistics statistics() {
        return counters.statistics(remembered.size());
    }
}
