package org.opendedup.sar.restore.lookahead;

import org.jspecify.annotations.Nullable;

/**
 * One position at which a reader reads its file in sequence. The kernel sends the requests of one sequential reader
 * side by side and slightly out of order, so a sequential request lies near the end of the furthest one. For one thread
 * at a time.
 */
final class ReadPosition {
    /** Bytes read in sequence after which reading ahead starts; smaller readers are not read ahead. */
    private static final long WARM_UP_BYTES = 256 << 10;
    /**
     * Requests of one reader that the kernel has under way at once. A thread that serves one may be delayed while
     * others continue.
     */
    private static final int KERNEL_REQUESTS = 12;
    /** Most bytes between a request and its expected offset, while nothing is read ahead. */
    private static final long SLACK_BYTES = 1 << 20;
    /** Bytes that the reader must advance, after reading ahead has failed, until it is tried again. */
    private static final long RETRY_BYTES = 8 << 20;

    /** Offset at which its first request began. */
    private long start;
    /** Offset at which the furthest sequential request ended. */
    private long reached;
    /** Bytes read in sequence. */
    private long sequentialBytes;
    /** Bytes between requests that have not been requested yet. */
    private long skippedBytes;
    /** Bytes that the reader had requested, at all positions, when this position was last read. */
    private long usedAt;
    /** Bytes read here since another position was last read. */
    private long burstBytes;

    /** Whether the last request began where the previous one ended. */
    private boolean continues;

    private long noStartBefore;
    private @Nullable Lookahead lookahead;

    /** Starts with the first request; a request at the beginning of the file counts as sequential. */
    ReadPosition(long offset, int length, long clock) {
        start = offset;
        reached = offset + length;
        sequentialBytes = offset == 0 ? length : 0;
        use(length, clock);
    }

    /**
     * Returns the distance of a request from the end of the furthest one, in bytes; -1 if it does not belong to this
     * position.
     */
    long distance(long offset, int length) {
        long most = offset <= reached ? slackBytes() : Math.min(slackBytes(), (long) KERNEL_REQUESTS * length);
        long distance = Math.abs(offset - reached);
        return distance <= most ? distance : -1;
    }

    private long slackBytes() {
        if (lookahead != null) {
            return lookahead.slackBytes();
        }
        return isWarm() ? SLACK_BYTES : 0;
    }

    /** Whether a request ends where the only request of this position began: the file is read backward. */
    boolean isBefore(long offset, int length) {
        return offset + length == start && !isWarm();
    }

    /** Whether enough was read in sequence to read ahead. */
    boolean isWarm() {
        return sequentialBytes >= WARM_UP_BYTES;
    }

    /** Notes a request that belongs to this position. */
    void note(long offset, int length, long clock) {
        long from = reached;
        continues = offset == reached;
        reached = Math.max(reached, offset + length);
        sequentialBytes += length;
        skippedBytes = Math.max(0, skippedBytes + (reached - from) - length);
        use(length, clock);
    }

    /** Notes a request directly ahead of the only one of this position, in a file that is read backward. */
    void noteBackward(long offset, int length, long clock) {
        start = offset;
        reached = offset + length;
        sequentialBytes = 0;
        continues = false;
        use(length, clock);
    }

    private void use(int length, long clock) {
        burstBytes = usedAt == clock - length ? burstBytes + length : length;
        usedAt = clock;
    }

    /**
     * Whether this position and another one are now the same. Requests that arrived early began the other one, and this
     * one has reached it; or requests of one belong to the other as well.
     */
    boolean hasReached(ReadPosition other) {
        boolean isNext = other.start >= start && other.start <= reached && other.reached >= reached;
        return isNext && (other.lookahead == null || other.reached - reached <= slackBytes());
    }

    /** Merges another position into this one: its requests belong to this one, and one lookahead serves both. */
    void join(ReadPosition other) {
        // The lookahead of this position ends where the other began: it would continue with bytes that the reader has
        // already read there.
        boolean isFar = other.reached - reached > Math.min(SLACK_BYTES, slackBytes());
        if (lookahead != null && (isFar || other.lookahead != null)) {
            lookahead.park();
            lookahead = null;
        }
        if (other.lookahead != null) {
            lookahead = other.lookahead;
        }
        sequentialBytes += other.reached - reached;
        skippedBytes += other.skippedBytes;
        reached = other.reached;
    }

    /**
     * Returns how far to read ahead by where the reader began, in bytes; {@link Long#MAX_VALUE}: no limit. Whoever
     * begins at the first byte of a file mostly reads all of it. Whoever begins within it often reads a range, which is
     * as likely to end soon as it was to end before: so at most as many bytes are read in vain as were wanted.
     */
    long mostAhead() {
        return start == 0 ? Long.MAX_VALUE : reached - start;
    }

    long start() {
        return start;
    }

    long reached() {
        return reached;
    }

    long sequentialBytes() {
        return sequentialBytes;
    }

    /**
     * Bytes that were skipped, without those that {@link #KERNEL_REQUESTS} requests of {@code length} bytes under way
     * may still read.
     */
    long skippedBytes(int length) {
        return Math.max(0, skippedBytes - (long) KERNEL_REQUESTS * length);
    }

    boolean continues() {
        return continues;
    }

    long usedAt() {
        return usedAt;
    }

    long burstBytes() {
        return burstBytes;
    }

    @Nullable
    Lookahead lookahead() {
        return lookahead;
    }

    void setLookahead(@Nullable Lookahead started) {
        lookahead = started;
    }

    /** Drops the lookahead if it is closed. */
    void forgetClosed() {
        if (lookahead != null && lookahead.isClosed()) {
            // The unreadable part is ahead of the reader: the reader has to pass it first.
            noStartBefore = lookahead.hasFailed() ? reached + RETRY_BYTES : 0;
            lookahead = null;
        }
    }

    /**
     * Whether reading ahead may begin after the request that ends at {@code offset}, of a file, or a part of one, that
     * ends at {@code size}.
     */
    boolean mayStart(long offset, long size) {
        return lookahead == null && isWarm() && offset == reached && reached >= noStartBefore && reached < size;
    }
}
