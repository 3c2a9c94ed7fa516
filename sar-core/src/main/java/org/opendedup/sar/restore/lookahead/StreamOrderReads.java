package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.recipes.StreamLogs;
import org.opendedup.sar.metadata.record.StreamPlace;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead for a client that names chunks one by one and no file, along the logs of the streams that wrote them: a
 * log has the new and the old chunks of a stream, wherever they lie. A reader is taken for one of the stream that put
 * its chunks last, and found by a chunk with a hook ({@link StreamLogs}). From then on it is read ahead as the reader
 * of a file is. Single reads read nothing ahead. Safe for use by many threads.
 */
public final class StreamOrderReads {
    private static final Logger log = LoggerFactory.getLogger(StreamOrderReads.class);

    /** Readers that are remembered. */
    private static final int MAX_FOLLOWERS = 32;

    /**
     * Reads within which a reader that was used is taken to read on. A chunk that lies far from it in its log, but not
     * very far, is then its own: it was written late, and is read without reading ahead.
     */
    private static final int USED_READS = 64;

    /** Reads of others after which a reader gives its memory to one that has none. */
    private static final int LEFT_READS = 512;

    private final ReadStreams streams;
    private final StreamLogs logs;
    /** The one used last comes first, about. Replaced as a whole, with the monitor of this. */
    private volatile List<LogFollower> followers = List.of();

    private final AtomicLong clock = new AtomicLong();
    private final LongAdder chunksAhead = new LongAdder();

    public StreamOrderReads(ReadStreams streams, StreamLogs logs) {
        this.streams = streams;
        this.logs = logs;
    }

    /** Number of chunks that were there when a reader wanted them, or were on the way. */
    public long chunksAhead() {
        return chunksAhead.sum();
    }

    /** A read of a chunk by a reader that is read ahead. */
    public final class Read {
        private final Lookahead lookahead;
        private final long chunk;
        private final long offset;

        private Read(Lookahead lookahead, long chunk, long offset) {
            this.lookahead = lookahead;
            this.chunk = chunk;
            this.offset = offset;
        }

        /**
         * Returns a copy of the chunk's bytes; waits while they are being fetched. Null if they were not fetched, or
         * are those of a chunk with another fingerprint.
         *
         * @param fingerprintPrefix first four bytes of its fingerprint
         */
        public byte @Nullable [] bytes(int fingerprintPrefix) throws IOException {
            lookahead.enter();
            try (Pinned fetched = lookahead.chunk(chunk, offset)) {
                if (fetched == null || fetched.fingerprintPrefix() != fingerprintPrefix) {
                    return null;
                }
                byte[] bytes = new byte[fetched.length()];
                System.arraycopy(fetched.data(), fetched.offset(), bytes, 0, bytes.length);
                lookahead.took(offset, bytes.length);
                chunksAhead.increment();
                return bytes;
            } finally {
                lookahead.leave();
            }
        }
    }

    /**
     * Notes that a chunk is read, and reads ahead of its reader.
     *
     * @param length bytes of the chunk
     * @return the read; null if its reader is not read ahead
     */
    public @Nullable Read note(long chunk, int length) {
        long now = clock.incrementAndGet();
        List<LogFollower> all = followers;
        for (int i = 0; i < all.size(); i++) {
            LogFollower follower = all.get(i);
            long offset = follower.offsetOf(chunk);
            if (offset >= 0) {
                if (i > 0) {
                    if (isStray(follower, all, now)) {
                        drop(follower);
                        return null;
                    }
                    moveToFront(follower);
                }
                return read(follower, chunk, offset, length, now);
            }
        }
        LogFollower found = StreamLogs.mayHaveHook(chunk) ? find(chunk, now) : null;
        if (found == null) {
            return null;
        }
        moveToFront(found);
        return read(found, chunk, found.offsetOf(chunk), length, now);
    }

    private @Nullable Read read(LogFollower follower, long chunk, long offset, int length, long now) {
        Lookahead lookahead = follower.note(offset, length, now);
        if (lookahead == null && follower.lacksMemory()) {
            makeRoom(now);
        }
        return lookahead == null ? null : new Read(lookahead, chunk, offset);
    }

    /** Returns a new reader that reads a chunk now; null if no log is known to have it. */
    private @Nullable LogFollower find(long chunk, long now) {
        try {
            StreamPlace place = logs.find(chunk);
            if (place == null) {
                return null;
            }
            for (LogFollower follower : followers) {
                if (follower.isAt(place.log(), place.page()) && now - follower.usedAt() <= USED_READS) {
                    return null;
                }
            }
            LogFollower found = new LogFollower(streams, logs, place.log(), place.page());
            return found.offsetOf(chunk) < 0 ? null : found;
        } catch (IOException e) {
            log.debug("the log of a stream cannot be found", e);
            return null;
        }
    }

    /** Whether a reader was left, and another one that is in use has come to its place. */
    private static boolean isStray(LogFollower left, List<LogFollower> all, long now) {
        for (LogFollower other : all) {
            if (other != left && other.isAt(left) && now - other.usedAt() <= USED_READS) {
                return now - left.usedAt() > USED_READS;
            }
        }
        return false;
    }

    private synchronized void drop(LogFollower left) {
        List<LogFollower> all = new ArrayList<>(followers);
        all.remove(left);
        left.close();
        followers = List.copyOf(all);
    }

    private synchronized void moveToFront(LogFollower follower) {
        if (follower.isClosed()) {
            // Another thread dropped it since: it would be found for each chunk, and read nothing ahead.
            return;
        }
        List<LogFollower> all = new ArrayList<>(followers);
        all.remove(follower);
        all.add(0, follower);
        if (all.size() > MAX_FOLLOWERS) {
            all.remove(all.size() - 1).close();
        }
        followers = List.copyOf(all);
    }

    /** Takes the memory of the reader that was left longest ago, if one was left. */
    private void makeRoom(long now) {
        LogFollower left = null;
        for (LogFollower follower : followers) {
            boolean isLeft = now - follower.usedAt() > LEFT_READS && follower.isReadAhead();
            left = isLeft && (left == null || follower.usedAt() < left.usedAt()) ? follower : left;
        }
        if (left != null) {
            left.pause();
        }
    }
}
