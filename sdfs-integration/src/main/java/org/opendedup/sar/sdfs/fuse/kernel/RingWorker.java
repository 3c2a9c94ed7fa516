package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the requests of one entry, one after another, until the file system is unmounted or another thread has taken
 * over the entry. Has an io_uring of its own and runs on the processor of its queue: that of the programs whose
 * requests it serves, so that no other processor has to be woken.
 *
 * <p>Only this thread can answer its request. If the request has to wait for another thread, this thread and the entry
 * wait with it.
 *
 * <p>Large requests that move data profit from another processor than that of their program, which copies the bytes of
 * one request while the next one is served. Therefore the thread serves them unbound. The first one is served by a
 * {@link DataThreads thread} that is free already, because a running thread is not moved at once.
 */
final class RingWorker implements KernelCache, SyncLine, Runnable {
    /** Value of {@code inherited}: the entry is new. */
    static final long NONE = ServedRequest.NONE;

    private static final Logger LOG = LoggerFactory.getLogger(RingWorker.class);

    private final RingService service;
    private final Libc libc;
    private final RingEntry entry;
    private final RingMemory.Cell cell;
    private final long inherited;
    private final Place place;
    private final RingMessage message;
    private final Dispatcher dispatcher;
    private final Invalidation invalidation;
    private final ServedRequest served = new ServedRequest(this::leaveToAnother);
    private final LateReply late = new LateReply();
    private final Dispatch handed = new Dispatch();
    private final CompletableFuture<Boolean> begun = new CompletableFuture<>();

    /** True while this thread runs on the processor of its queue only. */
    private boolean bound = true;

    /** True if the last request was a large one that moved data. */
    private boolean large;

    /** Answer of {@link #answerAfterWriteBack}, if {@link #hasNumber}. */
    private long number;

    private boolean hasNumber;

    /** The queue of a thread, which sees to it that enough entries stay for other requests. */
    interface Place {
        /**
         * Asks to wait while the kernel sends other requests, perhaps to this queue.
         *
         * @return false if no entry would be left for them
         */
        boolean mayWaitForRequests();

        void hasWaitedForRequests();

        /**
         * Starts another thread, which answers the request {@code unique} with EINTR and then has the entry.
         *
         * @return false if it could not be started: nothing has changed
         */
        boolean replace(RingEntry entry, long unique);
    }

    /** @param inherited number of the request in the entry, to be answered with EINTR; {@link #NONE} for a new entry */
    RingWorker(RingService service, RingEntry entry, RingMemory.Cell cell, long inherited, Place place) {
        this.service = service;
        this.libc = service.libc();
        this.entry = entry;
        this.cell = cell;
        this.inherited = inherited;
        this.place = place;
        this.message = new RingMessage(cell.mapping().buffer());
        this.invalidation = new Invalidation(libc);
        this.dispatcher = new Dispatcher(
                service.operations(),
                this,
                service.agreement(),
                served,
                service.interrupts(),
                this,
                service.backings(),
                message.requestBuffer(),
                message.replyBuffer());
    }

    /** Completes when the thread is ready for requests: with false if it cannot serve. */
    CompletableFuture<Boolean> begun() {
        return begun;
    }

    @Override
    public void run() {
        boolean failed = true;
        service.served().add(served);
        try {
            service.processors().bind(entry.queue());
            failed = !serve();
        } catch (IOException | RuntimeException | Error e) {
            LOG.error("serving processor {} over io_uring failed", entry.queue(), e);
        } finally {
            service.served().remove(served);
            service.processors().end();
            // A thread that could not begin has served nothing: others are there instead.
            service.listener().ended(failed && begun.getNow(false));
            begun.complete(false);
        }
    }

    /** @return false if the kernel refused a command although the file system is mounted */
    private boolean serve() throws IOException {
        try (IoRing ring = IoRing.open(libc)) {
            cell.awaitsRequestsOn(ring.descriptor());
            int result = begin(ring);
            while (result >= 0) {
                if (!serveRequest(ring)) {
                    service.memory().giveBack(cell);
                    return true;
                }
                result = answer(ring);
            }
            return hasEnded(result);
        } finally {
            cell.awaitsRequestsOn(RingMemory.NO_RING);
        }
    }

    /** Makes the entry the kernel's and waits for the first request. */
    private int begin(IoRing ring) throws IOException {
        if (inherited == NONE) {
            int vectors = message.putVectors(entry.mapping().address());
            RingCommand.register(
                    ring.command(),
                    service.device(),
                    entry.queue(),
                    cell.mapping().address() + vectors);
        } else {
            message.putReply(inherited, Errno.EINTR);
            service.memory().move(entry.mapping(), cell);
            RingCommand.commit(ring.command(), service.device(), entry.queue(), inherited);
        }
        int result = ring.submit();
        if (result < 0 && !hasEnded(result)) {
            LOG.warn(
                    "the kernel refused an entry for processor {}: {}",
                    entry.queue(),
                    libc.functions().strerror(-result));
            return -Errno.ENOTCONN;
        }
        begun.complete(result >= 0);
        return result == IoRing.PENDING ? await(ring, ring.await()) : result;
    }

    /** Sends the reply and waits for the next request. */
    private int answer(IoRing ring) throws IOException {
        boolean binds = !bound && !large;
        boolean shrinks = cell.isUsedBeyondSmall() && !service.memory().mayStayLarge(cell);
        if (!binds && !shrinks) {
            return await(ring, ring.submitAndAwait());
        }
        int result = ring.submit();
        if (binds) {
            service.processors().bind(entry.queue());
            bound = true;
        }
        if (result == IoRing.PENDING && shrinks) {
            // The kernel has taken the reply, and puts no request into the cell before this thread waits for it.
            service.memory().shrink(cell);
        }
        return result == IoRing.PENDING ? await(ring, ring.await()) : result;
    }

    /** Waits for the next request if this thread was only woken to give back memory. */
    private int await(IoRing ring, int first) throws IOException {
        int result = first;
        while (result == IoRing.WOKEN) {
            if (cell.isIdle()) {
                service.memory().shrink(cell);
            }
            result = ring.await();
        }
        return result;
    }

    private static boolean hasEnded(int result) {
        return result == -Errno.ENOTCONN || result == -Errno.ECONNABORTED || result == -Errno.ENODEV;
    }

    /**
     * Serves the request in the entry and prepares the command that answers it.
     *
     * @return false if another thread has answered it and now has the entry
     */
    private boolean serveRequest(IoRing ring) {
        long unique = message.unique();
        int start = message.arrange();
        boolean moves = start != RingMessage.MALFORMED && message.movesData();
        if (moves && !enter(unique)) {
            return false;
        }
        large = moves && message.isLarge();
        int length = dispatch(start, moves);
        cell.used(Math.max(message.payloadBytes(), length));
        if (!served.end()) {
            if (length != Dispatcher.NO_REPLY) {
                dispatcher.takeBack();
            }
            return false;
        }
        if (length != Dispatcher.NO_REPLY) {
            message.putReply(length);
        } else {
            putLateReply(unique);
        }
        RingCommand.commit(ring.command(), service.device(), entry.queue(), unique);
        return true;
    }

    /**
     * Waits until this request may move data.
     *
     * @return false if another thread has answered it meanwhile and now has the entry
     */
    private boolean enter(long unique) {
        if (service.data().tryEnter()) {
            return true;
        }
        if (message.isRead()) {
            served.begin(unique, message.pid());
        }
        service.data().enter();
        boolean mine = served.end();
        if (!mine) {
            service.data().leave();
        }
        return mine;
    }

    private int dispatch(int start, boolean entered) {
        if (start == RingMessage.MALFORMED) {
            return Dispatcher.NO_REPLY;
        }
        if (!entered) {
            return dispatcher.dispatch(start, message.length());
        }
        try {
            if (!large || !bound) {
                return dispatcher.dispatch(start, message.length());
            }
            // Woken again at the end, this thread runs where a processor is free.
            service.processors().unbind();
            bound = false;
            handed.start = start;
            service.data().serve(handed);
            return handed.length;
        } finally {
            service.data().leave();
        }
    }

    /** The request while a data thread serves it. */
    private final class Dispatch extends DataThreads.Handed {
        private int start;
        private int length;

        @Override
        void serve() {
            length = dispatcher.dispatch(start, message.length());
        }
    }

    private void putLateReply(long unique) {
        if (late.isExpected()) {
            message.putReply(unique, late.await());
        } else if (hasNumber) {
            hasNumber = false;
            if (number < 0 || number == LateAnswer.DONE) {
                message.putReply(unique, (int) -Math.min(0, number));
            } else {
                message.putNumber(unique, number);
            }
        } else {
            LOG.error("a request of processor {} is malformed", entry.queue());
            message.putReply(unique, Errno.EIO);
        }
    }

    private boolean leaveToAnother(long unique) {
        return place.replace(entry, unique);
    }

    @Override
    public boolean takes(Asked asked, Sync sync) {
        late.expect();
        boolean taken = service.syncs().takes(late, asked, sync);
        if (!taken) {
            late.expectNone();
        }
        return taken;
    }

    @Override
    public void serve(Sync sync) throws IOException {
        service.syncs().serve(sync);
    }

    @Override
    public void invalidate(long inode) {
        send(inode, Invalidation.NO_PAGES);
    }

    /**
     * Waits itself until the kernel has sent the bytes. If no thread is left to receive them, the answer is ENOSYS: the
     * kernel then takes every byte of this mount's files for data, which is always permitted.
     */
    @Override
    public void answerAfterWriteBack(Asker asker, long inode, long from, LateAnswer answer) {
        hasNumber = true;
        if (!place.mayWaitForRequests()) {
            number = -Errno.ENOSYS;
            return;
        }
        try {
            send(inode, from);
        } finally {
            place.hasWaitedForRequests();
        }
        number = answer.get();
    }

    /** Computes the answer itself: another thread could not give the entry free earlier. */
    @Override
    public void answerInTurn(Asker asker, LateAnswer answer) {
        hasNumber = true;
        number = answer.get();
    }

    private void send(long inode, long from) {
        if (!invalidation.send(service.device(), inode, from)) {
            LOG.warn(
                    "the kernel keeps what it has of inode {}: {}",
                    inode,
                    libc.functions().strerror(libc.errno()));
        }
    }
}
