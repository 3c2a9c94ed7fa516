package org.opendedup.sar.restore.lookahead;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.recipes.StreamLogs;
import org.opendedup.sar.metadata.record.RecipePage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reader that follows the log of a stream, and is read ahead along it. Its place is found by the chunk that it reads,
 * in the pages around its last place: so reads may come out of order, and leave some out. Safe for use by many threads.
 */
final class LogFollower {
    private static final Logger log = LoggerFactory.getLogger(LogFollower.class);

    /** Reads of the log before anything is read ahead. */
    private static final int LEAST_READS = 8;

    /**
     * Bytes that it must have read by then. For any read, SDFS reads a page of 256 KiB: that alone is a single read.
     */
    private static final long LEAST_BYTES = 384 << 10;

    /**
     * Divisor of the range between the first and the last read: a reader must have read that part of it. Single reads
     * have not.
     */
    private static final int LEAST_PART = 4;

    /**
     * Pages of 4 MiB that are known before the one that a reader has reached, and from it on. SDFS writes eight pages
     * of 256 KiB at the same time, and reads one after another, each by several threads: chunks that one of these has
     * are up to 4 MiB apart in the log.
     */
    private static final int PASSED_PAGES = 1;

    private static final int NEXT_PAGES = 2;

    /** Pages around a reader in which a chunk is a stray one, written late, and not that of another reader. */
    private static final int STRAY_PAGES = 16;

    /** Most references that are known around a reader, however small their chunks are. */
    private static final int MAX_REFERENCES = 4096;

    /** Bytes that a reader must advance after a failure, until it is read ahead again. */
    private static final long RETRY_BYTES = 8 << 20;

    private final ReadStreams streams;
    private final StreamLogs logs;
    private final long number;
    private final ReadCredit credit = new ReadCredit();

    private volatile Surroundings around = Surroundings.NONE;
    /** Guarded by this, as are all fields below. */
    private long lowest = Long.MAX_VALUE;

    private long reached;
    private long reads;
    private long readBytes;
    private long noStartBefore;
    /** Read without the monitor. */
    private volatile boolean isClosed;

    private @Nullable ParkedChunks parked;
    private @Nullable Lookahead lookahead;
    /** Number of reads of all readers when this was used last. */
    private volatile long usedAt;

    /**
     * Pages of the log and the offsets of their chunks in it. Not changed after it was made.
     *
     * @param first number of the first page
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Surroundings(long first, RecipePage[] pages, LongLongHashMap offsets) {
        static final Surroundings NONE = new Surroundings(0, new RecipePage[0], new LongLongHashMap());

        RecipePage page(long number) {
            boolean isKnown = number >= first && number < first + pages.length;
            return isKnown ? pages[(int) (number - first)] : RecipePage.EMPTY;
        }
    }

    /** @param page where the reader is, about */
    LogFollower(ReadStreams streams, StreamLogs logs, long number, long page) throws IOException {
        this.streams = streams;
        this.logs = logs;
        this.number = number;
        look(Math.max(0, page - PASSED_PAGES), page + NEXT_PAGES);
    }

    /** Looks at the pages {@code first} (inclusive) to {@code end} (exclusive) of the log. */
    private void look(long first, long end) throws IOException {
        Surroundings before = around;
        RecipePage[] pages = new RecipePage[(int) (end - first)];
        LongLongHashMap offsets = new LongLongHashMap();
        for (int i = 0; i < pages.length; i++) {
            RecipePage known = before.page(first + i);
            pages[i] = known.count() > 0 ? known : logs.written(number, first + i);
            long start = (first + i) * logs.pageBytes();
            for (int entry = 0; entry < pages[i].count() && offsets.size() < MAX_REFERENCES; entry++) {
                // Of a chunk that a page cuts, the offset of the first part.
                if (!pages[i].isZero(entry) && !offsets.containsKey(pages[i].chunkId(entry))) {
                    offsets.put(pages[i].chunkId(entry), start + pages[i].start(entry) - pages[i].chunkOffset(entry));
                }
            }
        }
        around = new Surroundings(first, pages, offsets);
    }

    /** Whether a page of a log is where this reader may be: some of its reads may be that far from the others. */
    boolean isAt(long log, long page) {
        return log == number && Math.abs(page - around.first) <= STRAY_PAGES;
    }

    /** Whether the reader is near another one, in the same log. */
    boolean isAt(LogFollower other) {
        return isAt(other.number, other.around.first);
    }

    /** Returns the offset of a chunk in the log, if it is near the reader; otherwise -1. */
    long offsetOf(long chunk) {
        return around.offsets.getOrDefault(chunk, -1);
    }

    long usedAt() {
        return usedAt;
    }

    /**
     * Notes that the reader reads a chunk at an offset of the log, and reads ahead of it.
     *
     * @param clock number of reads of all readers
     * @return what is read ahead for it; null if nothing is
     */
    synchronized @Nullable Lookahead note(long offset, int length, long clock) {
        usedAt = clock;
        reads++;
        readBytes += length;
        lowest = Math.min(lowest, offset);
        reached = Math.max(reached, offset + length);
        forgetClosed();
        try {
            lookAround();
            if (lookahead == null && !isClosed && isReader() && reached >= noStartBefore) {
                lookahead = start();
            }
        } catch (IOException e) {
            log.debug("the log of a stream cannot be followed", e);
            noStartBefore = reached + RETRY_BYTES;
        }
        if (lookahead != null) {
            lookahead.note(reached, Lookahead.UNBOUNDED, mostAhead());
        }
        return lookahead;
    }

    /** Follows the reader with the pages that are known. */
    private void lookAround() throws IOException {
        long page = reached / logs.pageBytes();
        if (page + NEXT_PAGES > around.first + around.pages.length) {
            look(Math.max(0, page - PASSED_PAGES), page + NEXT_PAGES);
        }
    }

    /** A log may be followed only in part, by a reader of an older version of its file: then it is read ahead less. */
    private long mostAhead() {
        return credit.mostAhead(false, 0, reached - lowest, 0);
    }

    private boolean isReader() {
        return reads >= LEAST_READS && readBytes >= Math.max(LEAST_BYTES, (reached - lowest) / LEAST_PART);
    }

    private void forgetClosed() {
        if (lookahead != null && lookahead.isClosed()) {
            noStartBefore = lookahead.hasFailed() ? reached + RETRY_BYTES : 0;
            lookahead = null;
        }
    }

    private @Nullable Lookahead start() throws IOException {
        if (mostAhead() < Lookahead.MIN_AHEAD_BYTES) {
            return null;
        }
        if (parked == null || parked.share().hasEnded()) {
            parked = streams.tryJoin(credit);
        }
        // Other threads of the reader may be behind.
        long from = Math.max(lowest, reached - (long) PASSED_PAGES * logs.pageBytes());
        return parked == null ? null : streams.start(parked, number, from, Lookahead.UNBOUNDED);
    }

    synchronized boolean isReadAhead() {
        forgetClosed();
        return lookahead != null;
    }

    /** Whether there was no memory to read ahead of the reader. */
    synchronized boolean lacksMemory() {
        return lookahead == null && isReader() && parked == null && !isClosed;
    }

    /** Drops what was read ahead; reading ahead begins anew when the reader goes on. */
    synchronized void pause() {
        if (lookahead != null) {
            lookahead.close();
            lookahead = null;
        }
    }

    boolean isClosed() {
        return isClosed;
    }

    /** Drops what was read ahead. Idempotent. */
    synchronized void close() {
        isClosed = true;
        pause();
        if (parked != null) {
            streams.close(parked);
        }
    }
}
