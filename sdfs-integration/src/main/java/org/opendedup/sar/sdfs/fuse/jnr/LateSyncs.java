package org.opendedup.sar.sdfs.fuse.jnr;

import com.kenai.jffi.MemoryIO;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.opendedup.sar.sdfs.fuse.SyncThreads;
import org.opendedup.sar.sdfs.fuse.Turns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves fsync and fsyncdir on threads of its own, so that they do not block the threads that receive all requests.
 * libfuse 2 answers a request when its callback returns, so each request needs a thread while it waits for its commit.
 * There are at most {@value #MAX_THREADS} threads, and the users get them in turn. A single program is served on the
 * thread that received its request, which is fastest.
 */
final class LateSyncs implements Closeable {
    /** Maximum number of threads, and so of requests that share a commit. */
    private static final int MAX_THREADS = 16;

    private static final Logger LOG = LoggerFactory.getLogger(LateSyncs.class);

    private final LibFuse2.Functions fuse;
    private final Session session;
    private final Caller caller;
    private final boolean servingThreadsMayWait;
    private final AtomicBoolean servingThreadWaits = new AtomicBoolean();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final Turns<ByteBuffer> turns = new Turns<>();
    private final SyncThreads threads;

    /** @param servingThreads number of threads that receive requests; a single one must never wait */
    LateSyncs(LibFuse2 libFuse, Session session, Caller caller, int servingThreads) {
        this(libFuse.functions(), session, caller, servingThreads > 1, new SyncThreads(MAX_THREADS, "fuse-sync"));
    }

    LateSyncs(
            LibFuse2.Functions fuse,
            Session session,
            Caller caller,
            boolean servingThreadsMayWait,
            SyncThreads threads) {
        this.fuse = fuse;
        this.session = session;
        this.caller = caller;
        this.servingThreadsMayWait = servingThreadsMayWait;
        this.threads = threads;
    }

    /** Serves a request, on this thread or later on another. */
    void serve(RequestView request) {
        if (servingThreadsMayWait && unanswered.get() == 0 && servingThreadWaits.compareAndSet(false, true)) {
            try {
                process(request);
            } finally {
                servingThreadWaits.set(false);
            }
        } else {
            unanswered.incrementAndGet();
            turns.add(request.user(), request.copy());
            threads.execute(this::next);
        }
    }

    private void next() {
        ByteBuffer bytes = turns.poll();
        if (bytes == null) {
            return;
        }
        RequestView before = caller.request();
        try {
            RequestView request = new RequestView(bytes);
            request.begin(bytes.capacity());
            caller.serves(request);
            process(request);
        } catch (RuntimeException | Error e) {
            LOG.error("an fsync failed; other fsyncs continue", e);
        } finally {
            caller.serves(before);
            unanswered.decrementAndGet();
        }
    }

    private void process(RequestView request) {
        long address = MemoryIO.getInstance().getDirectBufferAddress(request.buffer());
        fuse.fuse_session_process(session.session(), address, request.length(), session.channel());
    }

    /** Waits until all accepted requests are done. No request may be added after this call. */
    @Override
    public void close() {
        threads.close();
    }
}
