package org.opendedup.sar.sdfs.jmx;

import java.util.Optional;
import java.util.function.ToLongFunction;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.join.Joins;

/** Implements {@link ExactPassMXBean} on {@link Joins}. */
final class ExactPassView extends JobView<JoinReport> implements ExactPassMXBean {
    private final Joins joins;

    ExactPassView(Joins joins) {
        super(joins, joins::start);
        this.joins = joins;
    }

    /** Also the running one. */
    @Override
    Optional<JobStatus<JoinReport>> last() {
        return joins.latest();
    }

    @Override
    public String getPhase() {
        return last().map(JobStatus::stage).orElse("");
    }

    @Override
    public long getDone() {
        return last().map(JobStatus::done).orElse(0L);
    }

    @Override
    public long getOf() {
        return last().map(JobStatus::of).orElse(0L);
    }

    @Override
    public long getStoredTwiceBytes() {
        return joins.estimate().bytes();
    }

    @Override
    public String getLastCause() {
        return last().map(status -> status.cause().toString()).orElse("");
    }

    @Override
    public double getLastSeconds() {
        return last().map(JobStatus::seconds).orElse(0.0);
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
        return lastReport().map(figure::applyAsLong).orElse(0L);
    }
}
