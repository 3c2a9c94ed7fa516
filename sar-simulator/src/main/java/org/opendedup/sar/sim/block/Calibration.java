package org.opendedup.sar.sim.block;

import java.util.ArrayList;
import java.util.List;

/** Compares a synthetic trace with the published statistics of the trace that it imitates. */
public final class Calibration {
    private static final int WEEK_DAYS = 7;
    private static final double MAIL_MANY_SHARE = 0.045;
    private static final double MAIL_MANY_ACCESSES = 0.422;

    private Calibration() {}

    /**
     * One statistic.
     *
     * @param deviationPercent deviation of the reached value from the published one, in percent
     * @param source source of the published value
     */
    public record Match(String statistic, double published, double reached, double deviationPercent, String source) {
        static Match of(String statistic, double published, double reached, String source) {
            return new Match(statistic, published, reached, 100 * (reached - published) / published, source);
        }
    }

    /** Makes a week of the trace and compares. */
    public static List<Match> of(TraceProfile profile, long seed) {
        TraceStatistics week = new TraceStatistics();
        SyntheticTrace trace = new SyntheticTrace(profile, WEEK_DAYS, seed);
        BlockRequest request = new BlockRequest();
        while (trace.next(request)) {
            week.add(request);
        }
        List<Match> matches = new ArrayList<>(List.of(
                perDay(profile, week),
                writeShare(profile, week),
                size(profile, week),
                readBlocks(profile, week),
                readContents(profile, week),
                writtenBlocks(profile, week),
                removed(profile, week)));
        if (profile.name().equals(TraceProfile.MAIL)) {
            TraceStatistics.ManyReferences many = week.manyReferences();
            matches.add(Match.of("contents with more than 5 references", MAIL_MANY_SHARE, many.share(), "SAR §2.4"));
            matches.add(Match.of("accesses that these get", MAIL_MANY_ACCESSES, many.accessShare(), "SAR §2.4"));
        }
        return List.copyOf(matches);
    }

    private static Match perDay(TraceProfile profile, TraceStatistics week) {
        return Match.of("requests a day", profile.requestsPerDay(), (double) week.requests() / WEEK_DAYS, "POD");
    }

    private static Match writeShare(TraceProfile profile, TraceStatistics week) {
        return Match.of("writes, share of requests", profile.writeShare(), week.writeShare(), "POD");
    }

    private static Match size(TraceProfile profile, TraceStatistics week) {
        return Match.of("mean request, KiB", profile.meanKibibytes(), week.meanKibibytes(), "POD");
    }

    private static Match readBlocks(TraceProfile profile, TraceStatistics week) {
        return Match.of(
                "distinct blocks of those read in a week",
                profile.distinctReadBlocks(),
                week.read().distinctBlocks(),
                "FAST'10");
    }

    private static Match readContents(TraceProfile profile, TraceStatistics week) {
        return Match.of(
                "distinct contents of those read in a week",
                profile.distinctReadContents(),
                week.read().distinctContents(),
                "FAST'10");
    }

    private static Match writtenBlocks(TraceProfile profile, TraceStatistics week) {
        return Match.of(
                "distinct blocks of those written in a week",
                profile.distinctWrittenBlocks(),
                week.written().distinctBlocks(),
                "FAST'10");
    }

    private static Match removed(TraceProfile profile, TraceStatistics week) {
        return Match.of(
                "blocks written whose content is known",
                profile.removedShare(),
                1 - week.written().distinctContents(),
                "SAR §2.2");
    }
}
