package org.opendedup.sar.sdfs.jmx;

import java.util.Optional;
import java.util.function.ToLongFunction;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.sdfs.collect.Collected;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/** Implements {@link GarbageCollectorMXBean} on {@link GarbageCollections}. */
final class GarbageCollectorView extends PacedJobView<Collected> implements GarbageCollectorMXBean {
    private final GarbageCollections collections;

    GarbageCollectorView(GarbageCollections collections, StartTimes times) {
        super(collections, collections::start, collections.pace(), times);
        this.collections = collections;
    }

    @Override
    public boolean isRunning() {
        return super.isRunning() || collections.isRunningByItself();
    }

    @Override
    public String getRecompress() {
        return collections.recompress().toString();
    }

    @Override
    public void setRecompress(String recompress) {
        boolean unused = Beans.call(() -> {
            collections.setRecompress(Cause.JMX, RecompressLevel.parse(recompress));
            return true;
        });
    }

    /** The latest that has ended and was no dry run, also before this mount. */
    @Override
    Optional<JobStatus<Collected>> last() {
        return collections.last();
    }

    @Override
    public long getBytesDone() {
        return collections.latest().map(JobStatus::done).orElse(0L);
    }

    @Override
    public long getBytes() {
        return collections.latest().map(JobStatus::of).orElse(0L);
    }

    @Override
    public long getReturnedBytes() {
        return collections
                .latest()
                .map(Collected::of)
                .map(Collected::returnedBytes)
                .orElse(0L);
    }

    @Override
    public String getLastCause() {
        return last().map(last -> last.cause().toString()).orElse("");
    }

    @Override
    public double getLastSeconds() {
        return last().map(JobStatus::seconds).orElse(0.0);
    }

    @Override
    public long getLastStoredBytes() {
        return last(CollectionReport::storedBytes);
    }

    @Override
    public long getLastGarbageBytes() {
        return last(CollectionReport::garbageBytes);
    }

    @Override
    public long getLastVictims() {
        return last(CollectionReport::victims);
    }

    @Override
    public long getLastRemoved() {
        return last(CollectionReport::removed);
    }

    @Override
    public long getLastRewritten() {
        return last(CollectionReport::rewritten);
    }

    @Override
    public long getLastRecompressed() {
        return last(CollectionReport::recompressed);
    }

    @Override
    public long getLastIncompressible() {
        return last(CollectionReport::incompressible);
    }

    @Override
    public long getLastRecompressSavedBytes() {
        return last(CollectionReport::recompressSavedBytes);
    }

    @Override
    public long getLastCopiedBytes() {
        return last(CollectionReport::copiedBytes);
    }

    @Override
    public long getLastReturnedBytes() {
        return last(CollectionReport::returnedBytes);
    }

    @Override
    public long getLastStrayBytes() {
        return last(CollectionReport::strayBytes);
    }

    @Override
    public long getLastKeptContainers() {
        return last(CollectionReport::keptContainers);
    }

    @Override
    public long getLastLeftBytes() {
        return last(CollectionReport::leftBytes);
    }

    private long last(ToLongFunction<CollectionReport> figure) {
        return lastReport().map(Collected::report).map(figure::applyAsLong).orElse(0L);
    }
}
