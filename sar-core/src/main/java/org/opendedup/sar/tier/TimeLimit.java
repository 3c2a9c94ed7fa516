package org.opendedup.sar.tier;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs calls that may hang, each in its own thread, and waits for each up to a limit. A thread that hangs is abandoned,
 * and ends when its disk answers.
 *
 * @param name name of the threads
 */
record TimeLimit(String name, Duration limit) {
    private static final Logger log = LoggerFactory.getLogger(TimeLimit.class);

    /** A call that may hang. */
    @FunctionalInterface
    interface Call<T> {
        T call() throws IOException;
    }

    /**
     * Runs a call.
     *
     * @param what description of the call, for messages
     * @param tooLate receives the result if the wait for it has ended
     * @throws IOException if the call fails, or does not end in time
     */
    <T> T call(String what, Call<T> call, Consumer<? super T> tooLate) throws IOException {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> complete(result, what, call, tooLate), name);
        thread.setDaemon(true);
        thread.start();
        return await(result, what);
    }

    private <T> void complete(CompletableFuture<T> result, String what, Call<T> call, Consumer<? super T> tooLate) {
        try {
            T value = call.call();
            if (!result.complete(value)) {
                log.info("{}: {} ended too late", name, what);
                tooLate.accept(value);
            }
        } catch (IOException | RuntimeException e) {
            if (!result.completeExceptionally(e)) {
                log.info("{}: {} failed after the wait for it had ended: {}", name, what, e.getMessage());
            }
        }
    }

    private <T> T await(CompletableFuture<T> result, String what) throws IOException {
        try {
            try {
                return result.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                result.completeExceptionally(new IOException(what + " did not end within " + limit.toSeconds() + " s"));
                // It may have ended just now.
                return result.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            result.cancel(false);
            throw new IOException("interrupted while " + what, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IOException(what + " failed: " + e.getCause(), e.getCause());
        }
    }
}
