package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestWait;

@Timeout(30)
class ThreadsTest {
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(Threads.named("test"));
    private final AtomicInteger steps = new AtomicInteger();

    @AfterEach
    void end() {
        timer.shutdownNow();
    }

    private void step() {
        switch (steps.incrementAndGet()) {
            case 1 -> throw new NoClassDefFoundError("replaced");
            case 2 -> throw new IllegalStateException("a defect");
            default -> {}
        }
    }

    @Test
    void aLastingTimerGoesOnAfterErrors() {
        var unused = timer.scheduleWithFixedDelay(Threads.lasting(this::step), 0, 1, TimeUnit.MILLISECONDS);
        TestWait.until(() -> steps.get() > 3);
    }

    @Test
    void controlAnotherOneEndsAtTheFirst() {
        Future<?> ended = timer.scheduleWithFixedDelay(this::step, 0, 1, TimeUnit.MILLISECONDS);
        assertThrows(ExecutionException.class, ended::get);
        assertEquals(1, steps.get());
    }
}
