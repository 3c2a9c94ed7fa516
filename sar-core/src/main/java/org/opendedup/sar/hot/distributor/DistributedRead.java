package org.opendedup.sar.hot.distributor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.hot.copies.CopyCheck;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.CopyStore;
import org.opendedup.sar.ssd.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running read of one request's chunks from the SSD. The reading threads fill requests of their own; only
 * {@link #await}, in the request's thread, copies their results. So nothing that an SSD does too late affects a reader.
 */
final class DistributedRead implements SsdRead {
    private static final Logger log = LoggerFactory.getLogger(DistributedRead.class);
    /**
     * Chunks per part. A FUSE request of 128 KiB needs 16 chunks of 8 KiB: one part. Several threads read larger
     * requests at once.
     */
    private static final int PART_CHUNKS = 32;
    /** Limit of parts per read, so that any read leaves room for other reads' parts in the queue. */
    private static final int MOST_PARTS = 16;
    /**
     * Lower bound of the wait, in nanoseconds. A loaded machine may stop a thread for this time; no healthy SSD needs
     * it.
     */
    private static final long LEAST_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    /** Upper bound of the wait for an SSD, in nanoseconds, whatever the size of the read. */
    private static final long MOST_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** Wait for the SSD, as a multiple of the time that the disk would need. */
    private static final int PATIENCE_FACTOR = 4;

    /** Receives the outcome of a read: first of each part, then once of the whole. */
    interface Outcome {
        /** Notes a part that finished in time; {@code chunks} of it were good. */
        void onPartInTime(int chunks, long bytes, long nanos);

        void onPartLate(int chunks, long nanos);

        /**
         * Notes that the reader has its answer.
         *
         * @param startNanos when the read was started
         * @param late whether the reader abandoned a part
         */
        void onAnswered(long startNanos, boolean late);
    }

    private final ChunkRequest request;
    private final CopyStore store;
    private final ThreadPoolExecutor readers;
    private final Supplier<CopyCheck> checks;
    private final Outcome outcome;
    private final long startNanos = System.nanoTime();
    private final List<Part> parts = new ArrayList<>();
    private int chunks;
    private boolean late;

    /** Takes the chunks of a request whose source is SSD. */
    DistributedRead(
            ChunkRequest request,
            CopyStore store,
            ThreadPoolExecutor readers,
            Supplier<CopyCheck> checks,
            Outcome outcome) {
        this.request = request;
        this.store = store;
        this.readers = readers;
        this.checks = checks;
        this.outcome = outcome;
        int copies = 0;
        for (int i = 0; i < request.count(); i++) {
            copies += request.source(i) == Source.SSD ? 1 : 0;
        }
        int partChunks = Math.max(PART_CHUNKS, (copies + MOST_PARTS - 1) / MOST_PARTS);
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.SSD) {
                if (chunks % partChunks == 0) {
                    parts.add(new Part(Math.min(partChunks, copies - chunks)));
                }
                parts.get(parts.size() - 1).add(i);
                chunks++;
            }
        }
    }

    /**
     * Starts the read.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the threads have too much to do; then {@link #abandon}
     *     it
     */
    void start() {
        for (Part part : parts) {
            readers.execute(part.task);
        }
    }

    /** Abandons the read: all chunks must be read from home. */
    void abandon() {
        parts.forEach(Part::giveUp);
    }

    static void sendHome(ChunkRequest request) {
        for (int i = 0; i < request.count(); i++) {
            if (request.source(i) == Source.SSD) {
                request.setSource(i, Source.HOME);
            }
        }
    }

    @Override
    public boolean await() {
        long deadline = startNanos + patienceNanos(chunks);
        boolean complete = true;
        for (Part part : parts) {
            complete &= part.await(deadline);
        }
        if (!Thread.currentThread().isInterrupted()) {
            outcome.onAnswered(startNanos, late);
        }
        return complete;
    }

    /**
     * Returns how long, in nanoseconds, a read of this many chunks is waited for: a few times what a disk would need if
     * it had to seek for each of them.
     */
    static long patienceNanos(int chunks) {
        long disk = TimeUnit.MICROSECONDS.toNanos((long) chunks * DiskCost.SEEK_MICROS);
        return Math.max(LEAST_PATIENCE_NANOS, Math.min(MOST_PATIENCE_NANOS, PATIENCE_FACTOR * disk));
    }

    /** A part of the chunks, read by one thread. */
    private final class Part {
        /** Filled by the reading thread; read by the request's thread after the task is done. */
        private final ChunkRequest copy = new ChunkRequest();

        private final FutureTask<Long> task = new FutureTask<>(this::read);
        /** Indexes of these chunks in the request. */
        private final int[] places;

        Part(int size) {
            places = new int[size];
        }

        void add(int i) {
            places[copy.count()] = i;
            copy.add(request.chunkId(i), request.length(i), request.fingerprintPrefix(i), request.frame(i));
            copy.setSource(copy.count() - 1, Source.SSD);
        }

        /** Reads the part, in a reading thread; returns the time when it was done, in nanoseconds. */
        private long read() {
            int[] wanted = new int[copy.count()];
            for (int i = 0; i < wanted.length; i++) {
                wanted[i] = copy.length(i);
            }
            store.read(copy);
            CopyCheck check = checks.get();
            for (int i = 0; i < wanted.length; i++) {
                if (copy.source(i) == Source.SSD && !isGood(i, wanted[i], check)) {
                    store.dropDamaged(copy.chunkId(i));
                    copy.setSource(i, Source.HOME);
                }
            }
            return System.nanoTime();
        }

        /**
         * Returns whether the bytes are those that the recipe refers to: data from an SSD are never trusted unchecked.
         */
        private boolean isGood(int i, int wantedBytes, CopyCheck check) {
            byte[] data = copy.data(i);
            return data != null
                    && copy.length(i) >= wantedBytes
                    && check.isRight(data, copy.offset(i), copy.length(i), copy.fingerprintPrefix(i));
        }

        boolean await(long deadline) {
            try {
                long doneNanos = task.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
                return takeOver(doneNanos - startNanos);
            } catch (TimeoutException e) {
                noteLate();
            } catch (ExecutionException e) {
                log.warn("reading {} chunks from the SSD failed; they are read from home", copy.count(), e.getCause());
                noteLate();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            giveUp();
            return false;
        }

        private void noteLate() {
            late = true;
            outcome.onPartLate(copy.count(), System.nanoTime() - startNanos);
        }

        void giveUp() {
            task.cancel(false);
            readers.remove(task);
            for (int i = 0; i < copy.count(); i++) {
                request.setSource(places[i], Source.HOME);
            }
        }

        /** Copies the chunks found to the request; returns whether all were found. */
        private boolean takeOver(long nanos) {
            int good = 0;
            long bytes = 0;
            for (int i = 0; i < copy.count(); i++) {
                byte[] data = copy.data(i);
                if (copy.source(i) == Source.SSD && data != null) {
                    request.setData(places[i], data, copy.offset(i), copy.length(i));
                    good++;
                    bytes += copy.length(i);
                } else {
                    request.setSource(places[i], Source.HOME);
                }
            }
            outcome.onPartInTime(good, bytes, nanos);
            return good == copy.count();
        }
    }
}
