package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.sdfs.cli.report.GcReport;
import org.opendedup.sar.sdfs.collect.Collected;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/** The daemon's side of {@code sdfscli VOLUME gc}. A collection goes on when the command that started it has ended. */
public final class GcControl extends JobControl<Collected> {
    public static final String COMMAND = "gc";

    /** Argument of {@link #START} and {@link #SET}: the text of a {@link RecompressLevel}. */
    public static final String RECOMPRESS = "recompress";

    /** Argument of {@link #START}: the data location whose containers are all moved, with no other argument. */
    public static final String LEAVES = "leaves";

    /** Unit of the share of garbage that may stay. */
    public static final int PARTS = 1_000_000;

    private final GarbageCollections collections;
    private final StartTimes timer;

    public GcControl(GarbageCollections collections, StartTimes timer) {
        super(COMMAND, collections);
        this.collections = collections;
        this.timer = timer;
    }

    @Override
    Optional<JobStatus<Collected>> start(ControlArguments arguments) throws IOException {
        String leaves = arguments.textIfAny(LEAVES);
        if (leaves != null) {
            arguments.end();
            collections.requireAllowed();
            return collections.start(Cause.SDFSCLI, CollectionLimits.leaving(Path.of(leaves)), null);
        }
        long parts = arguments.number("leaveParts", Math.round(CollectionLimits.DEFAULT_GARBAGE_SHARE * PARTS));
        boolean dryRun = arguments.number("dryRun", 0) != 0;
        String level = arguments.textIfAny(RECOMPRESS);
        long arrangeParts = arguments.number("arrangeParts", -1);
        arguments.end();
        if (!dryRun) {
            // Who does not wait for the end would not see why it fails.
            collections.requireAllowed();
        }
        double share = (double) parts / PARTS;
        CollectionLimits limits = level == null
                ? collections.limits(share, dryRun)
                : collections.limits(share, dryRun, RecompressLevel.parse(level));
        return arrangeParts < 0
                ? collections.start(Cause.SDFSCLI, limits)
                : collections.start(Cause.SDFSCLI, limits, arrangement(arrangeParts));
    }

    private static @Nullable ArrangementLimits arrangement(long parts) {
        return parts == 0 ? null : new ArrangementLimits((double) parts / PARTS, ArrangementLimits.DEFAULT.gain());
    }

    @Override
    void put(JobStatus<Collected> status, Map<String, Object> report) {
        GcReport.put(status, report);
        report.put("paused", collections.pace().isPaused());
    }

    @Override
    Map<String, Object> all() {
        return GcReport.of(collections, timer);
    }

    @Override
    Map<String, Object> stop(long number) throws IOException {
        if (number < 0 && collections.isRunningByItself()) {
            throw new IOException(
                    "the volume collects garbage because a disk is full; 'gc set --paused=true' pauses it");
        }
        return super.stop(number);
    }

    @Override
    void set(ControlArguments arguments) throws IOException {
        PaceControl pace = PaceControl.read(arguments);
        String level = arguments.textIfAny(RECOMPRESS);
        long arrange = arguments.number("arrange", -1);
        arguments.end();
        if (level != null) {
            // First: if it cannot be kept, nothing is changed.
            collections.setRecompress(Cause.SDFSCLI, RecompressLevel.parse(level));
        }
        pace.set(Cause.SDFSCLI, collections.pace());
        if (arrange >= 0) {
            collections.setArranging(Cause.SDFSCLI, arrange != 0);
        }
    }

    @Override
    Map<String, Object> settings() {
        return GcReport.pace(collections);
    }
}
