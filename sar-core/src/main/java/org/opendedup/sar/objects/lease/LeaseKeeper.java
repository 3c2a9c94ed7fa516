package org.opendedup.sar.objects.lease;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.io.UnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a lease by renewing it, and says whether what it protects may be used now. If it cannot be renewed in its time,
 * users wait, because the store may only be away for a while; if another has it, they fail, for ever. Safe for use by
 * many threads.
 */
public final class LeaseKeeper implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

    /** Time for which an answer is waited for before the next renewal is tried beside it. */
    private static final Duration ANSWER = Duration.ofSeconds(2);
    /** Renewals that wait for an answer at the same time. */
    private static final int MOST_WAITING = 4;
    /** Time for which a store that does not answer is asked for the lease. */
    private static final long ASK_NS = Duration.ofSeconds(60).toNanos();

    /** Told once when a lease is lost, or each time when it cannot be used for a time. */
    public interface Listener {
        /** Nothing is served, until the lease is renewed. */
        void expired();

        /** Nothing is served any more. */
        void lost(String why);
    }

    private final Lease lease;
    private final LeaseTerms terms;
    private final ExecutorService asking;
    private final Thread thread;
    private final Semaphore waiting = new Semaphore(MOST_WAITING);
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean closed;
    /** Whether users wait. Guarded by this. */
    private boolean isExpired;
    /**
     * When it was first seen that the lease has expired, since it was valid last; null: it was not. Guarded by this.
     * All users wait for the same end: few threads serve requests, so the last of many would wait for many minutes, one
     * after the other.
     */
    private @Nullable Long expiredSinceNs;
    /** Whether listeners were told that it is lost. Guarded by this. */
    private boolean isLost;

    private LeaseKeeper(Lease lease, LeaseTerms terms, String name) {
        this.lease = lease;
        this.terms = terms;
        asking = Executors.newCachedThreadPool(Threads.named(name + "-lease-ask"));
        thread = new Thread(this::run, name + "-lease");
        thread.setDaemon(true);
        // Whoever has little time to renew must get the processor.
        thread.setPriority(Thread.MAX_PRIORITY);
    }

    /**
     * Gets the lease of a store and keeps it until it is closed. Waits for the end of its term if its owner may be
     * dead.
     *
     * @param owner made at random for this owner
     * @param dead an owner of which it is known that its process has ended; null: of none
     * @param name for threads
     * @param whileWaiting told once who has the lease, if it is waited for
     * @throws LeaseHeldException if its owner is not dead
     */
    public static LeaseKeeper acquire(
            LeaseObject object,
            LeaseTerms terms,
            UUID owner,
            @Nullable UUID dead,
            String name,
            Consumer<LeaseRecord> whileWaiting)
            throws IOException {
        LeaseRequest request = new LeaseRequest(object, terms, LeaseClock.SYSTEM, owner, dead);
        LeaseKeeper keeper = new LeaseKeeper(await(request, terms, whileWaiting), terms, name);
        keeper.thread.start();
        return keeper;
    }

    private static Lease await(LeaseRequest request, LeaseTerms terms, Consumer<LeaseRecord> whileWaiting)
            throws IOException {
        long answered = System.nanoTime();
        boolean isSaid = false;
        while (true) {
            try {
                Lease lease = request.look();
                if (lease != null) {
                    return lease;
                }
                answered = System.nanoTime();
            } catch (UnavailableException e) {
                if (System.nanoTime() - answered > ASK_NS) {
                    throw e;
                }
            }
            LeaseRecord seen = request.seen();
            if (!isSaid && seen != null) {
                whileWaiting.accept(seen);
                isSaid = true;
            }
            pause(terms.retry());
        }
    }

    private static void pause(Duration time) throws InterruptedIOException {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the lease of a volume");
        }
    }

    /** Adds a listener. If the lease was lost before, the listener is called at once. */
    public void listen(Listener listener) {
        boolean wasLost;
        synchronized (this) {
            listeners.add(listener);
            wasLost = isLost;
        }
        if (wasLost) {
            listener.lost(String.valueOf(lease.lost()));
        }
    }

    private void run() {
        Duration pause = terms.period();
        while (!closed && lease.lost() == null) {
            try {
                sleep(pause);
                pause = terms.retry();
                if (!closed) {
                    pause = renew();
                    note();
                }
            } catch (InterruptedException e) {
                log.debug("the lease is not renewed any more", e);
                return;
            } catch (RuntimeException | OutOfMemoryError e) {
                // Also a thread that cannot be made now. Without renewals the mount would be of no use for ever.
                if (!closed) {
                    log.warn("the lease was not renewed; it is tried again", e);
                }
            }
        }
        if (!closed) {
            note();
        }
    }

    /** Sleeps, and looks meanwhile whether the lease has expired. */
    private void sleep(Duration time) throws InterruptedException {
        long left = time.toNanos();
        while (left > 0 && !closed) {
            long some = Math.min(left, terms.retry().toNanos());
            TimeUnit.NANOSECONDS.sleep(some);
            left -= some;
        }
    }

    private Duration renew() throws InterruptedException {
        if (!waiting.tryAcquire(ANSWER.toNanos(), TimeUnit.NANOSECONDS)) {
            return Duration.ZERO;
        }
        Future<Duration> answer = asking.submit(() -> {
            try {
                return lease.renew();
            } finally {
                waiting.release();
            }
        });
        try {
            return answer.get(ANSWER.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            log.debug("a renewal of the lease has no answer yet; the next one is tried beside it", e);
            return Duration.ZERO;
        } catch (ExecutionException e) {
            log.warn("the lease was not renewed; it is tried again", e.getCause());
            return terms.retry();
        }
    }

    private void note() {
        String lost = lease.lost();
        boolean wasExpired;
        boolean wasLost;
        synchronized (this) {
            wasExpired = isExpired;
            wasLost = isLost;
            isExpired = lost == null && !closed && !lease.isValid();
            isLost = lost != null;
            expiredSinceNs = isExpired ? Long.valueOf(expiredSince()) : null;
            notifyAll();
        }
        if (lost != null) {
            if (!wasLost) {
                log.error("{}. Nothing is served here any more", lost);
                listeners.forEach(listener -> listener.lost(lost));
            }
        } else if (isExpired && !wasExpired) {
            log.warn(
                    "the lease could not be renewed for {} s: requests wait until it is: {}",
                    terms.serves().toSeconds(),
                    problem());
            listeners.forEach(Listener::expired);
        } else if (wasExpired && !isExpired) {
            log.info("the lease is renewed: requests go on");
        }
    }

    private String problem() {
        String lost = lease.lost();
        IOException failure = lease.failure();
        return lost != null ? lost : failure == null ? "" : String.valueOf(failure.getMessage());
    }

    /**
     * Returns when what the lease protects may be used.
     *
     * @throws LeaseLostException if another has the lease, or it could not be renewed for a minute after it was seen to
     *     have expired
     */
    public void require() throws IOException {
        if (!lease.isValid()) {
            awaitValid();
        }
    }

    /**
     * Renews the lease now. To be called when what it protects was opened, and before it is used: whoever has taken the
     * lease meanwhile may have opened it earlier.
     *
     * @throws LeaseLostException if another has it
     * @throws UnavailableException if the store does not answer for a minute
     */
    public void confirm() throws IOException {
        long began = System.nanoTime();
        while (true) {
            long tried = System.nanoTime();
            Duration pause = lease.renew();
            String lost = lease.lost();
            if (lost != null) {
                throw new LeaseLostException(lost);
            } else if (lease.isRenewedSince(tried)) {
                return;
            } else if (System.nanoTime() - began > ASK_NS) {
                throw new UnavailableException("the lease of the volume could not be renewed: " + problem());
            }
            pause(pause);
        }
    }

    /** Returns what was noted of what the lease protects: by the owner before, until {@link #note} is called. */
    public String noted() {
        return lease.record().note();
    }

    /**
     * Sets what each renewal, and the release, note for the next owner.
     *
     * @param toNote letters, digits, dots, hyphens and spaces; must not wait
     */
    public void note(Supplier<String> toNote) {
        lease.note(toNote);
    }

    /** Ends what is served, because what the lease protects has another owner. */
    public void lose(String why) {
        lease.lose(why);
        note();
    }

    private void awaitValid() throws IOException {
        synchronized (this) {
            long since = expiredSince();
            expiredSinceNs = since;
            while (!lease.isValid()) {
                String lost = lease.lost();
                if (lost != null) {
                    throw new LeaseLostException(lost);
                }
                long leftNs = terms.patience().toNanos() - (System.nanoTime() - since);
                if (leftNs <= 0 || closed) {
                    throw new LeaseLostException("the lease of the volume could not be renewed in time: " + problem());
                }
                try {
                    TimeUnit.NANOSECONDS.timedWait(
                            this, Math.min(leftNs, terms.retry().toNanos()));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("interrupted while the lease of the volume was renewed");
                }
            }
        }
    }

    private synchronized long expiredSince() {
        return expiredSinceNs == null ? System.nanoTime() : expiredSinceNs;
    }

    /** Returns whether another has the lease. */
    public boolean isLost() {
        return lease.lost() != null;
    }

    public LeaseStatus status() {
        boolean isLost = lease.lost() != null;
        String state = isLost ? "lost" : lease.isValid() ? LeaseStatus.VALID : "expired";
        return new LeaseStatus(lease.record().epoch(), state, TimeUnit.NANOSECONDS.toMillis(lease.ageNs()), problem());
    }

    /** Gives the lease back. If the store does not take that, who wants it waits for the end of its term. */
    @Override
    public void close() throws IOException {
        end();
        lease.release();
    }

    /** Renews the lease no more, and does not give it back. */
    public void end() {
        closed = true;
        thread.interrupt();
        // A renewal that has no answer yet may take as long as the store's time limit.
        asking.shutdownNow();
        synchronized (this) {
            notifyAll();
        }
    }
}
