package org.opendedup.sar.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.lookahead.Lookahead;
import org.opendedup.sar.restore.lookahead.ParkedChunks;
import org.opendedup.sar.restore.lookahead.ReadCredit;
import org.opendedup.sar.restore.lookahead.ReadPosition;
import org.opendedup.sar.restore.lookahead.ReadPositions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One reader of one file. It detects sequential reading and fetches ahead of it ({@link Lookahead}). A reader may read
 * in sequence at several positions in turn, for example two threads, or a virtual machine in its image
 * ({@link ReadPositions}). Small scattered reads are not read ahead. Safe for use by many threads.
 */
public final class ReadStream implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ReadStream.class);

    /** Most positions of one reader that are read ahead at once, if its share of the memory has a part for each. */
    static final int MOST_POSITIONS = 8;

    private final RestoreEngine engine;
    private final long inode;
    private final int mostPositions;
    private final ReadCredit credit = new ReadCredit();

    /** Guarded by this, as are all fields below. */
    private final ReadPositions positions = new ReadPositions();

    private @Nullable ParkedChunks parked;
    private boolean closed;

    /** @param mostPositions most positions that are read ahead at once */
    ReadStream(RestoreEngine engine, long inode, int mostPositions) {
        this.engine = engine;
        this.inode = inode;
        this.mostPositions = mostPositions;
    }

    /**
     * Notes a request for {@code length} bytes at {@code offset} of a file of {@code size} bytes, and reads ahead of
     * it.
     *
     * @return whether the request begins where the previous one ended; to be passed to {@link #read}
     */
    public synchronized boolean note(long offset, int length, long size) {
        ReadPosition position = positions.note(offset, length);
        boolean continues = position.continues();
        long end = positions.end(position, size);
        long most = credit.mostAhead(
                positions.areSeveral(position),
                positions.leftBytes(position),
                position.sequentialBytes(),
                position.skippedBytes(length));
        if (!closed && position.mayStart(offset + length, end) && most >= Lookahead.FIRST_STEP_BYTES) {
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
            boolean comesBack = parked != null && !parked.isEmpty();
            long from = comesBack ? offset : position.reached();
            position.setLookahead(tryStart(from, end));
            ReadPosition other = position.lookahead() == null ? positions.givesWay(position) : null;
            Lookahead left = other == null ? null : other.lookahead();
            if (other != null && left != null) {
                left.park();
                other.setLookahead(null);
                position.setLookahead(tryStart(from, end));
            }
        } catch (IOException e) {
            log.debug("inode {} can't be read ahead; the reader will see why", inode, e);
        }
    }

    private @Nullable Lookahead tryStart(long from, long end) throws IOException {
        if (positions.lookaheads().size() >= mostPositions) {
            return null;
        }
        if (parked == null || parked.share().hasEnded()) {
            parked = engine.streams().tryJoin(credit);
        }
        return parked == null ? null : engine.streams().start(new Lookahead.Reader(parked, credit), inode, from, end);
    }

    /**
     * Reads like {@link RestoreEngine#read}, but uses chunks that were fetched ahead where there are any.
     *
     * @param continues what {@link #note} returned for this request
     */
    public void read(long offset, int length, boolean continues, ByteBuffer target) throws IOException {
        List<Lookahead> all;
        Lookahead own;
        ParkedChunks left;
        synchronized (this) {
            all = positions.lookaheads();
            own = positions.lookahead(offset, length);
            left = parked;
        }
        if (all.isEmpty() && (left == null || left.isEmpty())) {
            engine.read(inode, offset, length, continues, target);
            return;
        }
        if (own != null) {
            own.enter();
        }
        try {
            int start = target.position();
            List<Long> chunks = new ArrayList<>();
            if (engine.readAhead(own, inode, offset, length, target, chunks)) {
                all.forEach(lookahead -> lookahead.took(offset, length));
                if (left != null && !left.isEmpty()) {
                    engine.streams().took(left, chunks);
                }
            } else {
                target.position(start);
                engine.read(inode, offset, length, continues, target);
            }
        } finally {
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
        if (parked != null) {
            engine.streams().close(parked);
        }
    }
}
