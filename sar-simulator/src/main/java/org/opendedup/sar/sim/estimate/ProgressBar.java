package org.opendedup.sar.sim.estimate;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.opendedup.sar.common.ByteSize;

/** A line on a terminal that is overwritten a few times a second at most. For one thread. */
final class ProgressBar implements Progress {
    private static final int CELLS = 30;
    private static final long PERIOD_NANOS = 200_000_000;
    /** Return to the line's beginning, and erase it (ECMA-48). */
    private static final String ERASE = "\r\u001b[K";

    private static final double MEGABYTE = 1e6;

    private final PrintWriter terminal;
    private final LongSupplier nanoClock;
    private long startNanos;
    private long shownNanos;
    private long totalBytes;
    private long readBytes;

    /** @param nanoClock clock like {@link System#nanoTime} */
    ProgressBar(PrintWriter terminal, LongSupplier nanoClock) {
        this.terminal = terminal;
        this.nanoClock = nanoClock;
    }

    @Override
    public void start(long bytes) {
        totalBytes = bytes;
        startNanos = nanoClock.getAsLong();
        shownNanos = startNanos - PERIOD_NANOS;
        onBytesRead(0);
    }

    @Override
    public void onBytesRead(long bytes) {
        readBytes += bytes;
        long now = nanoClock.getAsLong();
        if (now - shownNanos >= PERIOD_NANOS) {
            shownNanos = now;
            terminal.print(ERASE + line((now - startNanos) / 1e9));
            terminal.flush();
        }
    }

    private String line(double seconds) {
        double share = totalBytes == 0 ? 1 : Math.min(1, (double) readBytes / totalBytes);
        int full = (int) (share * CELLS);
        double rate = seconds > 0 ? readBytes / seconds : 0;
        return String.format(
                Locale.ROOT,
                "[%s%s] %3.0f %%  %s of %s  %.0f MB/s  %s left",
                "#".repeat(full),
                ".".repeat(CELLS - full),
                100 * share,
                ByteSize.rounded(readBytes),
                ByteSize.rounded(totalBytes),
                rate / MEGABYTE,
                rate > 0 ? time((long) (Math.max(0, totalBytes - readBytes) / rate)) : "?");
    }

    /** Formats a time: 59 s is 0:59; two hours are 2:00:00. */
    private static String time(long seconds) {
        Duration left = Duration.ofSeconds(seconds);
        String minutes = String.format(Locale.ROOT, "%d:%02d", left.toMinutesPart(), left.toSecondsPart());
        return left.toHours() == 0
                ? minutes
                : String.format(
                        Locale.ROOT, "%d:%02d:%02d", left.toHours(), left.toMinutesPart(), left.toSecondsPart());
    }

    @Override
    public void clear() {
        terminal.print(ERASE);
        terminal.flush();
    }

    @Override
    public void end() {
        clear();
    }
}
