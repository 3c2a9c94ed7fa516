package org.opendedup.sar.common;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Runs all steps of closing something, even if some fail. At the end throws the first failure, with the others
 * attached.
 */
public final class Closing {
    /** One step of closing, or any other action that may fail with an I/O error. */
    @FunctionalInterface
    public interface Step {
        void run() throws IOException;
    }

    private @Nullable Throwable failure;

    public void run(Step step) {
        try {
            step.run();
        } catch (IOException | RuntimeException e) {
            if (failure == null) {
                failure = e;
            } else {
                attach(e, failure);
            }
        }
    }

    /** Sets the failures as the cause of their consequence. */
    public void causeOf(Throwable consequence) {
        if (failure != null) {
            consequence.initCause(failure);
        }
    }

    /** Runs a step after a failure, which is more important: a failure of the step is attached to it. */
    public static void after(Throwable cause, Step step) {
        Closing closing = new Closing();
        closing.run(step);
        closing.suppressedBy(cause);
    }

    /** Attaches the failures to a more important exception. */
    public void suppressedBy(Throwable cause) {
        if (failure != null) {
            attach(failure, cause);
        }
    }

    /** What failed once may throw the same exception again, which cannot be attached to itself. */
    private static void attach(Throwable further, Throwable first) {
        if (further != first) {
            first.addSuppressed(further);
        }
    }

    /** Throws the first failure, if there was one. */
    public void finish() throws IOException {
        if (failure instanceof IOException e) {
            throw e;
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        }
    }
}
