package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.RecipePages;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.opendedup.sar.restore.tree.TreeRecipe;
import org.opendedup.sar.restore.tree.TreeWalk;

/**
 * A reader that goes through a tree, read ahead along the files that it wants next as along one recipe. Safe for use by
 * many threads.
 */
final class TreeReader implements TreeRecipe.KnownFiles {
    private final ConcurrentHashMap<Long, Place> places = new ConcurrentHashMap<>();
    private final ParkedChunks parked;
    private final ReadCredit credit;
    private final Lookahead lookahead;
    /** Files that are known and not passed, in their order. Guarded by itself. */
    private final Deque<Place> known = new ArrayDeque<>();

    /** Set with the monitor of {@link #known}. */
    private volatile long reached;

    /** Where a file is in the recipe of a tree. */
    record Place(TreeReader reader, long inode, long start, int length) {
        long end() {
            return start + length;
        }

        /** Bytes between what the reader has reached and the file. */
        long distance() {
            return Math.abs(start - reader.reached);
        }

        /**
         * Whether a request for the file may wait for what is fetched ahead. If it is that of another program, and the
         * file is far ahead, it would wait for everything before the file.
         */
        boolean mayWait() {
            return distance() <= reader.lookahead.slackBytes() || reader.lookahead.isPlanned(end() - 1);
        }
    }

    /**
     * @param top shown as what is read
     * @param parked the memory, which this releases
     */
    TreeReader(ReadStreams streams, RecipePages recipes, TreeWalk walk, long top, ParkedChunks parked)
            throws IOException {
        this.parked = parked;
        credit = parked.credit();
        Lookahead started = streams.start(parked, new TreeRecipe(recipes, walk, this), top, 0, Lookahead.UNBOUNDED);
        if (started == null) {
            throw new IOException("there is no memory to read ahead of a tree");
        }
        lookahead = started;
    }

    @Override
    public void add(long inode, long start, int length) {
        Place place = new Place(this, inode, start, length);
        synchronized (known) {
            known.add(place);
        }
        places.put(inode, place);
    }

    @Override
    public boolean contains(long inode) {
        return places.containsKey(inode);
    }

    @Override
    public int count() {
        return places.size();
    }

    /** Returns the place of a file; null if it is not known, or passed. */
    @Nullable
    Place place(long inode) {
        return places.get(inode);
    }

    /** Reads ahead from the first file on. */
    void begin() {
        lookahead.note(0, Lookahead.UNBOUNDED, credit.mostAhead(false, 0, 0, 0));
    }

    /**
     * Notes a request for one of its files, and reads ahead of it. If files before it are not read, the request may be
     * that of another program, and nothing is passed for it: {@link #goTo} tells.
     */
    void note(Place place, long offset, int length) {
        if (place.start <= reached) {
            advance(Math.min(place.start + offset + length, place.end()));
        }
    }

    /** Notes that it has read a file to its end. */
    void goTo(long inode) {
        Place place = places.get(inode);
        if (place != null) {
            advance(place.end());
        }
    }

    private void advance(long to) {
        long at;
        synchronized (known) {
            reached = Math.max(reached, to);
            at = reached;
            long passed = reached - lookahead.slackBytes();
            while (!known.isEmpty() && known.getFirst().end() < passed) {
                forget(known.removeFirst());
            }
        }
        lookahead.note(at, Lookahead.UNBOUNDED, credit.mostAhead(false, 0, at, 0));
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
    }

    /** A request of one of its files. */
    static final class Request implements AheadRequest {
        private final Place place;
        private final long offset;
        private final int length;
        private final LongAdder served;

        /**
         * @param length bytes of the request that are in the recipe of the tree
         * @param served counts the requests that got these bytes
         */
        Request(Place place, long offset, int length, LongAdder served) {
            this.place = place;
            this.offset = offset;
            this.length = length;
            this.served = served;
            place.reader.lookahead.enter();
        }

        @Override
        public int length() {
            return length;
        }

        @Override
        public @Nullable Pinned chunk(long chunkId, long at) throws IOException {
            return place.reader.lookahead.chunk(chunkId, place.start + at);
        }

        @Override
        public void took(Set<Long> chunks) {
            served.increment();
            place.reader.lookahead.took(place.start + offset, length);
        }

        @Override
        public void close() {
            place.reader.lookahead.leave();
        }
    }
}
