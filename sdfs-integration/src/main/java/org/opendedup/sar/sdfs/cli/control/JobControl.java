package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's side of long commands. One job of a kind runs at a time; a command starts it, queries it and stops it. A
 * job is stopped when its command has ended, which the connection shows, and no other client queries it. A suspended
 * command has not ended. The result of the last job can be queried until the next one starts.
 */
public final class JobControl implements Closeable {
    public static final String START = "start";
    public static final String STATUS = "status";
    public static final String STOP = "stop";

    private static final Logger LOG = LoggerFactory.getLogger(JobControl.class);
    private static final Duration FORGOTTEN = Duration.ofSeconds(30);
    /** Time limit for stopping a job; longer than a job runs between two points where it can stop. */
    private static final Duration CLOSING = Duration.ofSeconds(60);

    private final String kind;
    private final Duration forgotten;
    private final Duration closing;
    private @Nullable Running last;
    private long started;
    private boolean closed;

    /** @param kind name of the jobs in messages */
    public JobControl(String kind) {
        this(kind, FORGOTTEN, CLOSING);
    }

    /**
     * @param forgotten how long a job continues after its command has ended, without a query
     * @param closing how long a job may take to end when it is stopped; then it is abandoned, and {@link #close} waits
     *     no longer
     */
    public JobControl(String kind, Duration forgotten, Duration closing) {
        this.kind = kind;
        this.forgotten = forgotten;
        this.closing = closing;
    }

    /** Starts a job; the report has the number for later queries. The job continues while the caller exists. */
    public synchronized Map<String, Object> start(BackgroundJob job, ControlServer.Caller caller) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (last != null && last.isAlive()) {
            throw new IOException("a " + kind + " is running already; only one can run at a time");
        }
        Running running = new Running(++started, job);
        last = running;
        running.start();
        caller.whenGone(running::callerGone);
        return running.report();
    }

    /** @param action {@link #STATUS} or {@link #STOP} */
    public Map<String, Object> answer(String action, long number) throws IOException {
        Running job = job(number);
        job.asked();
        switch (action) {
            case STATUS -> {}
            case STOP -> job.requestStop();
            default -> throw new IOException("the daemon knows no action '" + action + "' of a " + kind);
        }
        return job.report();
    }

    /** Answers a question about a job, whose argument {@code number} names it; see {@link #answer(String, long)}. */
    Map<String, Object> answer(String action, ControlArguments arguments) throws IOException {
        long number = arguments.number("number", -1);
        arguments.end();
        return answer(action, number);
    }

    private synchronized Running job(long number) throws IOException {
        if (last == null || last.number != number) {
            throw new IOException("there is no " + kind + " number " + number);
        }
        return last;
    }

    /**
     * Stops the running job and waits for its end. The wait is bounded, because the destination may hang. A job that
     * has not ended by then does not keep the process alive.
     */
    @Override
    public void close() throws IOException {
        Running running;
        synchronized (this) {
            closed = true;
            running = last;
        }
        if (running == null) {
            return;
        }
        running.requestStop();
        try {
            running.join(closing.toMillis());
            if (running.isAlive()) {
                LOG.warn(
                        "{} number {} has not ended after {} s; no longer waiting for it",
                        kind,
                        running.number,
                        closing.toSeconds());
                running.job.abandon();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a " + kind + " was ending");
        }
    }

    /** A job and its two threads: one runs it; this one checks whether it is still wanted. */
    private final class Running extends Thread {
        private final long number;
        private final BackgroundJob job;
        private final Thread worker;
        private volatile boolean callerIsThere = true;
        /** Time of the first request to stop, by System.nanoTime; 0 if there was none. */
        private final AtomicLong stoppedNanos = new AtomicLong();

        private volatile long askedNanos = System.nanoTime();
        private volatile String state = "running";
        private volatile @Nullable String error;

        Running(long number, BackgroundJob job) {
            super("sdfs-" + kind + "-watch");
            this.number = number;
            this.job = job;
            worker = new Thread(this::work, "sdfs-" + kind);
            setDaemon(true);
            worker.setDaemon(true);
        }

        void asked() {
            askedNanos = System.nanoTime();
        }

        void requestStop() {
            job.stop();
            stoppedNanos.compareAndSet(0, System.nanoTime() | 1);
        }

        void callerGone() {
            asked();
            callerIsThere = false;
        }

        @Override
        public void run() {
            try {
                worker.start();
            } catch (OutOfMemoryError e) {
                // No thread could be started. Clients must not wait for a job that never began.
                failed(e);
                return;
            }
            try {
                boolean isAbandoned = false;
                while (worker.isAlive()) {
                    worker.join(Math.max(1, Math.min(forgotten.toMillis(), closing.toMillis()) / 10));
                    long stopped = stoppedNanos.get();
                    if (!isAbandoned && stopped != 0 && System.nanoTime() - stopped > closing.toNanos()) {
                        LOG.warn("{} number {} does not end; it holds up others no longer", kind, number);
                        job.abandon();
                        isAbandoned = true;
                    }
                    if (!callerIsThere && System.nanoTime() - askedNanos > forgotten.toNanos()) {
                        LOG.info("the command that started {} number {} has ended; stopping it", kind, number);
                        requestStop();
                    }
                }
            } catch (InterruptedException e) {
                requestStop();
                Thread.currentThread().interrupt();
            }
        }

        private void work() {
            try {
                job.run();
                state = "done";
            } catch (InterruptedIOException e) {
                state = "stopped";
            } catch (IOException | RuntimeException | Error e) {
                failed(e);
            }
        }

        private void failed(Throwable failure) {
            LOG.warn("{} number {} failed", kind, number, failure);
            error = FailureText.of(failure);
            state = "failed";
        }

        Map<String, Object> report() {
            var report = new LinkedHashMap<String, Object>();
            report.put("number", number);
            // Read the state before the job's own report, so that the report is not older than the state.
            report.put("state", state);
            report.putAll(job.report());
            String why = error;
            if (why != null) {
                report.put("error", Printable.line(why));
            }
            return report;
        }
    }
}
