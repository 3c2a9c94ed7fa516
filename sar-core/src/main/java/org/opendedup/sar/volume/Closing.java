package org.opendedup.sar.volume;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Runs all steps of closing something, even if some fail. At the end throws the first failure, with the others
 * attached.
 */
final class Closing {
    /** One step of closing a volume, or any other action that may fail with an I/O error. */
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

    /** Sets the failures as the cause of their consequence. */
    void causeOf(Throwable consequence) {
        if (failure != null) {
            consequence.initCause(failure);
        }
    }

    /** Attaches the failures to a more important exception. */
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
