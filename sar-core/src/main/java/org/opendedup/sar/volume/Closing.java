package org.opendedup.sar.volume;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Runs the steps of closing something, all of them, and throws the first failure at the end with the others attached. */
final class Closing {
    /** One step. */
    @FunctionalInterface
    interface Step {
        void run() throws IOException;
    }

    private @Nullable Throwable failure;

    void run(Step step) {
        try {
            step.run();
        } catch (IOException | RuntimeException e) {
            if (failure == null) {
                failure = e;
            } else {
                failure.addSuppressed(e);
            }
        }
    }

    /** Attaches the failures to one that is more important. */
    void suppressedBy(Throwable cause) {
        if (failure != null) {
            cause.addSuppressed(failure);
        }
    }

    void finish() throws IOException {
        if (failure instanceof IOException e) {
            throw e;
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        }
    }
}
