package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.sdfs.cli.report.GcReport;
import org.opendedup.sar.sdfs.collect.CollectionStatus;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/**
 * The daemon's side of {@code sdfscli VOLUME gc}: the control command {@value #COMMAND}, whose argument {@code action}
 * selects the operation. A collection goes on when the command that started it has ended.
 */
public final class GcControl extends JobActions {
    public static final String COMMAND = "gc";

    /** Argument of {@link #START} and {@link #SET}: the text of a {@link RecompressLevel}. */
    public static final String RECOMPRESS = "recompress";

    /** Unit of the share of garbage that may stay. */
    public static final int PARTS = 1_000_000;

    private final GarbageCollections collections;
    private final StartTimes timer;

    public GcControl(GarbageCollections collections, StartTimes timer) {
        super(COMMAND);
        this.collections = collections;
        this.timer = timer;
    }

    @Override
    Map<String, Object> start(ControlArguments arguments) throws IOException {
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
        Optional<CollectionStatus> begun = arrangeParts < 0
                ? collections.start(Cause.SDFSCLI, limits)
                : collections.start(Cause.SDFSCLI, limits, arrangement(arrangeParts));
        var reply = new LinkedHashMap<String, Object>();
        reply.put(STARTED, begun.isPresent());
        reply.putAll(report(begun.or(collections::latest).orElseThrow()));
        return reply;
    }

    private static @Nullable ArrangementLimits arrangement(long parts) {
        return parts == 0 ? null : new ArrangementLimits((double) parts / PARTS, ArrangementLimits.DEFAULT.gain());
    }

    @Override
    Map<String, Object> status(ControlArguments arguments) throws IOException {
        long number = arguments.number("number", -1);
        arguments.end();
        return number < 0 ? GcReport.of(collections, timer) : report(numbered(number));
    }

    @Override
    Map<String, Object> stop(ControlArguments arguments) throws IOException {
        long number = arguments.number("number", -1);
        arguments.end();
        if (number >= 0) {
            boolean unused = collections.stop(Cause.SDFSCLI, number);
            return report(numbered(number));
        }
        if (collections.isRunningByItself()) {
            throw new IOException(
                    "the volume collects garbage because a disk is full; 'gc set --paused=true' pauses it");
        }
        CollectionStatus running =
                collections.running().orElseThrow(() -> new IOException("no collection of garbage is running"));
        boolean unused = collections.stop(Cause.SDFSCLI, running.number());
        return report(numbered(running.number()));
    }

    private CollectionStatus numbered(long number) throws IOException {
        return collections
                .numbered(number)
                .orElseThrow(() -> new IOException("there is no collection number " + number + " any more"));
    }

    private Map<String, Object> report(CollectionStatus status) {
        return GcReport.of(status, collections);
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
