package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many workers wait for requests: one while it keeps up, more while requests have to wait, and none longer
 * than needed. The other workers rest.
 *
 * <p>The kernel hands a request to the worker that has waited longest. If all of eight workers wait, a program that
 * sends one request after another wakes eight threads in turn, on different processors, and this costs most of the time
 * of a small request. Measured on two busy cores: creating 4 KiB files took 130 µs of worker time per file with eight
 * waiting workers, and 23 µs with one.
 *
 * <p>A resting worker is called in three cases: after {@value #PRESSURE} requests in a row that were already there when
 * a worker asked; before a request that takes long by its nature; and by a guard thread if no worker waits and no
 * worker has returned for one tick, for example while one waits for a disk. A worker rests again after
 * {@value #IDLE_RECEIVES} requests in a row that it had to wait for.
 */
final class Crew {
    /**
     * Requests in a row without a wait after which another worker is called. {@value #WEIGHT_BYTES} bytes of data count
     * as one more request.
     */
    private static final int PRESSURE = 32;

    /** Data that takes as long as one small request, in bytes. */
    private static final int WEIGHT_BYTES = 32 << 10;

    /**
     * Limit in nanoseconds: a request received within it was already there. Reading such a request takes one or two
     * microseconds.
     */
    private static final long AT_ONCE_NS = 3_000;

    private static final int IDLE_RECEIVES = 4;

    /**
     * Time in nanoseconds that all workers may be away, with none waiting, until the guard calls another one: about one
     * disk seek.
     */
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(4);

    /**
     * Ticks until the guard calls another worker if no worker is blocked: the workers may be computing, or other
     * programs may use their processors.
     */
    private static final int PATIENCE_TICKS = 5;

    /** Ticks without a request after which the guard sleeps until a request arrives. */
    private static final int QUIET_TICKS = 25;

    /** Ticks without a request after which the processors may sleep: 48 ms. */
    private static final int LATENCY_TICKS = 12;

    /**
     * Requests within one tick from which on the processors are kept awake. A single request gains nothing: its
     * processor was woken for it.
     */
    private static final int FLOW = 2;

    /**
     * Requests after one that took long during which two workers stay: of a program that syncs again and again, one
     * would rest and be called back each time.
     */
    private static final int LONG_AGAIN = 16;

    private enum State {
        RESTING,
        WAITING,
        SERVING
    }

    private final List<Member> members = new ArrayList<>();
    /**
     * Resting members. The last one to rest is called first: its memory is still in the processor caches. Guarded by
     * this.
     */
    private final ArrayDeque<Member> resting = new ArrayDeque<>();

    /** Number of members that do not rest. Guarded by this. */
    private int onDuty;

    private final Thread guard = new Thread(this::watch, "fuse-guard");
    /** Number of requests up to the last one that takes long by its nature. */
    private volatile long servedAtLong = -LONG_AGAIN;

    private volatile boolean guardSleeps;
    private volatile boolean ended;
    private final ProcessorLatency latency;

    /** @param latency held while requests flow; closed at the end */
    Crew(int size, ProcessorLatency latency) {
        this.latency = latency;
        for (int i = 0; i < size; i++) {
            members.add(new Member());
        }
        guard.setDaemon(true);
    }

    /** Returns the members, one for each worker. */
    List<Member> members() {
        return members;
    }

    /** Returns the number of members that do not rest. */
    synchronized int onDuty() {
        return onDuty;
    }

    void startGuard() {
        guard.start();
    }

    /** Ends the crew: no more requests will arrive. Wakes all resting workers, so that each one sees the end. */
    private void end() {
        ended = true;
        while (callAnother()) {
            // callAnother() wakes one worker per call.
        }
        LockSupport.unpark(guard);
    }

    /**
     * Wakes a resting member, to wait for requests too.
     *
     * @return false if no member rests
     */
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
        try (ProcessorLatency held = latency) {
            watch(held);
        }
    }

    private void watch(ProcessorLatency held) {
        int quietTicks = 0;
        int awayTicks = 0;
        long served = served();
        while (!ended) {
            LockSupport.parkNanos(this, TICK_NS);
            long now = served();
            if (now != served) {
                quietTicks = 0;
                awayTicks = 0;
                if (now - served >= FLOW) {
                    held.hold();
                }
            } else if (!somebodyWaits()) {
                awayTicks++;
                if (awayTicks >= PATIENCE_TICKS || somebodyIsBlocked()) {
                    awayTicks = 0;
                    callAnother();
                }
            } else if (++quietTicks >= QUIET_TICKS) {
                sleepUntilServed(now);
                quietTicks = 0;
            } else if (quietTicks == LATENCY_TICKS) {
                held.release();
            }
            served = now;
        }
    }

    /**
     * Returns whether a serving worker waits for another thread. Does not see a worker that waits for a disk: the JVM
     * reports it as running.
     */
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

    /** The membership of one worker in the crew. The worker's own thread calls the methods. */
    final class Member {
        /** Written by the member's thread; by other threads only while the member rests. */
        private volatile State state = State.RESTING;

        private final AtomicLong served = new AtomicLong();
        private volatile @Nullable Thread thread;
        private boolean joined;
        private long beganWaitingNs;
        private int pressure;
        private int idleReceives;

        /**
         * Waits until this worker is to receive a request; the worker rests until then.
         *
         * @param servedBytes bytes of the last request that this worker served, and of its reply
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

        /** @return false if no other member waits, or the crew has ended */
        private boolean rest() {
            synchronized (Crew.this) {
                int others = joined ? onDuty - 1 : onDuty;
                // All other members on duty may be serving requests that take long. Then the guard would have to call
                // this one back.
                boolean isOneOfTwo = joined && others == 1 && served() - servedAtLong < LONG_AGAIN;
                if (!somebodyWaits() || isOneOfTwo || ended) {
                    onDuty = others + 1;
                    return false;
                }
                onDuty = others;
                state = State.RESTING;
                resting.push(this);
                return true;
            }
        }

        /** Notes that a request has arrived. Calls another worker if requests have to wait. */
        void received() {
            state = State.SERVING;
            // Written before the guard's flag is read: a guard that falls asleep now either sees this count or is seen
            // asleep below.
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

        /** Notes that the request will take long: ensures that another worker waits meanwhile. */
        void willTakeLong() {
            servedAtLong = served();
            if (!somebodyWaits()) {
                callAnother();
            }
        }

        /** Ends the crew: no more requests will arrive for any worker. */
        void allEnd() {
            end();
        }

        /** Notes that this worker has ended. */
        void leave() {
            boolean last;
            synchronized (Crew.this) {
                state = State.SERVING;
                // The guard must not mistake an ended worker for a blocked one.
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
