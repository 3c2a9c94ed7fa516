package org.opendedup.sar.metadata.pending;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The limit of one step of a change over many pages, so that other threads get the locks that it holds: the step ends
 * after a number of pages, or when its time is over. The current page is always finished, so each step makes progress.
 *
 * @param pages maximum number of pages with a record in one step, 1 or more
 * @param ns maximum time of one step in nanoseconds, from the first page on
 * @param clock nanoseconds since an arbitrary moment
 */
public record StepLimit(int pages, long ns, LongSupplier clock) {
    /**
     * Maximum number of references in the pages of one step: 1024 pages of a usual file have up to 40 000. A page can
     * have one reference per byte, and all pages of a step are in memory, and pending, at the same time.
     */
    public static final int MAX_REFERENCES = 1 << 16;

    /**
     * Usual time of one step, in nanoseconds: a tenth of the time that a program tolerates, because several steps and a
     * freeze may be between a change and its lock.
     */
    private static final long USUAL_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Returns a limit of {@code pages} pages and 20 ms. */
    public static StepLimit of(int pages) {
        return new StepLimit(pages, USUAL_NS, System::nanoTime);
    }

    /** Returns the clock's time at which a step that begins now has to end. */
    public long end() {
        return clock.getAsLong() + ns;
    }

    public boolean isOver(long end) {
        return clock.getAsLong() - end >= 0;
    }
}
