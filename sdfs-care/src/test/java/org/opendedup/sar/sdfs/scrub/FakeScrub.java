package org.opendedup.sar.sdfs.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubPhase;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.scrub.ScrubProgress;
import org.opendedup.sar.scrub.ScrubSource;

/** A scrub of a hundred containers of a megabyte with four chunks each, which waits when it is asked to. */
public final class FakeScrub implements ScrubSource {
    private static final int CONTAINERS = 100;
    private static final long BYTES = 1 << 20;
    private static final long BEGAN_MS = 1_700_000_000_000L;

    /** Containers after which it goes on only to see whether it is stopped; none if it is negative. */
    public volatile int waitsAt = -1;

    /** What the scrub finds in the tenth container. */
    public volatile ScrubTotals finds = ScrubTotals.NONE;

    /** What the next run fails with. */
    public volatile @Nullable IOException failure;

    /** When the volume was made. */
    public volatile Instant made = Instant.now();

    /** The scrub that was begun last, and the last complete one. */
    public volatile @Nullable ScrubRecord current;

    public volatile @Nullable ScrubRecord last;

    private final Pace pace = new Pace();

    @Override
    public ScrubRecord run(ScrubProgress progress) throws IOException {
        IOException broken = failure;
        if (broken != null) {
            throw broken;
        }
        ScrubRecord before = current;
        int done = before == null || before.isComplete()
                ? 0
                : (int) before.totals().containers();
        while (done < CONTAINERS) {
            current = record(done, 0);
            if (!progress.verified(totals(done), (CONTAINERS - done) * BYTES, cursor(done))) {
                throw new InterruptedIOException("stopped");
            }
            if (done == waitsAt) {
                Thread.onSpinWait();
            } else {
                done++;
            }
        }
        ScrubRecord complete = record(done, BEGAN_MS + 60_000);
        current = complete;
        last = complete;
        return complete;
    }

    private ScrubTotals totals(int done) {
        ScrubTotals found = done < 10 ? ScrubTotals.NONE : finds;
        return new ScrubTotals(
                done,
                done * BYTES,
                done * 4L,
                found.damagedFrames(),
                found.damagedContainers(),
                found.contradictions(),
                found.references(),
                found.ssd(),
                found.index());
    }

    private static ScrubCursor cursor(int done) {
        return new ScrubCursor(ScrubPhase.CONTAINERS, 1, done * BYTES);
    }

    private ScrubRecord record(int done, long endedMs) {
        return new ScrubRecord(BEGAN_MS, endedMs, false, cursor(done), totals(done));
    }

    /** Returns what a scrub finds in containers. */
    public static ScrubTotals found(long frames, long containers, long contradictions) {
        return new ScrubTotals(
                0,
                0,
                0,
                frames,
                containers,
                contradictions,
                ScrubTotals.References.NONE,
                ScrubTotals.Ssd.NONE,
                ScrubTotals.Index.NONE);
    }

    @Override
    public void hold() {
        ScrubRecord stopped = current;
        current = stopped == null ? null : stopped.hold();
    }

    @Override
    public @Nullable ScrubRecord current() {
        return current;
    }

    @Override
    public @Nullable ScrubRecord last() {
        return last;
    }

    @Override
    public Pace pace() {
        return pace;
    }

    @Override
    public Instant volumeMade() {
        return made;
    }
}
