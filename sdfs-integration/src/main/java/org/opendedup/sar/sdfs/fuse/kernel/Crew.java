package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many workers wait for requests: one while it keeps up, more when requests have to wait, none of them longer
 * than needed. The others rest.
 *
 * <p>The kernel gives a request to the worker that has waited longest. Where all of eight wait, a program that asks for one
 * thing after the other wakes eight threads in turn, on one processor and the other, and most of the time of a small request
 * is theirs: measured on two busy cores, creating 4 KiB files took 130 µs of the workers' time with eight waiting and 23 µs
 * with one.
 *
 * <p>A worker is called to the ones that wait when request after request was there already; before a request that takes long
 * by its nature; and by a guard when no worker waits and none has come back for a tick, as when one waits for a disk. It goes
 * to rest again after {@value #IDLE_RECEIVES} requests in a row that it had to wait for.
 */
final class Crew {
    /** Requests in a row that did not have to be waited for, of {@value #WEIGHT_BYTES} bytes each: then another is called. */
    private static final int PRESSURE = 32;

    /** Bytes that take as long as a small request. */
    private static final int WEIGHT_BYTES = 32 << 10;

    /** A request that takes longer to come was not there yet: one that was is read in a microsecond or two. */
    private static final long AT_ONCE_NS = 3_000;

    private static final int IDLE_RECEIVES = 4;

    /** How long a worker may be away, with no other waiting, until the guard calls one: about a disk's seek. */
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(4);

    /** Ticks for one that may well be computing, or be kept from its processor by other programs. */
    private static final int PATIENCE_TICKS = 5;

    /** Ticks without a request after which the guard sleeps until one comes. */
    private static final int QUIET_TICKS = 25;

    private enum State {
        RESTING,
        WAITING,
        SERVING
    }

    private final List<Member> members = new ArrayList<>();
    /** The one that rested last comes first: its memory is in the caches. Guarded by this. */
    private final ArrayDeque<Member> resting = new ArrayDeque<>();

    /** Members that do not rest. Guarded by this. */
    private int onDuty;

    private final Thread guard = new Thread(this::watch, "fuse-guard");
    private volatile boolean guardSleeps;
    private volatile boolean ended;

    Crew(int size) {
        for (int i = 0; i < size; i++) {
            members.add(new Member());
        }
        guard.setDaemon(true);
    }

    /** The members, one for each worker. */
    List<Member> members() {
        return members;
    }

    /** How many do not rest. */
    synchronized int onDuty() {
        return onDuty;
    }

    void startGuard() {
        guard.start();
    }

    /** No more requests will come: nobody rests any more, so that every worker sees it for itself. */
    private void end() {
        ended = true;
        while (callAnother()) {
            // Wakes one at a time.
        }
        LockSupport.unpark(guard);
    }

    /** Wakes a resting member, to wait for requests too. @return false if none rests */
    private boolean callAnother() {
        Member called;
        synchronized (this) {
            called = resting.poll();
            if (called == null) {
                return false;
            }
            onDuty++;
            called.state = State.WAITING;
        }
        LockSupport.unpark(called.thread);
        return true;
    }

    private boolean somebodyWaits() {
        for (Member member : members) {
            if (member.state == State.WAITING) {
                return true;
            }
        }
        return false;
    }

    private void watch() {
        int quietTicks = 0;
        int awayTicks = 0;
        long served = served();
        while (!ended) {
            LockSupport.parkNanos(this, TICK_NS);
            long now = served();
            if (now != served) {
                quietTicks = 0;
                awayTicks = 0;
            } else if (!somebodyWaits()) {
                awayTicks++;
                if (awayTicks >= PATIENCE_TICKS || somebodyIsBlocked()) {
                    awayTicks = 0;
                    callAnother();
                }
            } else if (++quietTicks >= QUIET_TICKS) {
                sleepUntilServed(now);
                quietTicks = 0;
            }
            served = now;
        }
    }

    /** Whether a serving worker waits for another thread; where it waits for a disk, the JVM does not know. */
    private boolean somebodyIsBlocked() {
        for (Member member : members) {
            Thread thread = member.thread;
            if (member.state == State.SERVING && thread != null && thread.getState() != Thread.State.RUNNABLE) {
                return true;
            }
        }
        return false;
    }

    private void sleepUntilServed(long served) {
        guardSleeps = true;
        while (!ended && served() == served) {
            LockSupport.park(this);
        }
        guardSleeps = false;
    }

    private long served() {
        long sum = 0;
        for (Member member : members) {
            sum += member.served.get();
        }
        return sum;
    }

    /** One worker's place in the crew; its methods are called by that worker's thread. */
    final class Member {
        /** Written by the member's thread, and by others only where it rests. */
        private volatile State state = State.RESTING;

        private final AtomicLong served = new AtomicLong();
        private volatile @Nullable Thread thread;
        private boolean joined;
        private long beganWaitingNs;
        private int pressure;
        private int idleReceives;

        /**
         * Returns when this worker is to wait for a request; it rests until then.
         *
         * @param servedBytes of the request it served last and its reply
         */
        void awaitTurn(int servedBytes) {
            if (!joined) {
                thread = Thread.currentThread();
                restUnless(false);
                joined = true;
            } else {
                pressure += 1 + servedBytes / WEIGHT_BYTES;
                restUnless(idleReceives < IDLE_RECEIVES);
            }
            beganWaitingNs = System.nanoTime();
        }

        private void restUnless(boolean needed) {
            if (needed || !rest()) {
                state = State.WAITING;
                return;
            }
            while (state == State.RESTING) {
                LockSupport.park(Crew.this);
            }
            idleReceives = 0;
        }

        /** @return false if nobody else waits, or it is all over */
        private boolean rest() {
            synchronized (Crew.this) {
                int others = joined ? onDuty - 1 : onDuty;
                // Others on duty may all be at a request that takes long: then the guard would have to call this one
                // back.
                if (!somebodyWaits() || ended) {
                    onDuty = others + 1;
                    return false;
                }
                onDuty = others;
                state = State.RESTING;
                resting.push(this);
                return true;
            }
        }

        /** A request has come. Calls another worker if requests have to wait. */
        void received() {
            state = State.SERVING;
            // Seen before the guard's flag is looked at: a guard that falls asleep now must see it, or be seen.
            served.set(served.get() + 1);
            if (System.nanoTime() - beganWaitingNs > AT_ONCE_NS) {
                idleReceives++;
                pressure = 0;
            } else {
                idleReceives = 0;
                callForPressure();
            }
            if (guardSleeps) {
                LockSupport.unpark(guard);
            }
        }

        private void callForPressure() {
            if (pressure >= PRESSURE) {
                pressure = 0;
                callAnother();
            }
        }

        /** The request takes long: sees to it that another worker waits meanwhile. */
        void willTakeLong() {
            if (!somebodyWaits()) {
                callAnother();
            }
        }

        /** No more requests will come, to nobody. */
        void allEnd() {
            end();
        }

        /** This worker has ended for good. */
        void leave() {
            boolean last;
            synchronized (Crew.this) {
                state = State.SERVING;
                // The guard must not take one that has ended for one that is blocked.
                thread = null;
                onDuty--;
                last = onDuty == 0;
            }
            if (last && !callAnother()) {
                end();
            }
        }
    }
}
