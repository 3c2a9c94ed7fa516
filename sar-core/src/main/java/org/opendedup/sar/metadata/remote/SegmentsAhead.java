package org.opendedup.sar.metadata.remote;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;

/**
 * Reads the segments of a chain one after the other, and the next ones at the same time: each costs a store's time to
 * answer. For one thread.
 */
final class SegmentsAhead implements Closeable {
    /**
     * Segments at the same time: 32 MiB of large ones; of small ones, 200 a second from a store that answers in 20 ms.
     */
    static final int LANES = 8;

    private final Chain chain;
    private final int lanes;
    private final ExecutorService threads;
    private final Deque<Future<Chain.@Nullable Link>> reading = new ArrayDeque<>();
    private Owner owner = Owner.NONE;
    /** Number of the first segment that is being read, or is to be read. */
    private long first;

    /** @param lanes segments that are read at the same time; with 1, the calling thread reads each when it is wanted */
    SegmentsAhead(Chain chain, int lanes) {
        this.chain = chain;
        this.lanes = lanes;
        threads = Executors.newFixedThreadPool(lanes, Threads.named("log-segments"));
    }

    /** As {@link Chain#next}. */
    Chain.@Nullable Link next(ChainPoint point) throws IOException {
        if (lanes == 1) {
            return chain.next(point);
        }
        if (!point.owner().equals(owner) || point.number() + 1 != first) {
            reading.clear();
            owner = point.owner();
            first = point.number() + 1;
        }
        while (reading.size() < lanes) {
            String name = ObjectNaming.segment(owner.lease(), first + reading.size());
            reading.add(threads.submit(() -> chain.find(name)));
        }
        Chain.Link ahead = result(reading.remove());
        first++;
        return chain.next(point, ahead);
    }

    private static Chain.@Nullable Link result(Future<Chain.@Nullable Link> read) throws IOException {
        try {
            return read.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the metadata were opened", e);
        }
    }

    /** Ends the threads when they have read what they read now, which nobody wants. */
    @Override
    public void close() {
        reading.forEach(read -> read.cancel(false));
        threads.shutdown();
    }
}
