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
        TraceStatistics.Volume read = week.read();
        TraceStatistics.Volume written = week.written();
        List<Match> matches = new ArrayList<>(List.of(
                Match.of("requests a day", profile.requestsPerDay(), (double) week.requests() / WEEK_DAYS, "POD"),
                Match.of("writes, share of requests", profile.writeShare(), week.writeShare(), "POD"),
                Match.of("mean request, KiB", profile.meanKibibytes(), week.meanKibibytes(), "POD"),
                Match.of(
                        "distinct blocks of those read in a week",
                        profile.distinctReadBlocks(),
                        read.distinctBlocks(),
                        "FAST'10"),
                Match.of(
                        "distinct contents of those read in a week",
                        profile.distinctReadContents(),
                        read.distinctContents(),
                        "FAST'10"),
                Match.of(
                        "distinct blocks of those written in a week",
                        profile.distinctWrittenBlocks(),
                        written.distinctBlocks(),
                        "FAST'10"),
                Match.of(
                        "blocks written whose content is known",
                        profile.removedShare(),
                        1 - written.distinctContents(),
                        "SAR §2.2")));
        if (profile.name().equals(TraceProfile.MAIL)) {
            TraceStatistics.ManyReferences many = week.manyReferences();
            matches.add(Match.of("contents with more than 5 references", MAIL_MANY_SHARE, many.share(), "SAR §2.4"));
            matches.add(Match.of("accesses that these get", MAIL_MANY_ACCESSES, many.accessShare(), "SAR §2.4"));
        }
        return List.copyOf(matches);
    }
}
