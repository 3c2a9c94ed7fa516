package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
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

    /** Chunk bytes of the frames that are read in one turn, and are in memory until they are offered. */
    private static final int TURN_BYTES = 2 << 20;

    private final SelectivePromotion promotion;
    private final ContainerStore containers;
    private final HomeFrames home;
    private final CountSource counts;
    private final IdleDisk disk;

    HomeOffers(SelectivePromotion promotion, PromotionSources sources, IdleDisk disk) {
        this.promotion = promotion;
        containers = sources.containers();
        home = sources.frames();
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
     * Reads the chunks of a request in turns of up to {@value #TURN_BYTES} bytes, and offers them after each turn: the
     * queue of the SSD may have no room for seconds, and meanwhile the disk is for others.
     *
     * @throws PromotionStopped if the SSD accepts nothing, or the volume is being closed
     */
    void offer(RecipeRequests requests, int request) throws IOException {
        int end = requests.firstChunk(request + 1);
        for (int from = requests.firstChunk(request); from < end; ) {
            int[] frames = new int[end - from];
            int count = 0;
            int bytes = 0;
            int to = from;
            long container = ChunkId.container(requests.chunkId(from));
            FrameTable table = containers.frameTable(container);
            for (; to < end && ChunkId.container(requests.chunkId(to)) == container; to++) {
                int frame = home.frameOf(requests.chunkId(to));
                if (count > 0 && frames[count - 1] == frame) {
                    continue;
                }
                bytes += table.rawLength(frame);
                if (count > 0 && (bytes > TURN_BYTES || count == HomeFrames.FRAMES_PER_TURN)) {
                    break;
                }
                frames[count++] = frame;
            }
            disk.await();
            Read read = new Read();
            home.read(container, frames, count, read);
            offer(requests, request, from, to, read.frames);
            read.throwIfFailed();
            from = to;
        }
    }

    /** The frames of one turn, up to the first that can't be read. */
    private static final class Read implements FrameConsumer {
        private final List<Frame> frames = new ArrayList<>();
        private @Nullable IOException failure;

        @Override
        public void frame(int frame, Frame contents) {
            if (failure == null) {
                frames.add(contents);
            }
        }

        @Override
        public void damaged(int frame, IOException e) {
            failure = e;
        }

        void throwIfFailed() throws IOException {
            if (failure != null) {
                throw failure;
            }
        }
    }

    /** Offers chunks {@code from} to {@code to} (exclusive) of a request, as far as their frames were read. */
    private void offer(RecipeRequests requests, int request, int from, int to, List<Frame> frames) throws IOException {
        int next = from;
        for (Frame frame : frames) {
            int end = frame.firstSlot() + frame.count();
            for (; next < to && ChunkId.slot(requests.chunkId(next)) < end; next++) {
                offer(requests.chunkId(next), requests.saving(request), frame);
            }
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
