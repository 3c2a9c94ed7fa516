package org.opendedup.sar.sdfs.cli.command;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.sdfs.cli.report.RoughTime;

/**
 * Shows progress on the error stream: on a terminal, in one line that is overwritten; elsewhere (a log, a pipe), in a
 * separate line from time to time.
 */
public final class ProgressLine {
    private static final long SELDOM_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long OFTEN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int WIDTH = 100;
    private static final int BAR = 30;

    private final PrintWriter err;
    private final boolean isTerminal;
    private final long seldomNanos;
    private long lastNanos = System.nanoTime();
    private boolean shown;
    private String step = "";
    private long stepNanos;
    private long atNanos;

    public ProgressLine(Environment environment) {
        this(environment, SELDOM_NANOS);
    }

    /** @param seldomNanos time between two lines where there is no terminal, in nanoseconds */
    public ProgressLine(Environment environment, long seldomNanos) {
        this.err = environment.err();
        this.isTerminal = environment.isTerminal();
        this.seldomNanos = seldomNanos;
    }

    /**
     * Returns {@code [#####.....] 50 %, packs: 500 of 1000, 12 s left}; while nothing is counted, the step alone.
     *
     * @param step name of the step
     * @param done units of the step that are done
     * @param of all units of the step; 0 if unknown
     * @param seconds time since the begin of the step
     */
    public static String step(String step, long done, long of, double seconds) {
        if (of <= 0) {
            return step + (done == 0 ? "" : ": " + done) + "   ";
        }
        double share = Math.min(1, (double) done / of);
        String left = done == 0 ? "" : ", " + RoughTime.of((long) Math.ceil(seconds * (1 - share) / share)) + " left";
        return bar(share) + step + ": " + done + " of " + of + left + "      ";
    }

    /** Returns {@code [#####.....] 50 %, }. */
    public static String bar(double share) {
        int filled = (int) (share * BAR);
        return String.format(
                Locale.ROOT, "[%s%s] %3.0f %%, ", "#".repeat(filled), ".".repeat(BAR - filled), share * 100);
    }

    /** Shows {@link #step}, not too often, of a step that lasts from the first call with its name. For one thread. */
    public void at(String now, long done, long of) {
        long nanos = System.nanoTime();
        if (!now.equals(step)) {
            step = now;
            stepNanos = nanos;
            atNanos = nanos - OFTEN_NANOS;
        }
        if (nanos - atNanos >= OFTEN_NANOS) {
            atNanos = nanos;
            show(step(now, done, of, (nanos - stepNanos) / 1e9));
        }
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
