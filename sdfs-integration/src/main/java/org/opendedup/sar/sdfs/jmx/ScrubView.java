package org.opendedup.sar.sdfs.jmx;

import java.time.Instant;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.ScrubRun;
import org.opendedup.sar.sdfs.scrub.Scrubs;

/** Implements {@link ScrubMXBean} on {@link Scrubs}. */
final class ScrubView extends PacedJobView<ScrubRun> implements ScrubMXBean {
    private final Scrubs scrubs;

    ScrubView(Scrubs scrubs, StartTimes times) {
        super(scrubs, scrubs::start, scrubs.pace(), times);
        this.scrubs = scrubs;
    }

    @Override
    public long getBytesDone() {
        return scrubs.latest().map(JobStatus::done).orElse(0L);
    }

    @Override
    public long getBytes() {
        return scrubs.latest().map(JobStatus::of).orElse(0L);
    }

    @Override
    public String getLastEnded() {
        return lastComplete()
                .map(record -> Instant.ofEpochMilli(record.endedMs()).toString())
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
        return scrubs.running().map(JobStatus::stage).orElse("");
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
        return lastComplete().map(ScrubRecord::totals).map(figure::applyAsLong).orElse(0L);
    }

    /** Also before this mount. */
    private Optional<ScrubRecord> lastComplete() {
        return Beans.call(scrubs::last);
    }
}
