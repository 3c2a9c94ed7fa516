package org.opendedup.sar.sdfs.cli.command;

import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;

/**
 * Shows progress on the error stream: on a terminal, in one line that is overwritten; elsewhere (a log, a pipe), in a
 * separate line from time to time.
 */
public final class ProgressLine {
    private static final long SELDOM_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final int WIDTH = 100;

    private final PrintWriter err;
    private final boolean isTerminal;
    private final long seldomNanos;
    private long lastNanos = System.nanoTime();
    private boolean shown;

    public ProgressLine(Environment environment) {
        this(environment, SELDOM_NANOS);
    }

    /** @param seldomNanos time between two lines where there is no terminal, in nanoseconds */
    public ProgressLine(Environment environment, long seldomNanos) {
        this.err = environment.err();
        this.isTerminal = environment.isTerminal();
        this.seldomNanos = seldomNanos;
    }

    public void show(String text) {
        if (isTerminal) {
            err.print("\r" + text);
            err.flush();
            shown = true;
        } else if (System.nanoTime() - lastNanos >= seldomNanos) {
            lastNanos = System.nanoTime();
            err.println(text.stripTrailing());
        }
    }

    /** Clears the terminal's line. */
    public void clear() {
        if (shown) {
            err.print("\r" + " ".repeat(WIDTH) + "\r");
            err.flush();
            shown = false;
        }
    }
}
