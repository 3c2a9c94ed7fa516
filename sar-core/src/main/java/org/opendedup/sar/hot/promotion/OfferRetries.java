package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.Refusal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches chunks that were worth promoting while the queue was full, and offers them again (beyond the SAR paper). Once
 * the queue has room, it works through the remembered chunks container by container. It works only while the volume's
 * users neither read nor write. Chunks not in memory are read from the disk, a few frames per turn, for at most half of
 * the time. Used by the background thread only.
 */
final class OfferRetries {
    private static final Logger log = LoggerFactory.getLogger(OfferRetries.class);

    private static final int ROOM_MILLIS = 20;

    private final SelectivePromotion promotion;
    private final HomeFrames home;
    private final CountSource counts;
    private final IdleDisk disk;

    OfferRetries(SelectivePromotion promotion, PromotionSources sources, IdleDisk disk) {
        this.promotion = promotion;
        home = sources.frames();
        counts = sources.counts();
        this.disk = disk;
    }

    /** Fetches and offers all remembered chunks, if an SSD accepts them; chunks without room stay remembered. */
    void work() throws PromotionStopped {
        if (promotion.remembered() > 0 && promotion.isActive()) {
            bringBack(promotion.rememberedChunks());
        }
    }

    /** @param chunks chunk ids, ascending */
    private void bringBack(long[] chunks) throws PromotionStopped {
        for (int from = 0; from < chunks.length; ) {
            int to = from + 1;
            while (to < chunks.length && ChunkId.container(chunks[to]) == ChunkId.container(chunks[from])) {
                to++;
            }
            new Container(chunks, from, to).bringBack();
            from = to;
        }
    }

    /** The remembered chunks of one container. */
    private final class Container {
        private final long[] chunks;
        private final int from;
        /** The frame of each chunk; -1 if no more is to be done for the chunk. */
        private final int[] frames;

        Container(long[] chunks, int from, int to) {
            this.chunks = chunks;
            this.from = from;
            frames = new int[to - from];
        }

        void bringBack() throws PromotionStopped {
            // Finding frames and counts uses the processor too: a running burst has priority.
            disk.await();
            findFrames();
            for (int next = 0; next < frames.length; ) {
                awaitRoom();
                next = takeTurn(next);
            }
        }

        private void findFrames() {
            for (int i = 0; i < frames.length; i++) {
                long chunkId = chunks[from + i];
                try {
                    frames[i] = promotion.isStillWanted(chunkId, counts) ? home.frameOf(chunkId) : -1;
                } catch (IOException e) {
                    frames[i] = unreadable(chunkId, e);
                }
            }
        }

        /** Offers the chunks of the next frames; returns the number of the first chunk after them. */
        private int takeTurn(int first) throws PromotionStopped {
            int[] missing = new int[HomeFrames.FRAMES_PER_TURN];
            int count = 0;
            int last = -1;
            int end = first;
            for (; end < frames.length && (count < missing.length || frames[end] == last); end++) {
                if (frames[end] < 0 || frames[end] == last) {
                    continue;
                }
                last = frames[end];
                Frame found = home.inMemory(container(), last);
                if (found == null) {
                    missing[count++] = last;
                } else {
                    offer(first, last, found);
                }
            }
            if (count > 0) {
                read(first, missing, count);
            }
            return end;
        }

        private long container() {
            return ChunkId.container(chunks[from]);
        }

        private void read(int first, int[] missing, int count) throws PromotionStopped {
            disk.await();
            long start = System.nanoTime();
            try {
                home.read(container(), missing, count, new FrameConsumer() {
                    @Override
                    public void frame(int frame, Frame contents) {
                        offer(first, frame, contents);
                    }

                    @Override
                    public void damaged(int frame, IOException failure) {
                        refuse(first, frame, failure);
                    }
                });
            } catch (IOException e) {
                for (int i = 0; i < count; i++) {
                    refuse(first, missing[i], e);
                }
            }
            disk.pauseOrStop((int) TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + 1);
        }

        /** Offers the chunks of a frame; those without room in the queue stay remembered. */
        private void offer(int first, int frame, Frame contents) {
            for (int i = first; i < frames.length && (frames[i] < 0 || frames[i] <= frame); i++) {
                if (frames[i] == frame) {
                    try {
                        promotion.offerAgain(chunks[from + i], counts, contents);
                    } catch (IOException e) {
                        frames[i] = unreadable(chunks[from + i], e);
                    }
                }
            }
        }

        private void refuse(int first, int frame, IOException failure) {
            for (int i = first; i < frames.length; i++) {
                if (frames[i] == frame) {
                    frames[i] = unreadable(chunks[from + i], failure);
                }
            }
        }
    }

    /** Forgets a chunk that can't be read. */
    private int unreadable(long chunkId, @Nullable IOException failure) {
        log.debug("chunk {} is not brought back", ChunkId.toString(chunkId), failure);
        promotion.forget(chunkId, Refusal.UNREADABLE);
        return -1;
    }

    private void awaitRoom() throws PromotionStopped {
        while (!promotion.hasQueueRoom()) {
            if (!promotion.isActive()) {
                throw new PromotionStopped("no SSD accepts chunks");
            }
            disk.pauseOrStop(ROOM_MILLIS);
        }
    }
}
