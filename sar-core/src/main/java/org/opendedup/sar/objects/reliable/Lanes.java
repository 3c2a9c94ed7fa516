package org.opendedup.sar.objects.reliable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;

/** Threads that make requests at the same time: a bounded number for all callers. None waits while there is no work. */
final class Lanes implements AutoCloseable {
    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;

    Lanes(int count) {
        threads = new ThreadPoolExecutor(
                count,
                count,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Threads.named("object-store"));
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Does all tasks and returns their results. After a failure it begins no further one. None runs any more when this
     * returns or throws: what they read into belongs to the caller again. An interrupt does not end the wait.
     *
     * @throws IOException the first failure of a task
     */
    <T> List<T> all(List<? extends Callable<T>> tasks) throws IOException {
        AtomicBoolean isGivenUp = new AtomicBoolean();
        List<Future<T>> running = new ArrayList<>();
        for (Callable<T> task : tasks) {
            running.add(threads.submit(() -> {
                if (isGivenUp.get()) {
                    throw new GivenUpException();
                }
                try {
                    return task.call();
                } catch (Throwable e) {
                    isGivenUp.set(true);
                    throw e;
                }
            }));
        }
        List<T> results = new ArrayList<>();
        Throwable failure = null;
        for (Future<T> each : running) {
            try {
                results.add(result(each));
            } catch (ExecutionException e) {
                failure = worse(failure, e.getCause());
            }
        }
        rethrow(failure);
        return results;
    }

    /** Another task failed, so this one was not begun. */
    private static final class GivenUpException extends IOException {
        private static final long serialVersionUID = 1;
    }

    private static @Nullable Throwable worse(@Nullable Throwable one, @Nullable Throwable other) {
        return one == null || one instanceof GivenUpException ? other : one;
    }

    private static <T> T result(Future<T> running) throws ExecutionException {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return running.get();
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void rethrow(@Nullable Throwable failure) throws IOException {
        if (failure instanceof IOException e) {
            throw e;
        } else if (failure instanceof RuntimeException e) {
            throw e;
        } else if (failure instanceof Error e) {
            throw e;
        } else if (failure != null) {
            throw new IOException(failure);
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
