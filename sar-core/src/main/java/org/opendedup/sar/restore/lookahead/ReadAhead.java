package org.opendedup.sar.restore.lookahead;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead of one reader of one file: detects the positions at which it reads in sequence ({@link ReadPositions}),
 * and has a {@link Lookahead} at those that it may read ahead. Safe for use by many threads.
 */
public final class ReadAhead implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ReadAhead.class);

    private final ReadStreams streams;
    private final long inode;
    private final int mostPositions;
    private final ReadCredit credit = new ReadCredit();

    /** Guarded by this, as are all fields below. */
    private final ReadPositions positions;

    private @Nullable ParkedChunks parked;
    private boolean closed;

    /** @param mostPositions most positions that are read ahead at once */
    public ReadAhead(ReadStreams streams, long inode, int mostPositions) {
        this.streams = streams;
        this.inode = inode;
        this.mostPositions = mostPositions;
        positions = streams.newPositions();
    }

    /**
     * Notes a request for {@code length} bytes at {@code offset} of a file of {@code size} bytes, and reads ahead of
     * it.
     *
     * @return whether the request begins where the previous one ended; to be passed to the read
     */
    public synchronized boolean note(long offset, int length, long size) {
        if (closed) {
            // A request that was abandoned.
            return false;
        }
        ReadPosition position = positions.note(offset, length);
        boolean continues = position.continues();
        long end = positions.end(position, size);
        long byCredit = credit.mostAhead(
                positions.areSeveral(position),
                positions.leftBytes(position),
                position.sequentialBytes(),
                position.skippedBytes(length));
        long most = Math.min(byCredit, position.mostAhead());
        if (position.mayStart(offset + length, end) && most >= Lookahead.MIN_AHEAD_BYTES) {
            start(position, offset, end);
        }
        Lookahead lookahead = position.lookahead();
        if (lookahead != null) {
            lookahead.note(position.reached(), end, most);
        }
        return continues;
    }

    private void start(ReadPosition position, long offset, long end) {
        try {
            // A reader that returns to a position finds the parked chunks.
            boolean mayReturn = parked != null && !parked.isEmpty();
            long from = mayReturn ? offset : position.reached();
            position.setLookahead(tryStart(from, end));
            ReadPosition other = position.lookahead() == null ? positions.givesWay(position) : null;
            Lookahead left = other == null ? null : other.lookahead();
            if (other != null && left != null) {
                left.park();
                other.setLookahead(null);
                position.setLookahead(tryStart(from, end));
            }
        } catch (IOException e) {
            log.debug("inode {} can't be read ahead; the reader gets the error when it reads there", inode, e);
        }
    }

    private @Nullable Lookahead tryStart(long from, long end) throws IOException {
        if (positions.lookaheads().size() >= mostPositions) {
            return null;
        }
        if (parked == null || parked.share().hasEnded()) {
            parked = streams.tryJoin(credit);
        }
        return parked == null ? null : streams.start(parked, inode, from, end);
    }

    /**
     * Begins a request for {@code length} bytes at {@code offset} that was noted; to be closed.
     *
     * @return null if nothing is fetched ahead
     */
    @Nullable
    public Request request(long offset, int length) {
        List<Lookahead> all;
        Lookahead own;
        ParkedChunks left;
        synchronized (this) {
            all = positions.lookaheads();
            own = positions.lookahead(offset, length);
            left = parked;
        }
        boolean isNothing = all.isEmpty() && (left == null || left.isEmpty());
        return isNothing ? null : new Request(streams, all, own, left, offset, length);
    }

    /**
     * A request of the reader, which may use chunks that were fetched ahead. Until it is closed, its position is not
     * idle, however long it waits for the disk.
     */
    public static final class Request implements AheadRequest {
        private final ReadStreams streams;
        private final List<Lookahead> all;
        private final @Nullable Lookahead own;
        private final @Nullable ParkedChunks left;
        private final long offset;
        private final int length;

        /**
         * @param all the lookaheads of all positions of the reader
         * @param own the lookahead of the request's position; null if only other positions are read ahead
         * @param left chunks of positions that the reader left
         */
        Request(
                ReadStreams streams,
                List<Lookahead> all,
                @Nullable Lookahead own,
                @Nullable ParkedChunks left,
                long offset,
                int length) {
            this.streams = streams;
            this.all = all;
            this.own = own;
            this.left = left;
            this.offset = offset;
            this.length = length;
            if (own != null) {
                own.enter();
            }
        }

        @Override
        public int length() {
            return length;
        }

        @Override
        public @Nullable Pinned chunk(long chunkId, long at) throws IOException {
            return own == null ? streams.chunk(chunkId) : own.chunk(chunkId, at);
        }

        @Override
        public void took(Set<Long> chunks) {
            all.forEach(lookahead -> lookahead.took(offset, length));
            if (left != null && !left.isEmpty()) {
                streams.took(left, chunks);
            }
        }

        @Override
        public void close() {
            if (own != null) {
                own.leave();
            }
        }
    }

    /** Drops what was fetched for the reader. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        positions.lookaheads().forEach(Lookahead::close);
        positions.forgetAll();
        if (parked != null) {
            streams.close(parked);
        }
    }
}
