package org.opendedup.sar.sdfs.cli;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's side of commands that take long: one job of a kind at a time, which a command starts, asks about and stops. A job
 * is stopped when its command is gone, which its connection tells, and nobody else asks about it. A command that is suspended is not
 * gone. What came of the last job can be asked until the next one.
 */
final class JobControl implements Closeable {
    static final String STATUS = "status";
    static final String STOP = "stop";

    private static final Logger LOG = LoggerFactory.getLogger(JobControl.class);
    private static final Duration FORGOTTEN = Duration.ofSeconds(30);
    /** Longer than a job takes from one place where it may stop to the next. */
    private static final Duration CLOSING = Duration.ofSeconds(60);

    private final String kind;
    private final Duration forgotten;
    private final Duration closing;
    private @Nullable Running last;
    private long started;
    private boolean closed;

    /** @param kind what the jobs are, for messages */
    JobControl(String kind) {
        this(kind, FORGOTTEN, CLOSING);
    }

    /**
     * @param forgotten how long a job goes on when its command is gone and nobody asks about it
     * @param closing how long its end is waited for
     */
    JobControl(String kind, Duration forgotten, Duration closing) {
        this.kind = kind;
        this.forgotten = forgotten;
        this.closing = closing;
    }

    /** Starts a job; the report says by which number it is asked about. It goes on as long as the caller is there. */
    synchronized Map<String, Object> start(BackgroundJob job, ControlServer.Caller caller) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (last != null && last.isAlive()) {
            throw new IOException("a " + kind + " is under way already; only one can be at a time");
        }
        Running running = new Running(++started, job);
        last = running;
        running.start();
        caller.whenGone(running::callerGone);
        return running.report();
    }

    /** @param action {@link #STATUS} or {@link #STOP} */
    Map<String, Object> answer(String action, long number) throws IOException {
        Running job = job(number);
        job.asked();
        switch (action) {
            case STATUS -> {}
            case STOP -> job.job.stop();
            default -> throw new IOException("the daemon knows no action '" + action + "' of a " + kind);
        }
        return job.report();
    }

    private synchronized Running job(long number) throws IOException {
        if (last == null || last.number != number) {
            throw new IOException("there is no " + kind + " number " + number);
        }
        return last;
    }

    /**
     * Stops the job that is under way, and waits for its end; not for ever, as where it writes to may hang. It does not keep the
     * process then.
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
        running.job.stop();
        try {
            running.join(closing.toMillis());
            if (running.isAlive()) {
                LOG.warn(
                        "{} number {} has not ended after {} s; it is left behind",
                        kind,
                        running.number,
                        closing.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a " + kind + " was ending");
        }
    }

    /** A job with the two threads that it has: one that runs it, and this one, which watches whether it is wanted. */
    private final class Running extends Thread {
        private final long number;
        private final BackgroundJob job;
        private final Thread worker;
        private volatile boolean callerIsThere = true;
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

        void callerGone() {
            asked();
            callerIsThere = false;
        }

        @Override
        public void run() {
            try {
                worker.start();
            } catch (OutOfMemoryError e) {
                // No thread is to be had. Who asks must not wait for what never began.
                failed(e);
                return;
            }
            try {
                while (worker.isAlive()) {
                    worker.join(Math.max(1, forgotten.toMillis() / 10));
                    if (!callerIsThere && System.nanoTime() - askedNanos > forgotten.toNanos()) {
                        LOG.info("the command of {} number {} is gone; it is stopped", kind, number);
                        job.stop();
                    }
                }
            } catch (InterruptedException e) {
                job.stop();
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
            error = CommandRunner.messageOf(failure);
            state = "failed";
        }

        Map<String, Object> report() {
            var report = new LinkedHashMap<String, Object>();
            report.put("number", number);
            // Before the job's own report: what it says is then not older than the state.
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
