package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.opendedup.sar.metadata.ScrubRecord;
import org.opendedup.sar.metadata.ScrubTotals;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.ScrubStatus;
import org.opendedup.sar.sdfs.scrub.Scrubs;

/** Implements {@link ScrubMXBean} on {@link Scrubs}. */
final class ScrubView extends JobView implements ScrubMXBean {
    private final Scrubs scrubs;

    ScrubView(Scrubs scrubs, StartTimes times) {
        super(scrubs.pace(), times);
        this.scrubs = scrubs;
    }

    @Override
    public boolean isRunning() {
        return scrubs.running().isPresent();
    }

    @Override
    public long getBytesDone() {
        return scrubs.latest().map(status -> status.totals().allBytes()).orElse(0L);
    }

    @Override
    public long getBytes() {
        return scrubs.latest().map(ScrubStatus::bytes).orElse(0L);
    }

    @Override
    public String getLastEnded() {
        return last().map(record -> Instant.ofEpochMilli(record.endedMs()).toString())
                .orElse("");
    }

    @Override
    public long getLastBytes() {
        return ofLast(ScrubTotals::allBytes);
    }

    @Override
    public long getLastDamagedFrames() {
        return ofLast(ScrubTotals::damagedFrames);
    }

    @Override
    public long getLastDamagedContainers() {
        return ofLast(ScrubTotals::damagedContainers);
    }

    @Override
    public long getLastContradictions() {
        return ofLast(ScrubTotals::contradictions);
    }

    @Override
    public String getPhase() {
        return scrubs.running()
                .map(status -> status.phase().name().toLowerCase(Locale.ROOT))
                .orElse("");
    }

    @Override
    public long getLastWrongReferences() {
        return ofLast(totals -> totals.references().wrong());
    }

    @Override
    public long getLastMetadataDefects() {
        return ofLast(totals -> totals.references().defects());
    }

    @Override
    public long getLastSsdCopies() {
        return ofLast(totals -> totals.ssd().copies());
    }

    @Override
    public long getLastWrongSsdCopies() {
        return ofLast(totals -> totals.ssd().wrong());
    }

    @Override
    public long getLastIndexEntries() {
        return ofLast(totals -> totals.index().entries());
    }

    @Override
    public long getLastWrongIndexEntries() {
        return ofLast(totals -> totals.index().wrong());
    }

    @Override
    public long getLastStaleIndexEntries() {
        return ofLast(totals -> totals.index().stale());
    }

    @Override
    public long getLastNotIndexedChunks() {
        return ofLast(totals -> totals.index().notIndexed());
    }

    private long ofLast(ToLongFunction<ScrubTotals> figure) {
        return last().map(ScrubRecord::totals).map(figure::applyAsLong).orElse(0L);
    }

    private Optional<ScrubRecord> last() {
        try {
            return scrubs.last();
        } catch (IOException e) {
            throw unchecked(e);
        }
    }

    @Override
    public void start() {
        try {
            if (scrubs.start(Cause.JMX).isEmpty()) {
                throw new IllegalStateException("a scrub is running already");
            }
        } catch (IOException e) {
            throw unchecked(e);
        }
    }

    /** JMX clients get an exception with its causes only if it is unchecked. */
    private static UncheckedIOException unchecked(IOException e) {
        return new UncheckedIOException(e.getMessage(), e);
    }

    @Override
    public void stop() {
        scrubs.running().ifPresent(running -> scrubs.stop(Cause.JMX, running.number()));
    }
}
