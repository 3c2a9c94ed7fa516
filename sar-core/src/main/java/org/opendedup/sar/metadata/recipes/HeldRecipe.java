package org.opendedup.sar.metadata.recipes;

import java.io.Closeable;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.pending.HeldRange;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * Pages of a file's recipe, with the counts of the containers they refer to, held in memory until this object is
 * closed. A change of these pages then waits for no disk while it holds locks that others wait for; create this object
 * and then acquire those locks. If the pages change in the meantime, readers get their newest state from memory. All
 * requested pages are held, or fewer if they have many references or lie in many containers; at least one if there is
 * one.
 */
public final class HeldRecipe implements Closeable {
    /** Maximum number of count records held by one object: some KiB each. */
    private static final int MAX_CONTAINERS = 1024;

    private final Overlay overlay;
    private final ReferenceCounts counts;
    private final @Nullable HeldRange range;
    private final long inode;
    private final long from;
    private final long to;
    private final int pageBytes;
    private final Set<Long> containers = new HashSet<>();
    /** The container of the last chunk: the next chunk is usually in the same container. */
    private long latest;

    private int references;
    private int pages;
    private long end;

    /**
     * @param range has the pages {@code from} to {@code to} (exclusive), or the first ones of them, and is released
     *     when this object is closed; null if the pages are left to the cache of decoded pages
     */
    HeldRecipe(
            Overlay overlay,
            ReferenceCounts counts,
            @Nullable HeldRange range,
            long inode,
            long from,
            long to,
            int pageBytes) {
        this.overlay = overlay;
        this.counts = counts;
        this.range = range;
        this.inode = inode;
        this.from = from;
        this.to = to;
        this.pageBytes = pageBytes;
        end = from;
    }

    /** Includes a page that has a record, damaged or not. Pages between it and the one before have none. */
    void addRecord(long number) {
        pages++;
        end = number + 1;
    }

    /** Includes all pages below {@code number}: those that were not added have no record. */
    void endAt(long number) {
        end = number;
    }

    /** Returns whether the pages have too many references, or refer to too many containers, to add another. */
    boolean isFull() {
        return references >= StepLimit.MAX_REFERENCES || containers.size() >= MAX_CONTAINERS;
    }

    /** Holds the counts of the chunks that a page refers to. */
    void holdCounts(RecipePage page) throws IOException {
        references += page.count();
        for (int entry = 0; entry < page.count(); entry++) {
            holdCount(page.chunkId(entry));
        }
    }

    /** Also holds the count of a chunk that the pages are going to refer to; {@link ChunkId#NONE} has none. */
    public void holdCount(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        if (chunkId != ChunkId.NONE && container != latest && !containers.contains(container)) {
            hold(container);
        }
        latest = container;
    }

    private void hold(long container) throws IOException {
        try {
            counts.hold(container);
            containers.add(container);
        } catch (IOException e) {
            // Counts that are damaged, or in a bad block: a change that needs them meets that again and handles it.
            NoAnswer.rethrow(e);
        }
    }

    long inode() {
        return inode;
    }

    long from() {
        return from;
    }

    /** Returns the number of the first page that is not held. */
    long end() {
        return end;
    }

    /** Returns the number of pages that had a record when this object was created. */
    public int pages() {
        return pages;
    }

    /** Returns the file offset of the first byte after the held pages. */
    public long endByte() {
        return end > Long.MAX_VALUE / pageBytes ? Long.MAX_VALUE : end * pageBytes;
    }

    /** Returns whether all the requested pages are held. */
    public boolean isAll() {
        return end == to;
    }

    @Override
    public void close() {
        if (range != null) {
            overlay.release(range);
        }
        containers.forEach(counts::release);
    }
}
