package org.opendedup.sar.sdfs.cli.command;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs every 5 seconds that a task is still running, until it is closed. */
public final class ProgressLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProgressLog.class);
    private static final int PERIOD_SECONDS = 5;

    private final Supplier<String> what;
    private final long startNanos = System.nanoTime();
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-progress"));

    public ProgressLog(String what) {
        this(() -> what);
    }

    /** @param what returns the name of the task, and how far it is */
    public ProgressLog(Supplier<String> what) {
        this.what = what;
        var unused = clock.scheduleAtFixedRate(this::report, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
    }

    private void report() {
        LOG.info("{}: running for {} s", what.get(), TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos));
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
