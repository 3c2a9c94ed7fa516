package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.join.JoinStatus;
import org.opendedup.sar.sdfs.join.Joins;

/** Implements {@link ExactPassMXBean} on {@link Joins}. */
final class ExactPassView implements ExactPassMXBean {
    private final Joins joins;

    ExactPassView(Joins joins) {
        this.joins = joins;
    }

    @Override
    public boolean isRunning() {
        return joins.isRunning();
    }

    @Override
    public String getPhase() {
        return joins.latest()
                .map(status -> status.phase().name().toLowerCase(Locale.ROOT))
                .orElse("");
    }

    @Override
    public long getDone() {
        return joins.latest().map(JoinStatus::done).orElse(0L);
    }

    @Override
    public long getOf() {
        return joins.latest().map(JoinStatus::of).orElse(0L);
    }

    @Override
    public long getStoredTwiceBytes() {
        return joins.estimate().bytes();
    }

    @Override
    public String getLastCause() {
        return joins.latest().map(status -> status.cause().toString()).orElse("");
    }

    @Override
    public String getLastState() {
        return joins.latest().map(status -> status.state().toString()).orElse("");
    }

    @Override
    public double getLastSeconds() {
        return joins.latest().map(JoinStatus::seconds).orElse(0.0);
    }

    @Override
    public long getLastFoundBytes() {
        return ofLast(JoinReport::foundBytes);
    }

    @Override
    public long getLastJoinedBytes() {
        return ofLast(JoinReport::joinedBytes);
    }

    @Override
    public long getLastUnreadableChunks() {
        return ofLast(JoinReport::unreadableChunks);
    }

    private long ofLast(ToLongFunction<JoinReport> figure) {
        Optional<JoinReport> report = joins.latest().map(JoinStatus::report);
        return report.map(figure::applyAsLong).orElse(0L);
    }

    @Override
    public void start() {
        try {
            if (!joins.start(Cause.JMX)) {
                throw new IllegalStateException("an exact pass is running already");
            }
        } catch (IOException e) {
            // JMX clients get an exception with its causes only if it is unchecked.
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    @Override
    public void stop() {
        joins.stop(Cause.JMX);
    }
}
