package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * The files' recipes, in pages. A page that is replaced counts its references down and the new one's up in the same
 * generation: so counts are exact by construction. Reads may run at any time from any thread; changes of one page must not
 * run at once, and none may run during {@link MetadataStore#freeze()}: the caller locks.
 *
 * <p>Decoded pages are kept in shards, each with a lock held for some tens of nanoseconds. A shard always holds a page's
 * newest state, whether committed or not, so it is asked first. A reader that missed and loaded a page keeps it there only
 * if nothing in that shard was replaced meanwhile; otherwise it could bring back what was just replaced.
 */
public final class RecipeStore {
    private static final int SHARD_BITS = 6;

    private final Overlay overlay;
    private final ReferenceCounts counts;
    private final int pageBytes;
    private final Shard[] shards = new Shard[1 << SHARD_BITS];
    private volatile @Nullable Removal removal;
    private volatile DataListener listener = (inode, bytes) -> {};

    RecipeStore(Overlay overlay, ReferenceCounts counts, int pageBytes, long cacheBytes) {
        this.overlay = overlay;
        this.counts = counts;
        this.pageBytes = pageBytes;
        for (int i = 0; i < shards.length; i++) {
            shards[i] = new Shard(cacheBytes >> SHARD_BITS);
        }
    }

    /** Hears how many bytes more (or fewer, if negative) of a file chunks give, with each page that is replaced. */
    @FunctionalInterface
    public interface DataListener {
        void changed(long inode, long bytes);
    }

    /** Sets the one who is told; called once, before the first change. */
    public void listen(DataListener toTell) {
        listener = toTell;
    }

    /** A page of a file's recipe; {@link RecipePage#EMPTY} for a hole. */
    public RecipePage page(long inode, long page) throws IOException {
        Shard shard = shard(inode, page);
        long version;
        synchronized (shard) {
            RecipePage cached = shard.pages.get(inode, page);
            if (cached != null) {
                return cached;
            }
            version = shard.version;
        }
        RecipePage loaded = load(Keys.of(inode, page));
        synchronized (shard) {
            if (shard.version == version) {
                shard.pages.put(inode, page, loaded, loaded.heapBytes());
            }
        }
        return loaded;
    }

    /**
     * Replaces a page, and counts. An empty page removes the record. After an IOException nothing is changed.
     *
     * @throws IllegalArgumentException if the page describes more bytes than a page spans
     */
    public void replace(long inode, long page, RecipePage now) throws IOException {
        if (now.bytes() > pageBytes) {
            throw new IllegalArgumentException(
                    "a recipe page spans at most " + pageBytes + " bytes, not " + now.bytes());
        }
        replace(inode, page, page(inode, page), now);
    }

    /** As {@link #replace(long, long, RecipePage)}, for a caller that knows what the page is {@code before}. */
    void replace(long inode, long page, RecipePage before, RecipePage now) throws IOException {
        counts.prepare(before);
        counts.prepare(now);
        counts.addAll(now, 1);
        counts.addAll(before, -1);
        byte[] key = Keys.of(inode, page);
        if (now.count() == 0) {
            overlay.remove(Family.RECIPE, key);
        } else {
            overlay.put(Family.RECIPE, key, RecipeFormat.encode(key, now));
            forgetRemoval(inode, page);
        }
        Shard shard = shard(inode, page);
        synchronized (shard) {
            shard.version++;
            shard.pages.put(inode, page, now, now.heapBytes());
        }
        listener.changed(inode, now.dataBytes() - before.dataBytes());
    }

    /**
     * Drops what the page that holds a file's new end says of the bytes behind it. The pages behind that one are {@link
     * #removePages}'s.
     *
     * @param size the file's new length in bytes
     */
    public void truncatePage(long inode, long size) throws IOException {
        int kept = (int) (size % pageBytes);
        RecipePage page = kept == 0 ? RecipePage.EMPTY : page(inode, size / pageBytes);
        if (page.bytes() > kept) {
            RecipePage cut = new RecipePage.Builder().addRange(page, 0, kept).build();
            replace(inode, size / pageBytes, cut);
        }
    }

    /** Visits the pages {@code from} (inclusive) to {@code to} (exclusive) that have a record, in order. */
    public void forEachPage(long inode, long from, long to, PageConsumer consumer) throws IOException {
        try (Cursor cursor = scan(inode, from, to)) {
            while (cursor.next()) {
                consumer.accept(pageNumber(cursor), decode(cursor));
            }
        }
    }

    /** Goes over the records of pages {@code from} to {@code to} (exclusive), in order. */
    Cursor scan(long inode, long from, long to) throws IOException {
        return overlay.scan(Family.RECIPE, Keys.of(inode, from), Keys.of(inode, to));
    }

    /** Number of the page on whose record a cursor stands. */
    static long pageNumber(Cursor cursor) {
        return Keys.longAt(cursor.key(), Keys.LONG_BYTES);
    }

    /** The page on whose record a cursor stands. */
    RecipePage decode(Cursor cursor) throws IOException {
        return RecipeFormat.decode(cursor.key(), cursor.value(), pageBytes);
    }

    /**
     * Removes up to {@code max} records from {@code fromPage} on, counting their references down. No page of that range
     * may be written meanwhile. A damaged record throws, and stays.
     *
     * @return how many were removed; 0: there are no more
     */
    public int removePages(long inode, long fromPage, int max) throws IOException {
        long from = Math.max(fromPage, removedUpTo(inode, fromPage));
        long[] pages = existingPages(inode, from, Long.MAX_VALUE, max);
        for (long page : pages) {
            replace(inode, page, RecipePage.EMPTY);
        }
        if (pages.length > 0) {
            removal = new Removal(inode, fromPage, pages[pages.length - 1] + 1);
        }
        return pages.length;
    }

    /** Numbers of the first {@code max} pages from {@code from} to {@code to} (exclusive) that have a record, in order. */
    public long[] existingPages(long inode, long from, long to, int max) throws IOException {
        long[] pages = new long[Math.min(max, 1024)];
        int count = 0;
        try (Cursor cursor = scan(inode, from, to)) {
            while (count < max && cursor.next()) {
                if (count == pages.length) {
                    pages = Arrays.copyOf(pages, Math.min(max, 2 * count));
                }
                pages[count++] = pageNumber(cursor);
            }
        }
        return Arrays.copyOf(pages, count);
    }

    private long removedUpTo(long inode, long fromPage) {
        Removal last = removal;
        return last != null && last.inode == inode && last.fromPage <= fromPage ? last.upTo : fromPage;
    }

    private void forgetRemoval(long inode, long page) {
        Removal last = removal;
        if (last != null && last.inode == inode && page >= last.fromPage && page < last.upTo) {
            removal = null;
        }
    }

    private RecipePage load(byte[] key) throws IOException {
        byte[] value = overlay.get(Family.RECIPE, key);
        return value == null ? RecipePage.EMPTY : RecipeFormat.decode(key, value, pageBytes);
    }

    private Shard shard(long inode, long page) {
        return shards[(int) (ClockTable.hash(inode, page) >>> (64 - SHARD_BITS))];
    }

    /**
     * The last removal's progress: the inode has no page from {@code fromPage} to {@code upTo}. Without it every batch
     * would walk again over the deletion marks of all batches before it: quadratic in the size of the file.
     */
    private record Removal(long inode, long fromPage, long upTo) {}

    /** Some of the pages. Its monitor guards it. */
    private static final class Shard {
        final ClockTable<RecipePage> pages;
        /** Rises with every replacement of one of its pages. */
        long version;

        Shard(long cacheBytes) {
            pages = new ClockTable<>(cacheBytes);
        }
    }
}
