package org.opendedup.sar.hot.promotion;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.Closeable;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Promotes chunks whose bytes are not in memory, beyond the SAR paper: {@link OfferRetries remembered offers},
 * {@link LatePromotion duplicates that were judged late}, and {@link RecipePromotion chunks that recipes need from
 * sparsely used containers}. One thread does all of it, in this order, and only while the volume's users neither read
 * nor write. Safe for use by many threads.
 */
public final class BackgroundPromotion implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(BackgroundPromotion.class);

    /** A test may wait less. */
    private static final String QUIET = "sar.promotion.quiet.ms";

    private static final long QUIET_MS = 10_000;
    private static final int POLL_MILLIS = 250;

    private final IdleDisk disk;
    private final OfferRetries retries;
    private final LatePromotion late;
    private final RecipePromotion recipes;
    private final FileReload reload;
    private final OpenedFiles opened;
    private final Thread worker;

    /**
     * @param windowBytes bytes of a file over which a restore keeps what it has read in memory
     * @param heapBytes heap bytes for the part of a recipe that is being analysed
     * @param landed whether a copy of a chunk is on the SSD, not only on its way
     * @param name name of the volume, for the thread's name
     */
    public BackgroundPromotion(
            SelectivePromotion promotion,
            Admission admission,
            PromotionSources sources,
            long windowBytes,
            long heapBytes,
            LongPredicate landed,
            String name) {
        this(
                promotion,
                admission,
                sources,
                windowBytes,
                heapBytes,
                landed,
                TimeUnit.MILLISECONDS.toNanos(Long.getLong(QUIET, QUIET_MS)),
                name);
    }

    BackgroundPromotion(
            SelectivePromotion promotion,
            Admission admission,
            PromotionSources sources,
            long windowBytes,
            long heapBytes,
            LongPredicate landed,
            long quietNanos,
            String name) {
        disk = new IdleDisk(sources.diskUse());
        retries = new OfferRetries(promotion, sources, disk);
        late = new LatePromotion(promotion, sources, retries, disk, quietNanos);
        recipes = new RecipePromotion(promotion, admission, sources, retries, disk, windowBytes, heapBytes, quietNanos);
        reload = new FileReload(promotion, sources, landed, disk::isClosed);
        opened = new OpenedFiles(promotion, reload, name);
        worker = new Thread(this::work, "promotion " + name);
        worker.setDaemon(true);
        worker.start();
    }

    /**
     * Notes that a file was written, or read as a whole. Its recipe is examined once nothing was noted of it for a
     * while. Never waits.
     */
    public void note(long inode) {
        recipes.note(inode);
    }

    /**
     * Notes that bytes {@code from} to {@code to} (exclusive) of a file added references to chunks which could not be
     * judged at that time: they were copied by their references, or their run had not ended. Never waits.
     */
    public void noteLate(long inode, long from, long to) {
        late.note(inode, from, to);
    }

    /**
     * Notes that a file in chunks was opened, which may bring it to the SSD as a whole. Never waits.
     *
     * @param size its length in bytes
     */
    public void noteOpened(long inode, long size) {
        opened.note(inode, size);
    }

    /** Returns what brings files to the SSD as a whole on request. */
    public FileReload reload() {
        return reload;
    }

    private void work() {
        while (disk.pause(POLL_MILLIS)) {
            try {
                retries.work();
                late.work();
                recipes.work();
            } catch (PromotionStopped e) {
                log.debug("promotion in the background waits: {}", e.getMessage());
            } catch (RuntimeException | Error e) {
                log.warn("promotion in the background failed, and continues: {}", e.getMessage(), e);
            }
        }
    }

    /** Stops the background work and discards what is pending. Idempotent. */
    @Override
    public void close() {
        disk.close();
        opened.close();
        Uninterruptibles.joinUninterruptibly(worker);
    }
}
