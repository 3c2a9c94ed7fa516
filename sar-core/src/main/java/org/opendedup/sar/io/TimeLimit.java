package org.opendedup.sar.io;

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
public record TimeLimit(String name, Duration limit) {
    private static final Logger log = LoggerFactory.getLogger(TimeLimit.class);

    /** Says that a call did not end in time; it may still be running. */
    public static final class ExceededException extends IOException {
        private static final long serialVersionUID = 1;

        private ExceededException(String message) {
            super(message);
        }
    }

    /** A call that may hang. */
    @FunctionalInterface
    public interface Call<T> {
        T call() throws IOException;
    }

    /**
     * Runs a call.
     *
     * @param what description of the call, for messages
     * @param tooLate receives the result if the wait for it has ended
     * @throws ExceededException if the call does not end in time
     * @throws IOException if it fails
     */
    public <T> T call(String what, Call<T> call, Consumer<? super T> tooLate) throws IOException {
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
        } catch (IOException | RuntimeException | Error e) {
            // Without an answer to an Error, the caller would wait for the whole time.
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
                result.completeExceptionally(
                        new ExceededException(what + " did not end within " + limit.toSeconds() + " s"));
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
