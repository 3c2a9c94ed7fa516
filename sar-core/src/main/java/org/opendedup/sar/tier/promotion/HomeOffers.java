package org.opendedup.sar.tier.promotion;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.tier.copies.CountSource;

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
    private final ContainerStore containers;
    private final CountSource counts;
    private final IdleDisk disk;

    HomeOffers(SelectivePromotion promotion, ContainerStore containers, CountSource counts, IdleDisk disk) {
        this.promotion = promotion;
        this.containers = containers;
        this.counts = counts;
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
     * Reads the chunks of a request, in the one or two disk reads that a restore would use, and offers them.
     *
     * @throws PromotionStopped if the SSD accepts nothing, or the volume is being closed
     */
    void offer(RecipeRequests requests, int request) throws IOException {
        int from = requests.firstChunk(request);
        int[] frames = new int[requests.firstChunk(request + 1) - from];
        int count = 0;
        for (int i = from; i < requests.firstChunk(request + 1); i++) {
            int frame = containers.frameOf(requests.chunkId(i));
            if (count == 0 || frames[count - 1] != frame) {
                frames[count++] = frame;
            }
        }
        Offers offers = new Offers(requests, request);
        containers.readFrames(requests.container(request), frames, count, RecipeUse.MAX_GAP_BYTES, offers);
        offers.throwIfFailed();
    }

    /** Offers a request's chunks as their frames arrive. */
    private final class Offers implements FrameConsumer {
        private final RecipeRequests requests;
        private final int request;
        /** The next chunk to offer: frames arrive in the order of their slots. */
        private int next;

        private @Nullable IOException failure;

        Offers(RecipeRequests requests, int request) {
            this.requests = requests;
            this.request = request;
            next = requests.firstChunk(request);
        }

        @Override
        public void frame(int frame, Frame contents) {
            int end = contents.firstSlot() + contents.count();
            while (failure == null
                    && next < requests.firstChunk(request + 1)
                    && ChunkId.slot(requests.chunkId(next)) < end) {
                try {
                    offer(requests.chunkId(next++), contents);
                } catch (IOException e) {
                    failure = e;
                }
            }
        }

        @Override
        public void damaged(int frame, IOException e) {
            failure = e;
        }

        private void offer(long chunkId, Frame contents) throws IOException {
            int slot = ChunkId.slot(chunkId);
            int count = counts.count(chunkId);
            if (count == 0) {
                // The chunk is no longer referenced.
                return;
            }
            for (int retry = 0; retry < MAX_RETRIES; retry++) {
                OfferAnswer answer = promotion.offerForRecipe(
                        chunkId,
                        contents.check(slot),
                        count,
                        requests.saving(request),
                        contents.data(),
                        contents.offset(slot),
                        contents.length(slot));
                if (answer == OfferAnswer.UNAVAILABLE) {
                    throw new PromotionStopped("no SSD takes anything");
                }
                if (answer != OfferAnswer.QUEUE_FULL) {
                    return;
                }
                disk.pauseOrStop(RETRY_MILLIS);
            }
            throw new PromotionStopped("too much is on its way to the SSD");
        }

        void throwIfFailed() throws IOException {
            if (failure != null) {
                throw failure;
            }
        }
    }
}
