package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.sdfs.collect.CollectionStatus;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/** Implements {@link GarbageCollectorMXBean} on {@link GarbageCollections}. */
final class GarbageCollectorView extends JobView implements GarbageCollectorMXBean {
    private final GarbageCollections collections;

    GarbageCollectorView(GarbageCollections collections, StartTimes times) {
        super(collections.pace(), times);
        this.collections = collections;
    }

    @Override
    public boolean isRunning() {
        return collections.running().isPresent() || collections.isRunningByItself();
    }

    @Override
    public String getRecompress() {
        return collections.recompress().toString();
    }

    @Override
    public void setRecompress(String recompress) {
        try {
            collections.setRecompress(Cause.JMX, RecompressLevel.parse(recompress));
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    @Override
    public long getBytesDone() {
        return collections.latest().map(CollectionStatus::bytesDone).orElse(0L);
    }

    @Override
    public long getBytes() {
        return collections.latest().map(CollectionStatus::bytes).orElse(0L);
    }

    @Override
    public long getReturnedBytes() {
        return collections.latest().map(CollectionStatus::returnedBytes).orElse(0L);
    }

    @Override
    public String getLastState() {
        return collections
                .last()
                .map(last -> last.state().name().toLowerCase(Locale.ROOT))
                .orElse("");
    }

    @Override
    public String getLastCause() {
        return collections.last().map(last -> last.cause().toString()).orElse("");
    }

    @Override
    public String getLastEnded() {
        return collections
                .last()
                .map(CollectionStatus::ended)
                .map(ended -> ended.truncatedTo(ChronoUnit.SECONDS))
                .map(Instant::toString)
                .orElse("");
    }

    @Override
    public double getLastSeconds() {
        return collections.last().map(CollectionStatus::seconds).orElse(0.0);
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
        return collections
                .last()
                .map(CollectionStatus::report)
                .map(figure::applyAsLong)
                .orElse(0L);
    }

    @Override
    public void start() {
        try {
            if (collections.start(Cause.JMX).isEmpty()) {
                throw new IllegalStateException("a collection of garbage is running already");
            }
        } catch (IOException e) {
            // JMX clients get an exception with its causes only if it is unchecked.
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    @Override
    public void stop() {
        collections.running().ifPresent(running -> collections.stop(Cause.JMX, running.number()));
    }
}
