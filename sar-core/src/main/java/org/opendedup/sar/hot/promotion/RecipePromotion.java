package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.RecipePage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Promotes from whole recipes, beyond the paper. Once a file with duplicates is written, its recipe shows which places
 * of the disk a restore needs little of. The chunks needed from these are read, in disk order, and offered to the SSD;
 * the requests that save most are chosen first. Any thread may note files; the background thread examines them.
 */
final class RecipePromotion {
    private static final Logger log = LoggerFactory.getLogger(RecipePromotion.class);

    private static final long NO_INODE = Long.MIN_VALUE;
    private static final int MAX_WAITING_INODES = 1024;
    /**
     * Smallest file examined, in bytes. A smaller one shares its containers with its neighbours, and a restore of all
     * of them reads these containers whole.
     */
    private static final long MIN_FILE_BYTES = 4 << 20;

    /** Heap bytes of a reference while its part is analysed. */
    private static final int REFERENCE_BYTES = 80;
    /** Lower bound of the references of a part: more than a usual page of a recipe has. */
    private static final int LEAST_REFERENCES = 1 << 16;

    private final SelectivePromotion promotion;
    private final Admission admission;
    private final PromotionSources sources;
    private final OfferRetries retries;
    private final RecentInodes inodes;
    private final RecipeUse use;
    private final IdleDisk disk;
    private final HomeOffers home;

    /**
     * @param windowBytes bytes of a file over which a restore keeps what it has read in memory
     * @param heapBytes heap bytes for the part of a recipe that is being analysed
     * @param quietNanos time, in nanoseconds, without changes to a file after which its recipe is examined
     */
    RecipePromotion(
            SelectivePromotion promotion,
            Admission admission,
            PromotionSources sources,
            OfferRetries retries,
            IdleDisk disk,
            long windowBytes,
            long heapBytes,
            long quietNanos) {
        this.promotion = promotion;
        this.admission = admission;
        this.sources = sources;
        inodes = new RecentInodes(MAX_WAITING_INODES, quietNanos);
        use = new RecipeUse(windowBytes, maxReferences(heapBytes));
        this.retries = retries;
        this.disk = disk;
        home = new HomeOffers(promotion, sources, disk);
    }

    static int maxReferences(long heapBytes) {
        return (int) Math.max(LEAST_REFERENCES, Math.min(RecipeUse.MAX_REFERENCES, heapBytes / REFERENCE_BYTES));
    }

    /**
     * Notes that a file was written, or read as a whole. Its recipe is examined once nothing was noted of it for a
     * while. Never waits.
     */
    void note(long inode) {
        if (promotion.promotesByRecipe()) {
            inodes.note(inode, System.nanoTime());
        }
    }

    /** Examines all files that have been quiet long enough. */
    void work() {
        long inode = inodes.takeQuiet(System.nanoTime(), NO_INODE);
        while (!disk.isClosed() && inode != NO_INODE) {
            promote(inode);
            inode = inodes.takeQuiet(System.nanoTime(), NO_INODE);
        }
    }

    private void promote(long inode) {
        if (!promotion.promotesByRecipe()) {
            return;
        }
        try {
            use.clear();
            promoteParts(inode);
        } catch (PromotionStopped e) {
            log.debug("promotion of inode {} stopped: {}", inode, e.getMessage());
        } catch (IOException | RuntimeException e) {
            log.warn("inode {} is not promoted from its recipe: {}", inode, e.getMessage(), e);
        }
    }

    /** Thrown when no more references fit in this part. */
    private static final class PartFull extends IOException {
        private static final long serialVersionUID = 1;
        final long nextPage;

        PartFull(long nextPage) {
            super("the part goes up to page " + nextPage);
            this.nextPage = nextPage;
        }
    }

    /**
     * Promotes from the references of a file, in parts of bounded size. The database is not read while a part is
     * promoted.
     */
    private void promoteParts(long inode) throws IOException {
        boolean first = true;
        long page = 0;
        while (page >= 0) {
            page = gather(inode, page);
            if (first && page < 0 && use.bytes() < MIN_FILE_BYTES) {
                return;
            }
            RecipeRequests requests = use.analyse(this::layout, sources.frames().gapBytes());
            use.clear();
            new Plan(requests).run();
            first = false;
        }
    }

    /** Collects a part; returns the page where the next part begins, or -1 at the end of the file. */
    private long gather(long inode, long fromPage) throws IOException {
        try {
            sources.recipes().forEachPage(inode, fromPage, Long.MAX_VALUE, this::gatherPage);
            return -1;
        } catch (PartFull full) {
            return full.nextPage;
        }
    }

    private void gatherPage(long number, RecipePage page) throws IOException {
        if (disk.isClosed()) {
            throw PromotionStopped.closing();
        }
        if (use.room() < page.count()) {
            if (use.isEmpty()) {
                // It refers to single bytes: a request is not worth their promotion.
                return;
            }
            throw new PartFull(number);
        }
        for (int entry = 0; entry < page.count(); entry++) {
            if (!page.isZero(entry)) {
                use.add(
                        number * sources.recipes().pageBytes() + page.start(entry),
                        page.chunkId(entry),
                        page.length(entry));
            }
        }
    }

    private @Nullable ContainerLayout layout(long container) {
        if (disk.isClosed()) {
            return null;
        }
        try {
            return ContainerLayout.of(sources.containers().located(container));
        } catch (IOException e) {
            log.warn("container {} is left out of promotion: {}", container, e.getMessage());
            return null;
        }
    }

    /** The requests worth promoting, and their execution. */
    private final class Plan {
        private final RecipeRequests requests;
        private final BitSet chosen = new BitSet();

        Plan(RecipeRequests requests) {
            this.requests = requests;
        }

        void run() throws IOException {
            choose();
            for (int request = chosen.nextSetBit(0); request >= 0; request = chosen.nextSetBit(request + 1)) {
                // A file needs a long time; remembered chunks of a burst do not wait for it.
                retries.work();
                disk.await();
                if (!promotion.promotesByRecipe()) {
                    throw new PromotionStopped("promotion has ended");
                }
                // Requests of two visits to a container may need the same chunks.
                if (home.missingBytes(requests, request) > 0) {
                    home.offer(requests, request);
                }
            }
        }

        private void choose() throws IOException {
            long free = admission.freeBytes();
            for (int request : requests.bestFirst()) {
                if (disk.isClosed()) {
                    throw PromotionStopped.closing();
                }
                long bytes = home.missingBytes(requests, request);
                if (bytes > 0 && (bytes <= free || isWorthAnothersPlace(request))) {
                    chosen.set(request);
                    free = Math.max(0, free - bytes);
                }
            }
        }

        private boolean isWorthAnothersPlace(int request) throws IOException {
            int fewest = Integer.MAX_VALUE;
            int longest = 0;
            for (int i = requests.firstChunk(request); i < requests.firstChunk(request + 1); i++) {
                fewest = Math.min(fewest, sources.counts().count(requests.chunkId(i)));
                longest = Math.max(longest, requests.length(i));
            }
            return admission.displaces(promotion.rank(fewest, longest, requests.saving(request)));
        }
    }
}
