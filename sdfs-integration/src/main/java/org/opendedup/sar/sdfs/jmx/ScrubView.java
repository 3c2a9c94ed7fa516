package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.opendedup.sar.metadata.ScrubRecord;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;
import org.opendedup.sar.sdfs.scrub.ScrubStatus;
import org.opendedup.sar.sdfs.scrub.Scrubs;

/** Implements {@link ScrubMXBean} on {@link Scrubs}. */
record ScrubView(Scrubs scrubs, ScheduleTimer timer) implements ScrubMXBean {
    @Override
    public boolean isRunning() {
        return scrubs.running().isPresent();
    }

    @Override
    public boolean isPaused() {
        return scrubs.pace().isPaused();
    }

    @Override
    public void setPaused(boolean paused) {
        scrubs.pace().setPaused(Cause.JMX, paused);
    }

    @Override
    public long getRateBytesPerSecond() {
        return scrubs.pace().bytesPerSecond();
    }

    @Override
    public void setRateBytesPerSecond(long rateBytesPerSecond) {
        scrubs.pace().setBytesPerSecond(Cause.JMX, rateBytesPerSecond);
    }

    @Override
    public long getBytesDone() {
        return scrubs.latest().map(status -> status.totals().bytes()).orElse(0L);
    }

    @Override
    public long getBytes() {
        return scrubs.latest().map(ScrubStatus::bytes).orElse(0L);
    }

    @Override
    public String getSchedule() {
        return timer.schedule().toString();
    }

    @Override
    public String getNext() {
        return timer.nextText();
    }

    @Override
    public String getLastEnded() {
        return last().map(record -> Instant.ofEpochMilli(record.endedMs()).toString())
                .orElse("");
    }

    @Override
    public long getLastBytes() {
        return ofLast(ScrubRecord::bytes);
    }

    @Override
    public long getLastDamagedFrames() {
        return ofLast(ScrubRecord::damagedFrames);
    }

    @Override
    public long getLastDamagedContainers() {
        return ofLast(ScrubRecord::damagedContainers);
    }

    @Override
    public long getLastContradictions() {
        return ofLast(ScrubRecord::contradictions);
    }

    private long ofLast(ToLongFunction<ScrubRecord> figure) {
        return last().map(figure::applyAsLong).orElse(0L);
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
