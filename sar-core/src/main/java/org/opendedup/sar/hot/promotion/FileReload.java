package org.opendedup.sar.hot.promotion;

import com.carrotsearch.hppc.LongLongHashMap;
import com.carrotsearch.hppc.cursors.LongLongCursor;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.metadata.record.RecipePage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings whole files to the SSD (TDDFS paper, §3.4: non-redundant chunk reloading). Reads those chunks of a file from
 * home that have no copy, in the order of their containers, and offers them. A chunk that several files share has one
 * copy. Reads of the volume's users are served first. Safe for use by many threads.
 */
public final class FileReload {
    private static final Logger log = LoggerFactory.getLogger(FileReload.class);

    /** Chunks that are brought at a time: 1 MiB of heap, and 256 MiB of a file in chunks of 8 KiB. */
    private static final int CHUNKS_AT_ONCE = 1 << 15;
    /** Recipe pages that are listed at a time. */
    private static final int PAGES = 64;

    private static final int RETRY_MILLIS = 20;
    /** Time in milliseconds for which a full queue is waited for. */
    private static final int QUEUE_MILLIS = 30_000;

    private final SelectivePromotion promotion;
    private final PromotionSources sources;
    private final LongPredicate landed;
    private final BooleanSupplier closed;

    /**
     * @param landed whether a copy of a chunk is on the SSD, not only on its way
     * @param closed whether to end early
     */
    FileReload(SelectivePromotion promotion, PromotionSources sources, LongPredicate landed, BooleanSupplier closed) {
        this.promotion = promotion;
        this.sources = sources;
        this.landed = landed;
        this.closed = closed;
    }

    /** Receives the progress of a reload. */
    @FunctionalInterface
    public interface Progress {
        /**
         * Called after some chunks were handled.
         *
         * @param bytes of these chunks
         * @throws IOException to end the reload
         */
        void handled(long bytes) throws IOException;
    }

    /**
     * What a reload did.
     *
     * @param bytes bytes of the file, without holes and zeros
     * @param copiedBytes those whose chunks it brought
     * @param onSsdBytes those whose chunks have a copy now
     * @param refused why the others have none, with their bytes
     */
    public record Reloaded(long bytes, long copiedBytes, long onSsdBytes, Map<Refusal, Long> refused) {}

    /**
     * Reloads a file.
     *
     * @param size its length in bytes
     * @param waits whether to wait until the copies are on the SSD; else those on their way count as there
     * @throws IOException if its recipe cannot be read, or {@code progress} ends it
     */
    public Reloaded reload(long inode, long size, boolean waits, Progress progress) throws IOException {
        int pageBytes = sources.recipes().pageBytes();
        long end = (size + pageBytes - 1) / pageBytes;
        Work work = new Work(waits, progress);
        for (long next = 0; next < end; ) {
            long[] pages = sources.recipes().existingPages(inode, next, end, PAGES);
            if (pages.length == 0) {
                break;
            }
            for (long page : pages) {
                work.add(sources.recipes().page(inode, page));
            }
            next = pages[pages.length - 1] + 1;
        }
        return work.finish();
    }

    /** The reload of one file. */
    private final class Work {
        private final boolean waits;
        private final Progress progress;
        /** The chunks that are brought next, with the bytes of the file that are in each. */
        private final LongLongHashMap chunks = new LongLongHashMap();

        private final Map<Refusal, Long> refused = new EnumMap<>(Refusal.class);
        private long bytes;
        private long copiedBytes;
        private long onSsdBytes;
        /** Whether no SSD takes copies. */
        private boolean isUnavailable;

        Work(boolean waits, Progress progress) {
            this.waits = waits;
            this.progress = progress;
        }

        void add(RecipePage page) throws IOException {
            for (int entry = 0; entry < page.count(); entry++) {
                if (!page.isZero(entry)) {
                    chunks.addTo(page.chunkId(entry), page.length(entry));
                }
            }
            if (chunks.size() >= CHUNKS_AT_ONCE) {
                bring();
            }
        }

        Reloaded finish() throws IOException {
            bring();
            return new Reloaded(bytes, copiedBytes, onSsdBytes, refused);
        }

        private void bring() throws IOException {
            long[] ids = chunks.keys().toArray();
            Arrays.sort(ids);
            Map<Long, Refusal> reasons = new HashMap<>();
            long[] missing =
                    Arrays.stream(ids).filter(id -> !promotion.contains(id)).toArray();
            for (int from = 0; from < missing.length && !isUnavailable; ) {
                checkOpen();
                HomeTurn turn = tryRead(missing, from);
                int end = turn == null ? endOfContainer(missing, from) : turn.end();
                long handled = 0;
                for (; from < end; from++) {
                    Refusal refusal =
                            offer(missing[from], turn == null ? null : turn.frameOf(ChunkId.slot(missing[from])));
                    if (refusal != null) {
                        reasons.put(missing[from], refusal);
                        // What follows would be read in vain.
                        isUnavailable |= refusal == Refusal.UNAVAILABLE;
                    }
                    handled += chunks.get(missing[from]);
                }
                progress.handled(handled);
            }
            count(missing, reasons);
            chunks.clear();
        }

        /** Reads the next chunks; null if their container cannot be read. */
        private @Nullable HomeTurn tryRead(long[] missing, int from) throws InterruptedIOException {
            try {
                return HomeTurn.read(sources, i -> missing[i], from, missing.length);
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                log.debug("container {} is not reloaded", ChunkId.container(missing[from]), e);
                return null;
            }
        }

        private static int endOfContainer(long[] missing, int from) {
            int end = from + 1;
            while (end < missing.length && ChunkId.container(missing[end]) == ChunkId.container(missing[from])) {
                end++;
            }
            return end;
        }

        /** @param frame of the chunk; null if it could not be read: reading the file reports it */
        private @Nullable Refusal offer(long chunkId, @Nullable Frame frame) throws IOException {
            if (frame == null || !frame.holds(ChunkId.slot(chunkId))) {
                return Refusal.UNREADABLE;
            }
            int references = sources.counts().count(chunkId);
            if (references == 0) {
                return Refusal.UNREFERENCED;
            }
            Refusal refusal = promotion.offerForReload(chunkId, references, frame);
            for (int waited = 0; refusal == Refusal.QUEUE && waited < QUEUE_MILLIS; waited += RETRY_MILLIS) {
                pause();
                refusal = promotion.offerForReload(chunkId, references, frame);
            }
            return refusal;
        }

        /** Throws if the volume is being closed, which waits for the reload. */
        private void checkOpen() throws InterruptedIOException {
            if (closed.getAsBoolean()) {
                throw new InterruptedIOException("the volume is being closed");
            }
        }

        private void pause() throws IOException {
            checkOpen();
            try {
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("stopped");
            }
            progress.handled(0);
        }

        private void awaitLanding(long[] missing) throws IOException {
            for (long chunkId : missing) {
                for (int waited = 0;
                        waited < QUEUE_MILLIS && !landed.test(chunkId) && promotion.contains(chunkId);
                        waited += RETRY_MILLIS) {
                    pause();
                }
            }
        }

        private void count(long[] missing, Map<Long, Refusal> reasons) throws IOException {
            if (waits) {
                awaitLanding(missing);
            }
            for (LongLongCursor chunk : chunks) {
                bytes += chunk.value;
                if (waits ? landed.test(chunk.key) : promotion.contains(chunk.key)) {
                    onSsdBytes += chunk.value;
                    copiedBytes += Arrays.binarySearch(missing, chunk.key) >= 0 ? chunk.value : 0;
                } else {
                    // What was taken and is not there was displaced, or found no room.
                    Refusal other = isUnavailable ? Refusal.UNAVAILABLE : Refusal.NO_ROOM;
                    Refusal reason = reasons.getOrDefault(chunk.key, other);
                    refused.merge(reason, chunk.value, Long::sum);
                }
            }
        }
    }
}
