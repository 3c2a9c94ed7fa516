package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.promotion.FileSpans.Span;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Promotes duplicates that could not be judged while their bytes were in memory. These are chunks whose references were
 * added by copying a recipe, without their bytes, and chunks at the end of the stored part of a file, whose run had not
 * ended. Some seconds later the file's recipe shows both. Chunks that the policy would promote as written duplicates
 * are remembered, and {@link OfferRetries} fetches them. Any thread may note ranges; the background thread examines
 * them.
 */
final class LatePromotion {
    private static final Logger log = LoggerFactory.getLogger(LatePromotion.class);

    /** Ranges that may wait: 1 MiB of heap. */
    private static final int MAX_WAITING = 1 << 14;
    /** Most recipe pages judged at a time: 16 MiB of a file. */
    private static final int PAGES = 64;
    /**
     * References judged at a time, up to the end of a page: more than {@link #PAGES} usual pages have. A recipe can
     * refer to single bytes.
     */
    private static final int REFERENCES = 1 << 16;

    private final SelectivePromotion promotion;
    private final RecipeStore recipes;
    private final int pageBytes;
    private final CountSource counts;
    private final OfferRetries retries;
    private final IdleDisk disk;
    private final FileSpans spans;

    private final FileRuns runs;
    private long[] chunkIds = new long[256];
    private int[] lengths = new int[256];
    /** Whether a chunk is within the noted range, from its first byte on. */
    private boolean[] noted = new boolean[256];

    LatePromotion(
            SelectivePromotion promotion,
            PromotionSources sources,
            OfferRetries retries,
            IdleDisk disk,
            long delayNanos) {
        this.promotion = promotion;
        recipes = sources.recipes();
        pageBytes = recipes.pageBytes();
        counts = sources.counts();
        this.retries = retries;
        this.disk = disk;
        spans = new FileSpans(MAX_WAITING, delayNanos);
        runs = new FileRuns(recipes);
    }

    /** Notes that bytes {@code from} to {@code to} (exclusive) of a file must be examined. Never waits. */
    void note(long inode, long from, long to) {
        if (promotion.isActive() && !spans.note(inode, from, to, System.nanoTime())) {
            // The number of duplicates in the dropped range is unknown: it counts as one.
            promotion.onDuplicatesMissed(1, Refusal.QUEUE);
        }
    }

    /** Examines all ranges whose delay has passed, if an SSD accepts chunks. */
    void work() throws PromotionStopped {
        while (promotion.isActive()) {
            Span span = spans.take(System.nanoTime());
            if (span == null) {
                return;
            }
            promote(span);
        }
    }

    private void promote(Span span) throws PromotionStopped {
        try {
            long end = (span.to() + pageBytes - 1) / pageBytes;
            for (long page = span.from() / pageBytes; page < end; ) {
                disk.await();
                long[] existing = recipes.existingPages(span.inode(), page, end, PAGES);
                if (existing.length == 0) {
                    return;
                }
                page = judge(span, existing);
                // Makes room in the list for the next chunks.
                retries.work();
            }
        } catch (PromotionStopped e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            log.warn("a part of inode {} is not promoted: {}", span.inode(), e.getMessage(), e);
        }
    }

    /**
     * Judges the noted chunks in the first of these pages; remembers those that the policy wants.
     *
     * @return the number of the page after the last one that was judged
     */
    private long judge(Span span, long[] pages) throws IOException {
        runs.clear();
        long end = pages[0];
        for (int i = 0; i < pages.length && runs.count() < REFERENCES; i++) {
            add(span, pages[i], recipes.page(span.inode(), pages[i]));
            end = pages[i] + 1;
        }
        runs.measure(span.inode(), pages[0] * pageBytes, end * pageBytes, false, promotion.longRunBytes());
        for (int i = 0; i < runs.count(); i++) {
            if (noted[i]) {
                promotion.wantedUnread(chunkIds[i], counts.count(chunkIds[i]), lengths[i], runs.runBytes(i));
            }
        }
        return end;
    }

    /** Returns for how many references there is memory: that stays. */
    int room() {
        return chunkIds.length;
    }

    private void add(Span span, long number, RecipePage page) throws PromotionStopped {
        if (disk.isClosed()) {
            throw PromotionStopped.closing();
        }
        for (int entry = 0; entry < page.count(); entry++) {
            if (page.isZero(entry)) {
                continue;
            }
            int i = runs.count();
            if (i == chunkIds.length) {
                chunkIds = Arrays.copyOf(chunkIds, 2 * i);
                lengths = Arrays.copyOf(lengths, 2 * i);
                noted = Arrays.copyOf(noted, 2 * i);
            }
            long offset = number * pageBytes + page.start(entry);
            chunkIds[i] = page.chunkId(entry);
            lengths[i] = page.length(entry);
            boolean within = offset < span.to() && offset + page.length(entry) > span.from();
            // Only an entry that begins with the chunk's first byte is an occurrence of it.
            noted[i] = within && page.chunkOffset(entry) == 0;
            runs.add(offset, chunkIds[i], page.chunkOffset(entry), lengths[i]);
        }
    }
}
