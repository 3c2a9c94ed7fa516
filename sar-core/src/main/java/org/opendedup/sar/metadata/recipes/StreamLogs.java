package org.opendedup.sar.metadata.recipes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.RecipePages;
import org.opendedup.sar.metadata.record.StreamLogFormat;
import org.opendedup.sar.metadata.record.StreamPlace;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The logs of the streams that a volume of chunks has written: which chunks, new and old, a stream put, in order. A log
 * is a recipe like that of a file, under a number of its own, except that its references do not count: it is a hint for
 * readers. A loss costs speed only, and a log may name chunks that no longer exist.
 *
 * <p>One chunk in {@value #CHUNKS_PER_HOOK} has a <em>hook</em>: the page of the log that named it last. So a reader
 * finds the log that it follows after a few reads. Pages are removed in the order of their logs, the oldest first.
 *
 * <p>Changes belong to the pending generation like any other: the caller holds the change lock. Safe for use by many
 * threads.
 */
public final class StreamLogs implements RecipePages {
    private static final Logger log = LoggerFactory.getLogger(StreamLogs.class);

    /**
     * Bytes that a page describes. A record costs a put much more than a reference in it: pages are longer than those
     * of files, which are also replaced.
     */
    private static final int PAGE_BYTES = 4 << 20;

    /** Number of chunks of which one, on average, has a hook. A reader reads about as many before its log is found. */
    private static final int CHUNKS_PER_HOOK = 32;

    private static final int HOOK_BITS = Integer.numberOfTrailingZeros(CHUNKS_PER_HOOK);

    /** Mixes the bits of a chunk id: neighbours must not all have hooks, or none. */
    private static final long MIX = 0x9E3779B97F4A7C15L;

    /** Replaces the log's number in the keys of hooks: greater than each, so that hooks follow all pages. */
    private static final long HOOKS = 1L << 62;

    private final Overlay overlay;
    private final ReferenceCounts counts;
    /** Guarded by this. */
    private StreamLogFormat.Summary summary;
    /** The oldest page that was added since the oldest pages were last looked for. Guarded by this. */
    private @Nullable StreamPlace oldestAdded;

    public StreamLogs(Overlay overlay, ReferenceCounts counts) throws IOException {
        this.overlay = overlay;
        this.counts = counts;
        summary = readSummary();
    }

    private StreamLogFormat.Summary readSummary() throws IOException {
        byte[] value = overlay.get(Family.SYSTEM, SystemRecords.STREAM_LOGS);
        try {
            return value == null ? StreamLogFormat.Summary.NONE : StreamLogFormat.decodeSummary(value);
        } catch (CorruptionException | UnsupportedFormatException e) {
            log.warn("the size of the stream logs is not known any more; counting begins anew: {}", e.getMessage());
            return StreamLogFormat.Summary.NONE;
        }
    }

    @Override
    public int pageBytes() {
        return PAGE_BYTES;
    }

    /** Returns the number of references in all logs. */
    public synchronized long references() {
        return summary.references();
    }

    /** Returns the number of the oldest log: all pages of logs with lower numbers were removed. */
    public synchronized long oldestLog() {
        return summary.oldest().log();
    }

    /** Returns whether a chunk has a hook if a log names it. */
    public static boolean mayHaveHook(long chunk) {
        return chunk * MIX >>> Long.SIZE - HOOK_BITS == 0;
    }

    /** Adds a page to a log, and hooks to it. The page must not exist. */
    public void add(StreamPlace place, RecipePage page) {
        byte[] key = Keys.of(place.log(), place.page());
        overlay.put(Family.RECIPE, key, RecipeFormat.encode(key, page));
        for (int entry = 0; entry < page.count(); entry++) {
            if (mayHaveHook(page.chunkId(entry))) {
                byte[] hook = Keys.of(HOOKS, page.chunkId(entry));
                overlay.put(Family.RECIPE, hook, StreamLogFormat.encodeHook(hook, place));
            }
        }
        noteAdded(place, page.count());
    }

    private synchronized void noteAdded(StreamPlace place, int references) {
        oldestAdded = older(place, oldestAdded);
        // A stream may go on with its log after younger logs were removed.
        change(references, older(place, summary.oldest()));
    }

    private synchronized void noteRemoved(StreamPlace next, long references) {
        // Whoever looked for the oldest pages may have missed one that was added since.
        change(-references, older(next, oldestAdded));
    }

    private static StreamPlace older(StreamPlace place, @Nullable StreamPlace other) {
        return other == null || place.isBefore(other) ? place : other;
    }

    /** @param oldest no page before it exists. The monitor of this is held */
    private void change(long moreReferences, StreamPlace oldest) {
        summary = new StreamLogFormat.Summary(Math.max(0, summary.references() + moreReferences), oldest);
        overlay.put(Family.SYSTEM, SystemRecords.STREAM_LOGS, StreamLogFormat.encodeSummary(summary));
    }

    /** Returns the place that named a chunk last; null if that is not known. */
    public @Nullable StreamPlace find(long chunk) throws IOException {
        byte[] key = Keys.of(HOOKS, chunk);
        byte[] value = overlay.get(Family.RECIPE, key);
        try {
            return value == null ? null : StreamLogFormat.decodeHook(key, value);
        } catch (CorruptionException | UnsupportedFormatException e) {
            log.debug("a hook of a stream log is damaged: {}", e.getMessage());
            return null;
        }
    }

    /**
     * Returns a page of a log. Chunks that no longer exist are zeros in it; a page that is damaged or was removed is
     * empty.
     */
    @Override
    public RecipePage page(long number, long page) throws IOException {
        return existing(written(number, page));
    }

    /**
     * Returns a page of a log as it was written, with chunks that no longer exist: to find a chunk that does, without a
     * look at the counts of all others. A page that is damaged or was removed is empty.
     */
    public RecipePage written(long number, long page) throws IOException {
        byte[] key = Keys.of(number, page);
        byte[] value = overlay.get(Family.RECIPE, key);
        return value == null ? RecipePage.EMPTY : decode(key, value);
    }

    private RecipePage decode(byte[] key, byte[] value) {
        try {
            return RecipeFormat.decode(key, value, PAGE_BYTES);
        } catch (CorruptionException | UnsupportedFormatException e) {
            log.debug("a page of a stream log is damaged: {}", e.getMessage());
            return RecipePage.EMPTY;
        }
    }

    private RecipePage existing(RecipePage page) throws IOException {
        RecipePage.Builder existing = new RecipePage.Builder();
        for (int entry = 0; entry < page.count(); entry++) {
            long chunk = page.chunkId(entry);
            boolean exists = chunk != ChunkId.NONE && counts.length(chunk) > 0;
            existing.add(
                    exists ? chunk : ChunkId.NONE,
                    page.chunkOffset(entry),
                    page.length(entry),
                    page.fingerprintPrefix(entry));
        }
        return existing.build();
    }

    @Override
    public long[] existingPages(long number, long from, long to, int max) throws IOException {
        return RecipeStore.pagesAt(overlay.scan(Family.RECIPE, Keys.of(number, from), Keys.of(number, to)), max);
    }

    /** The oldest pages, to be removed. */
    public final class Oldest {
        private final List<byte[]> keys = new ArrayList<>();
        private final List<byte[]> hooks = new ArrayList<>();
        private long references;
        private StreamPlace next;

        private Oldest(StreamPlace next) {
            this.next = next;
        }

        /** Returns the number of pages; 0 if there is no log. */
        public int pages() {
            return keys.size();
        }

        /** Removes them. Does not read from the database, because the caller holds the change lock. */
        public void remove() {
            keys.forEach(key -> overlay.remove(Family.RECIPE, key));
            hooks.forEach(key -> overlay.remove(Family.RECIPE, key));
            noteRemoved(next, references);
        }
    }

    /** Returns the oldest pages, {@code max} at most. The caller removes them before it asks again. */
    public Oldest oldest(int max) throws IOException {
        StreamPlace from;
        synchronized (this) {
            from = summary.oldest();
            oldestAdded = null;
        }
        Oldest oldest = new Oldest(from);
        try (Cursor cursor = overlay.scan(Family.RECIPE, Keys.of(from.log(), from.page()), Keys.of(HOOKS))) {
            while (oldest.keys.size() < max && cursor.next()) {
                byte[] key = cursor.key();
                StreamPlace place = new StreamPlace(Keys.longAt(key, 0), Keys.longAt(key, Keys.LONG_BYTES));
                RecipePage page = decode(key, cursor.value());
                oldest.keys.add(key);
                oldest.references += page.count();
                oldest.next = new StreamPlace(place.log(), place.page() + 1);
                addHooks(page, place, oldest.hooks);
            }
        }
        return oldest;
    }

    /** Adds the hooks to a page, without those that younger pages have replaced. */
    private void addHooks(RecipePage page, StreamPlace place, List<byte[]> hooks) throws IOException {
        for (int entry = 0; entry < page.count(); entry++) {
            long chunk = page.chunkId(entry);
            if (mayHaveHook(chunk) && place.equals(find(chunk))) {
                hooks.add(Keys.of(HOOKS, chunk));
            }
        }
    }
}
