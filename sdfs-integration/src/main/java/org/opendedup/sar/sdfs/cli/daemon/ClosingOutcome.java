package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.report.Json;

/** How a volume was closed, for the clients that wait for that. Safe for use by many threads. */
final class ClosingOutcome {
    /** Longest time that a client waits; less than the limit of {@link ControlSocket}. */
    private static final long SECONDS_MAX = 590;

    private final CompletableFuture<ClosingReport> outcome = new CompletableFuture<>();

    /** Tells those who wait, and all later ones. */
    void complete(ClosingReport report) {
        outcome.complete(report);
    }

    /** Returns whether the volume was closed in order; false while it is not closed. */
    boolean isInOrder() {
        return outcome.isDone() && outcome.join().closed();
    }

    /** Waits until the volume is closed, and returns how; empty after the time limit. */
    Map<String, Object> await() throws IOException {
        try {
            return Json.values(outcome.get(SECONDS_MAX, TimeUnit.SECONDS));
        } catch (TimeoutException e) {
            return Map.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the volume was being closed");
        } catch (ExecutionException e) {
            throw new IOException(e);
        }
    }
}
