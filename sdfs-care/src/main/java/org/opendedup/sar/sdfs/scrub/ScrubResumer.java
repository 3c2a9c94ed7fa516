package org.opendedup.sar.sdfs.scrub;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Continues, some time after a mount, a scrub that an unmount or a crash had stopped. */
public final class ScrubResumer implements AutoCloseable {
    /** Time from the mount on: programs that start with the machine have the disk for themselves first. */
    public static final Duration DELAY = Duration.ofMinutes(5);

    private static final Logger LOG = LoggerFactory.getLogger(ScrubResumer.class);

    private final ScheduledExecutorService step =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-scrub-resumer"));

    private ScrubResumer() {}

    /** Returns one that continues the scrub after {@code delay}, unless it is closed before. */
    public static ScrubResumer start(Scrubs scrubs, Duration delay) {
        var resumer = new ScrubResumer();
        var unused = resumer.step.schedule(() -> resume(scrubs), delay.toMillis(), TimeUnit.MILLISECONDS);
        // The thread ends after its only task.
        resumer.step.shutdown();
        return resumer;
    }

    private static void resume(Scrubs scrubs) {
        try {
            scrubs.resume();
        } catch (IOException | RuntimeException e) {
            LOG.warn("the scrub does not go on by itself: {}", e.toString());
        }
    }

    @Override
    public void close() {
        step.shutdownNow();
    }
}
