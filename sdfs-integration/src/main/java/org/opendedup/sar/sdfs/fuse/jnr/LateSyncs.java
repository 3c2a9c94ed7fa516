package org.opendedup.sar.sdfs.fuse.jnr;

import com.kenai.jffi.MemoryIO;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.opendedup.sar.sdfs.fuse.SyncThreads;
import org.opendedup.sar.sdfs.fuse.Turns;
import org.opendedup.sar.sdfs.fuse.jnr.ServingThread.Session;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves fsync and its kin on threads of their own, so that they do not keep the threads that all other requests come to. libfuse 2
 * answers a request when its callback returns, so each takes a thread while it waits for its commit; there are some, and the users
 * get them in turn. A program alone is served where its request came, which is fastest.
 */
final class LateSyncs implements Closeable {
    /** As many share a commit. */
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

    /** @param servingThreads where there is one, it must never wait */
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

    /** Serves a request, here or later. */
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
            LOG.error("an fsync failed; the others go on", e);
        } finally {
            caller.serves(before);
            unanswered.decrementAndGet();
        }
    }

    private void process(RequestView request) {
        long address = MemoryIO.getInstance().getDirectBufferAddress(request.buffer());
        fuse.fuse_session_process(session.session(), address, request.length(), session.channel());
    }

    /** Returns when what was taken is done. No request comes any more. */
    @Override
    public void close() {
        threads.close();
    }
}
