package org.opendedup.sar.metadata.recipes;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.ClockTable;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.HeldRange;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.RecipePages;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.opendedup.sar.metadata.versions.Snapshots;

/**
 * The files' recipes, in pages. Replacing a page decrements the counts of its old references and increments those of
 * its new ones in the same generation: so counts are exact by construction. Reads may run at any time from any thread;
 * changes of one page must not run concurrently, and none may run during {@link MetadataStore#freeze()}: the caller
 * locks.
 *
 * <p>Decoded pages are cached in shards, each with a lock that is held for some tens of nanoseconds. A cached page is
 * always the newest state, whether committed or not, so the shard is queried first. A reader that loads a missing page
 * adds it to the shard only if nothing in that shard was replaced in the meantime; otherwise it could restore a state
 * that was just replaced.
 */
public final class RecipeStore implements RecipePages {
    /** Receives a file's recipe pages one by one; see {@link #forEachPage}. */
    @FunctionalInterface
    public interface PageConsumer {
        /** @param page page number: offset in the file divided by the page's span */
        void accept(long page, RecipePage recipe) throws IOException;
    }

    private static final int SHARD_BITS = 6;
    /** Bytes that a commit writes for a page that it keeps, about: the keys of a version and of its death, a crc. */
    private static final int KEPT_BYTES = 100;
    /** The same for each reference. */
    private static final int KEPT_REFERENCE_BYTES = 8;
    /** Pages of a removal that is not noted. */
    private static final int FEW_PAGES = 256;
    /** Most removals that are noted; more of them only take longer. */
    private static final int MOST_REMOVALS = 64;

    private final Overlay overlay;
    private final Snapshots snapshots;
    private final ReferenceCounts counts;
    private final int pageBytes;
    private final Lock versionLock = new ReentrantLock();
    private final Shard[] shards = new Shard[1 << SHARD_BITS];
    /** Removals of many pages, by inode; few at a time. */
    private final Map<Long, Removal> removals = new ConcurrentHashMap<>();

    private volatile DataListener listener = (inode, bytes) -> {};
    /** What is collected of files that are being cloned: few. */
    private final List<ReplacedPages> watched = new CopyOnWriteArrayList<>();

    public RecipeStore(Overlay overlay, Snapshots snapshots, ReferenceCounts counts, int pageBytes, long cacheBytes) {
        this.overlay = overlay;
        this.snapshots = snapshots;
        this.counts = counts;
        this.pageBytes = pageBytes;
        for (int i = 0; i < shards.length; i++) {
            shards[i] = new Shard(cacheBytes >> SHARD_BITS);
        }
    }

    /** Returns the bytes of a file that one page describes at most: a power of two. */
    @Override
    public int pageBytes() {
        return pageBytes;
    }

    /** Notified, with each page that is replaced, how many more bytes of a file are in chunks (fewer, if negative). */
    @FunctionalInterface
    public interface DataListener {
        void changed(long inode, long bytes);
    }

    /** Sets the listener; called once, before the first change. */
    public void listen(DataListener toTell) {
        listener = toTell;
    }

    /** Returns a page of a file's recipe; {@link RecipePage#EMPTY} for a hole. */
    @Override
    public RecipePage page(long inode, long page) throws IOException {
        if (SnapshotIds.isInSnapshot(inode)) {
            // Not cached: several snapshots may have a page that is rewritten.
            return load(Keys.of(inode, page));
        }
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
     * Replaces a page, and updates the reference counts. An empty page removes the record. After an IOException nothing
     * is changed.
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

    /**
     * Adds the first page of a new file, which has no recipe yet, and updates the reference counts. An empty page adds
     * nothing. After an IOException nothing is changed.
     */
    public void addFirst(long inode, RecipePage page) throws IOException {
        if (page.count() > 0) {
            replace(inode, 0, RecipePage.EMPTY, page);
        }
    }

    /** Collects the pages of a file that are replaced from now on, until the result is closed. */
    public ReplacedPages watch(long inode) {
        ReplacedPages replaced = new ReplacedPages(inode, watched::remove);
        watched.add(replaced);
        return replaced;
    }

    /**
     * Replaces a page as {@link #replace(long, long, RecipePage)} does, for a caller that knows the old page,
     * {@code before}.
     */
    void replace(long inode, long page, RecipePage before, RecipePage now) throws IOException {
        requirePresent(inode);
        // What a snapshot has goes on to refer to its chunks.
        boolean isKept = before.count() > 0 && overlay.keeps(before.birth());
        counts.replace(isKept ? RecipePage.EMPTY : before, now);
        if (isKept) {
            overlay.noteKept(KEPT_BYTES + KEPT_REFERENCE_BYTES * before.count());
        }
        byte[] key = Keys.of(inode, page);
        if (now.count() == 0) {
            overlay.remove(Family.RECIPE, key);
        } else {
            overlay.put(Family.RECIPE, key, RecipeFormat.encode(key, now));
            forgetRemoval(inode, page);
        }
        cache(inode, page, now.bornIn(overlay.birth()));
        listener.changed(inode, now.dataBytes() - before.dataBytes());
    }

    /**
     * Replaces a page by one with the same bytes in other copies of their chunks, and updates the reference counts. The
     * snapshots that have the page get the new one. After an IOException nothing is changed.
     */
    public void rewrite(long inode, long page, RecipePage now) throws IOException {
        requirePresent(inode);
        RecipePage before = page(inode, page);
        counts.replace(before, now);
        byte[] key = Keys.of(inode, page);
        overlay.rewrite(Family.RECIPE, key, RecipeFormat.encode(key, now), before.birth());
        cache(inode, page, now.bornIn(before.birth()));
    }

    /** Before a count is changed: the page of a snapshot is that of others, too. */
    private static void requirePresent(long inode) {
        if (SnapshotIds.isInSnapshot(inode)) {
            throw new IllegalArgumentException("inode " + inode + " is in a snapshot, and its pages do not change");
        }
    }

    /** Receives pages that only snapshots have; see {@link #someVersions}. */
    @FunctionalInterface
    public interface VersionVisitor {
        /**
         * @param key of the version
         * @param inode number of the file in the newest snapshot that has the page
         */
        void visit(byte[] key, long inode, long page, RecipePage recipe);
    }

    /**
     * Visits pages that only snapshots have, in the order of inode numbers and pages, at most {@code max} of them, so
     * that no cursor stays open for long. Leaves out damaged records, and those of deleted snapshots.
     *
     * @param from the key to begin with; null: the first one
     * @return the key to go on from; null if there are no more
     */
    public byte @Nullable [] someVersions(byte @Nullable [] from, int max, VersionVisitor visitor) throws IOException {
        byte[] first = from == null ? VersionKeys.from(Kind.RECIPE, Keys.FIRST) : from;
        try (Cursor cursor = overlay.scan(Family.VERSION, first, VersionKeys.end(Kind.RECIPE))) {
            for (int visited = 0; visited < max; visited++) {
                if (!cursor.next()) {
                    return null;
                }
                visit(cursor.key(), cursor.value(), visitor);
            }
            return cursor.next() ? cursor.key() : null;
        }
    }

    private void visit(byte[] key, byte[] value, VersionVisitor visitor) {
        byte[] numbers = VersionKeys.numbers(Kind.RECIPE, key);
        long newest = snapshots.before(VersionKeys.deathOf(Kind.RECIPE, key));
        if (newest >= Math.max(1, Births.of(value))) {
            try {
                RecipePage page = RecipeFormat.decode(numbers, value, pageBytes);
                long inode = SnapshotIds.of(newest, Keys.longAt(numbers, 0));
                visitor.visit(key, inode, Keys.longAt(numbers, Keys.LONG_BYTES), page);
            } catch (CorruptionException | UnsupportedFormatException e) {
                // Reads of this page of the file in the snapshot fail with an error.
            }
        }
    }

    /** Returns the lock that who frees or rewrites versions holds meanwhile. Acquired before the change lock. */
    public Lock versionLock() {
        return versionLock;
    }

    /** Returns a page that only snapshots have; null if it is freed. Called with the lock of versions. */
    public @Nullable RecipePage version(byte[] key) throws IOException {
        byte[] value = overlay.get(Family.VERSION, key);
        return value == null ? null : RecipeFormat.decode(VersionKeys.numbers(Kind.RECIPE, key), value, pageBytes);
    }

    /**
     * Replaces a page that only snapshots have, as {@link #rewrite} does. Called with the lock of versions.
     *
     * @param before the page as {@link #version} returned it
     */
    public void rewriteVersion(byte[] key, RecipePage before, RecipePage now) throws IOException {
        counts.replace(before, now);
        byte[] numbers = VersionKeys.numbers(Kind.RECIPE, key);
        overlay.rewrite(Family.VERSION, key, RecipeFormat.encode(numbers, now), before.birth());
        long inode = Keys.longAt(numbers, 0);
        long page = Keys.longAt(numbers, Keys.LONG_BYTES);
        watched.forEach(replaced -> replaced.note(inode, page));
    }

    /** Begins to free the versions that only deleted snapshots have, between these two that exist. */
    public VersionRelease release(long before, long after) {
        return new VersionRelease(overlay, counts, pageBytes, new VersionGap(before, after));
    }

    /**
     * Returns the bytes of chunks, before compression, that are freed if these snapshots are deleted, as of the last
     * commit.
     *
     * @param numbers of snapshots that exist
     */
    public long bytesFreedBy(SortedSet<Long> numbers, Snapshots snapshots, Progress progress) throws IOException {
        return new VersionSpace(overlay, counts, pageBytes, VersionGap.around(numbers, snapshots), progress).bytes();
    }

    private void cache(long inode, long page, RecipePage now) {
        Shard shard = shard(inode, page);
        synchronized (shard) {
            shard.version++;
            shard.pages.put(inode, page, now, now.heapBytes());
        }
        if (!watched.isEmpty()) {
            watched.forEach(replaced -> replaced.note(inode, page));
        }
    }

    /**
     * Removes the entries for the bytes after a file's new end from the page that contains the end.
     * {@link #removePages} removes the pages after that one.
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

    /** Receives pages of many files; see {@link #somePages}. */
    @FunctionalInterface
    public interface PageVisitor {
        void visit(long inode, long page, RecipePage recipe);
    }

    /** A page of a file. */
    public record Position(long inode, long page) {
        public static final Position FIRST = new Position(0, 0);
    }

    /**
     * Visits pages of all files that have a record, in the order of inode numbers and pages, at most {@code max} of
     * them, so that no cursor stays open for long. Leaves out damaged records.
     *
     * @param from first page to visit
     * @return the page to go on from; null if there are no more
     */
    public @Nullable Position somePages(Position from, int max, PageVisitor visitor) throws IOException {
        try (Cursor cursor = overlay.scan(Family.RECIPE, Keys.of(from.inode, from.page), Keys.END)) {
            for (int visited = 0; visited < max; visited++) {
                if (!cursor.next()) {
                    return null;
                }
                try {
                    visitor.visit(Keys.longAt(cursor.key(), 0), pageNumber(cursor), decode(cursor));
                } catch (CorruptionException | UnsupportedFormatException e) {
                    // Reads of this page of the file fail with an error.
                }
            }
            return cursor.next() ? new Position(Keys.longAt(cursor.key(), 0), pageNumber(cursor)) : null;
        }
    }

    /** Returns a cursor over the records of pages {@code from} (inclusive) to {@code to} (exclusive), in order. */
    Cursor scan(long inode, long from, long to) throws IOException {
        return overlay.scan(Family.RECIPE, Keys.of(inode, from), Keys.of(inode, to));
    }

    /** Returns the number of the page at a cursor's current record. */
    static long pageNumber(Cursor cursor) {
        return Keys.longAt(cursor.key(), Keys.LONG_BYTES);
    }

    /** Decodes the page at a cursor's current record. */
    RecipePage decode(Cursor cursor) throws IOException {
        return RecipeFormat.decode(cursor.key(), cursor.value(), pageBytes);
    }

    /**
     * Holds pages {@code from} (inclusive) to {@code to} (exclusive) in memory for a change of them: the first
     * {@code maxPages} that have a record. Call it without any lock that others wait for, and close the result after
     * the change.
     */
    public HeldRecipe hold(long inode, long from, long to, int maxPages) throws IOException {
        long first = Math.min(to, removedUpTo(inode, from));
        HeldRange range =
                overlay.hold(Family.RECIPE, Keys.of(inode, from), Keys.of(inode, first), Keys.of(inode, to), maxPages);
        HeldRecipe held = new HeldRecipe(overlay, counts, range, inode, from, to, pageBytes);
        try {
            fill(held, range, first, to, maxPages);
            return held;
        } catch (IOException | RuntimeException e) {
            held.close();
            throw e;
        }
    }

    /**
     * Holds a few pages that were probably read or written recently. Unlike {@link #hold}, it leaves the pages to the
     * cache of decoded pages, and only their counts are guaranteed to stay in memory.
     */
    public HeldRecipe holdFew(long inode, long from, long to) throws IOException {
        HeldRecipe held = new HeldRecipe(overlay, counts, null, inode, from, to, pageBytes);
        try {
            fillFromCache(held, to);
            return held;
        } catch (IOException | RuntimeException e) {
            held.close();
            throw e;
        }
    }

    /** Adds the existing pages from {@code first} on to {@code held}, at most {@code maxPages}. */
    private void fill(HeldRecipe held, HeldRange range, long first, long to, int maxPages) throws IOException {
        byte[] last = range.lastOfPart();
        long loaded = last == null ? to : Keys.longAt(last, Keys.LONG_BYTES) + 1;
        try (Cursor cursor = scan(held.inode(), first, loaded)) {
            while (held.pages() < maxPages && !held.isFull()) {
                if (!cursor.next()) {
                    held.endAt(loaded);
                    return;
                }
                held.addRecord(pageNumber(cursor));
                held.holdCounts(decode(cursor));
            }
        } catch (CorruptionException | UnsupportedFormatException e) {
            // Holds the pages up to the damage. A change of the damaged page meets the damage again and handles it.
        }
    }

    /** Adds all pages below {@code to} to {@code held}, and reads each by its number. */
    private void fillFromCache(HeldRecipe held, long to) throws IOException {
        try {
            for (long number = held.from(); number < to; number++) {
                held.endAt(number + 1);
                RecipePage page = page(held.inode(), number);
                if (page.count() > 0) {
                    held.addRecord(number);
                }
                held.holdCounts(page);
            }
        } catch (CorruptionException | UnsupportedFormatException e) {
            // Holds the pages up to the damage, as above.
        }
    }

    /**
     * Removes held pages and decrements the counts of their references, until the limit is reached. None of the pages
     * may be written at the same time. A damaged record throws, and is not removed.
     *
     * @return number of pages removed; if fewer than {@link HeldRecipe#pages()}, there are more
     */
    public int removePages(HeldRecipe held, StepLimit limit) throws IOException {
        long ends = limit.end();
        long[] pages = existingPages(held.inode(), removedUpTo(held.inode(), held.from()), held.end(), limit.pages());
        int removed = 0;
        while (removed < pages.length && (removed == 0 || !limit.isOver(ends))) {
            replace(held.inode(), pages[removed++], RecipePage.EMPTY);
        }
        if (removed > 0) {
            noteRemoval(held.inode(), held.from(), pages[removed - 1] + 1);
        }
        return removed;
    }

    @Override
    public long[] existingPages(long inode, long from, long to, int max) throws IOException {
        return pagesAt(scan(inode, from, to), max);
    }

    /** Returns the page numbers of the first {@code max} records of a cursor over pages, which this closes. */
    static long[] pagesAt(Cursor records, int max) throws IOException {
        long[] pages = new long[Math.min(max, 1024)];
        int count = 0;
        try (Cursor cursor = records) {
            while (count < max && cursor.next()) {
                if (count == pages.length) {
                    pages = Arrays.copyOf(pages, Math.min(max, 2 * count));
                }
                pages[count++] = pageNumber(cursor);
            }
        }
        return Arrays.copyOf(pages, count);
    }

    /** One of few pages is not noted: stepping over its deletion marks takes no time. */
    private void noteRemoval(long inode, long fromPage, long upTo) {
        if (upTo - fromPage > FEW_PAGES) {
            if (removals.size() >= MOST_REMOVALS) {
                removals.clear();
            }
            removals.put(inode, new Removal(fromPage, upTo));
        }
    }

    private long removedUpTo(long inode, long fromPage) {
        Removal last = removals.get(inode);
        return last != null && last.fromPage <= fromPage ? Math.max(fromPage, last.upTo) : fromPage;
    }

    private void forgetRemoval(long inode, long page) {
        Removal last = removals.get(inode);
        if (last != null && page >= last.fromPage && page < last.upTo) {
            removals.remove(inode);
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
     * The progress of the last removal of an inode's pages: it has none from {@code fromPage} to {@code upTo}. Without
     * it every batch would step again over the deletion marks of all previous batches, in time quadratic in the size of
     * the file.
     */
    private record Removal(long fromPage, long upTo) {}

    /** A part of the pages. Guarded by its monitor. */
    private static final class Shard {
        final ClockTable<RecipePage> pages;
        /** Incremented with every replacement of one of its pages. */
        long version;

        Shard(long cacheBytes) {
            pages = new ClockTable<>(cacheBytes);
        }
    }
}
