package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.RecipePages;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.restore.tree.TreeRecipe;
import org.opendedup.sar.restore.tree.TreeWalk;

/**
 * A reader that goes through a tree, read ahead along the files that it wants next as along one recipe. Safe for use by
 * many threads.
 */
final class TreeReader {
    /** Replaces the size of a file: the files of a tree are looked up when they are near. */
    private static final long SIZE = 1L << 60;

    private final Map<Long, Place> places;
    private final ParkedChunks parked;
    private final ReadCredit credit;
    private final Lookahead lookahead;
    /** Files that are known and not passed, in their order. Guarded by this, as is {@link #reached}. */
    private final Deque<Place> known = new ArrayDeque<>();

    private long reached;
    /** Whether files are to be found by their places: not before this is complete. */
    private boolean begun;

    /** Where a file is in the recipe of a tree. */
    record Place(TreeReader reader, long inode, long start, int length) {
        long end() {
            return start + length;
        }
    }

    /**
     * @param top shown as what is read
     * @param places receives the places of the files that are known; those of this reader are removed when it has
     *     passed them
     * @param parked the memory, which this releases
     */
    TreeReader(
            ReadStreams streams,
            RecipePages recipes,
            TreeWalk walk,
            long top,
            ConcurrentHashMap<Long, Place> places,
            ParkedChunks parked)
            throws IOException {
        this.places = places;
        this.parked = parked;
        credit = parked.credit();
        Lookahead started = streams.start(parked, new TreeRecipe(recipes, walk, this::add), top, 0, SIZE);
        if (started == null) {
            throw new IOException("there is no memory to read ahead of a tree");
        }
        lookahead = started;
    }

    private synchronized void add(long inode, long start, int length) {
        Place place = new Place(this, inode, start, length);
        known.add(place);
        if (begun) {
            places.put(inode, place);
        }
    }

    /** Reads ahead from the first file on. */
    void begin() {
        synchronized (this) {
            begun = true;
            known.forEach(place -> places.put(place.inode, place));
        }
        lookahead.note(0, SIZE, credit.mostAhead(false, 0, 0, 0));
    }

    /** Notes a request of one of its files, and reads ahead of it. */
    void note(Place place, long offset, int length) {
        long at;
        synchronized (this) {
            reached = Math.max(reached, Math.min(place.start + offset + length, place.end()));
            at = reached;
            long passed = reached - lookahead.slackBytes();
            while (!known.isEmpty() && known.getFirst().end() < passed) {
                forget(known.removeFirst());
            }
        }
        lookahead.note(at, SIZE, credit.mostAhead(false, 0, at, 0));
    }

    private void forget(Place place) {
        places.remove(place.inode, place);
    }

    boolean isClosed() {
        return lookahead.isClosed();
    }

    /** Drops what was fetched. Idempotent. */
    void close(ReadStreams streams) {
        lookahead.close();
        streams.close(parked);
        synchronized (this) {
            known.forEach(this::forget);
            known.clear();
        }
    }

    /** A request of one of its files. */
    static final class Request implements AheadRequest {
        private final Place place;
        private final long offset;
        private final int length;

        Request(Place place, long offset, int length) {
            this.place = place;
            this.offset = offset;
            this.length = length;
            place.reader.lookahead.enter();
        }

        @Override
        public @Nullable Pinned chunk(long chunkId, long at) throws IOException {
            return place.reader.lookahead.chunk(chunkId, place.start + at);
        }

        @Override
        public void took(List<Long> chunks) {
            place.reader.lookahead.took(place.start + offset, length);
        }

        @Override
        public void close() {
            place.reader.lookahead.leave();
        }
    }
}
