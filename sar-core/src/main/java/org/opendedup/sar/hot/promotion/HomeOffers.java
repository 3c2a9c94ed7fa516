package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.ssd.OfferAnswer;

/**
 * Reads chunks that are not in memory from their home, and offers them to the SSD. Used by the background thread only.
 */
final class HomeOffers {
    private static final int RETRY_MILLIS = 50;
    /**
     * Retries while the queue is full: five seconds in total. After that, the SSD is busy with more valuable chunks.
     */
    private static final int MAX_RETRIES = 100;

    private final SelectivePromotion promotion;
    private final PromotionSources sources;
    private final CountSource counts;
    private final IdleDisk disk;

    HomeOffers(SelectivePromotion promotion, PromotionSources sources, IdleDisk disk) {
        this.promotion = promotion;
        this.sources = sources;
        counts = sources.counts();
        this.disk = disk;
    }

    /** Returns the bytes needed by a request that are not on the SSD. */
    long missingBytes(RecipeRequests requests, int request) {
        long bytes = 0;
        for (int i = requests.firstChunk(request); i < requests.firstChunk(request + 1); i++) {
            bytes += promotion.contains(requests.chunkId(i)) ? 0 : requests.length(i);
        }
        return bytes;
    }

    /**
     * Reads the chunks of a request in {@linkplain HomeTurn turns}, and offers them after each turn: the queue of the
     * SSD may have no room for seconds, and meanwhile the disk is for others.
     *
     * @throws PromotionStopped if the SSD accepts nothing, or the volume is being closed
     */
    void offer(RecipeRequests requests, int request) throws IOException {
        int end = requests.firstChunk(request + 1);
        for (int from = requests.firstChunk(request); from < end; ) {
            disk.await();
            HomeTurn turn = HomeTurn.read(sources, requests::chunkId, from, end);
            for (; from < turn.end(); from++) {
                Frame frame = turn.frameOf(ChunkId.slot(requests.chunkId(from)));
                if (frame == null) {
                    break;
                }
                offer(requests.chunkId(from), requests.saving(request), frame);
            }
            turn.throwIfFailed();
            from = turn.end();
        }
    }

    private void offer(long chunkId, int saving, Frame contents) throws IOException {
        int slot = ChunkId.slot(chunkId);
        int count = counts.count(chunkId);
        if (count == 0 || !contents.holds(slot)) {
            // The chunk is no longer referenced, and may be removed.
            return;
        }
        for (int retry = 0; retry < MAX_RETRIES; retry++) {
            OfferAnswer answer = promotion.offerForRecipe(
                    chunkId,
                    contents.fingerprintPrefix(slot),
                    count,
                    saving,
                    contents.data(),
                    contents.offset(slot),
                    contents.length(slot));
            if (answer == OfferAnswer.UNAVAILABLE) {
                throw new PromotionStopped("no SSD accepts chunks");
            }
            if (answer != OfferAnswer.QUEUE_FULL) {
                return;
            }
            disk.pauseOrStop(RETRY_MILLIS);
        }
        throw new PromotionStopped("the queue to the SSD is full");
    }
}
