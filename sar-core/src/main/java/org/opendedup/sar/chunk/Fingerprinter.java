package org.opendedup.sar.chunk;

import java.security.DigestException;
import java.security.MessageDigest;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Sha256;

/**
 * Computes the SHA-256 fingerprints of chunks. The work on a segment is shared between the calling thread and helpers
 * of an executor. If no helper is free, the calling thread does all of it: a full executor makes it slower and never
 * stops it. Safe for use by many threads, each with its own segment.
 */
public final class Fingerprinter {
    /**
     * Size of the range that a thread hashes at a time, in bytes: 0.13 ms of hashing, much more than the 5 µs of a
     * hand-over.
     */
    private static final int RANGE_BYTES = 256 << 10;

    /** Maximum number of digests kept for the next segment: more than the cores that could use them at once. */
    private static final int POOLED_DIGESTS = 64;

    private final Executor executor;
    private final int helpers;
    private final BlockingQueue<MessageDigest> digests = new ArrayBlockingQueue<>(POOLED_DIGESTS);

    /**
     * @param executor runs the helpers
     * @param helpers maximum number of threads that work on a segment in addition to the calling one; 0 for none
     */
    public Fingerprinter(Executor executor, int helpers) {
        if (helpers < 0) {
            throw new IllegalArgumentException("helpers must be 0 or more, not " + helpers);
        }
        this.executor = executor;
        this.helpers = helpers;
    }

    /** Fills {@link Segment#fingerprints()} for every chunk of the segment that is not a zero run. */
    public void fingerprint(Segment segment) {
        fingerprint(segment, helpers);
    }

    /** As {@link #fingerprint(Segment)}, in the calling thread alone. */
    public void fingerprintAlone(Segment segment) {
        fingerprint(segment, 0);
    }

    private void fingerprint(Segment segment, int mostHelpers) {
        Work work = new Work(segment);
        int invited = Math.min(mostHelpers, work.ranges - 1);
        try {
            for (int i = 0; i < invited; i++) {
                executor.execute(work);
            }
        } catch (RejectedExecutionException e) {
            // The executor accepts no helper, or no more of them. The calling thread hashes the rest.
        }
        work.run();
        work.await();
    }

    private MessageDigest borrowDigest() {
        MessageDigest pooled = digests.poll();
        return pooled != null ? pooled : Sha256.newDigest();
    }

    /** The hashing of one segment: equal ranges of its chunks, which threads process one after the other. */
    private final class Work implements Runnable {
        private final Segment segment;
        private final int ranges;
        private final AtomicInteger next = new AtomicInteger();
        private final CountDownLatch unfinished;
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        Work(Segment segment) {
            this.segment = segment;
            ranges = rangesOf(segment);
            unfinished = new CountDownLatch(ranges);
        }

        @Override
        public void run() {
            for (int range = next.getAndIncrement(); range < ranges; range = next.getAndIncrement()) {
                try {
                    hash(boundary(range), boundary(range + 1));
                } catch (DigestException | RuntimeException | Error e) {
                    failure.compareAndSet(null, e);
                } finally {
                    unfinished.countDown();
                }
            }
        }

        private int boundary(int range) {
            return (int) ((long) segment.count() * range / ranges);
        }

        private void hash(int fromChunk, int toChunk) throws DigestException {
            MessageDigest digest = borrowDigest();
            for (int i = fromChunk; i < toChunk; i++) {
                if (!segment.isZero(i)) {
                    digest.update(segment.data(), segment.offset(i), segment.length(i));
                    digest.digest(segment.fingerprints(), Segment.fingerprintOffset(i), Fingerprints.BYTES);
                }
            }
            digests.offer(digest);
        }

        /**
         * Waits for the ranges that helpers have started. Helpers are working on them, so the wait is short and not
         * interruptible.
         */
        void await() {
            boolean interrupted = false;
            while (true) {
                try {
                    unfinished.await();
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            Throwable failed = failure.get();
            if (failed != null) {
                throw new IllegalStateException("a chunk could not be fingerprinted", failed);
            }
        }
    }

    private static int rangesOf(Segment segment) {
        long bytes = 0;
        for (int i = 0; i < segment.count(); i++) {
            bytes += segment.isZero(i) ? 0 : segment.length(i);
        }
        return (int) Math.max(1, Math.min(segment.count(), bytes / RANGE_BYTES));
    }
}
