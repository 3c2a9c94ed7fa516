package org.opendedup.sar.sim.tddfs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** Compares results with what the paper says in words (sections 5.2 to 5.4). */
final class Claims {
    /** What "close to" is taken for: at most this much more. */
    private static final double CLOSE = 1.25;

    private static final double A_THIRD_PERCENT = 100 / 3.0;
    private static final double HIGH_RATIO = 3.3;
    /** The one size of the slow tier in the paper's Figure 7b. */
    private static final double PAPERS_SLOW_TIMES = 20;

    private static final double MANY_READS_PERCENT = 70;
    private static final List<DesignKind> OTHERS =
            List.of(DesignKind.NO_DEDUP, DesignKind.ALL_DEDUP, DesignKind.FAST_TIER_NO_DEDUP);

    /** The runs of all designs at one value of a sweep. */
    private record Point(Sweep sweep, double value, Map<DesignKind, TieringRun.Result> results) {
        TieringRun.Result of(DesignKind kind) {
            TieringRun.Result result = results.get(kind);
            if (result == null) {
                throw new IllegalArgumentException(kind.label() + " was not run");
            }
            return result;
        }

        /** Returns the number of TDDFS divided by that of another design. */
        double ratio(DesignKind other, ToDoubleFunction<TieringRun.Result> number) {
            return number.applyAsDouble(of(DesignKind.TDDFS)) / number.applyAsDouble(of(other));
        }
    }

    /** Those that show what is migrated. */
    private static final List<Figure> FIGURE_6 = List.copyOf(EnumSet.range(Figure.F6A, Figure.F6H));

    private final Collection<Figure> figures;
    private final List<Point> points;

    private Claims(Collection<Figure> figures, List<Point> points) {
        this.figures = figures;
        this.points = points;
    }

    /**
     * A statement and what came out.
     *
     * @param statement what the paper says
     * @param compared what is compared, and over which runs
     * @param value what came out
     * @param limit what it may be at most, or at least
     * @param isMet whether it is
     */
    record Claim(String statement, String compared, double value, double limit, boolean isMet) {
        private static Claim atMost(String statement, String compared, double value, double limit) {
            return new Claim(statement, compared, value, limit, value <= limit);
        }

        private static Claim atLeast(String statement, String compared, double value, double limit) {
            return new Claim(statement, compared, value, limit, value >= limit);
        }
    }

    /** Checks those statements that are about these figures, if the runs suffice. */
    static List<Claim> check(Collection<Figure> figures, List<SweepRunner.Row> rows) {
        Map<String, Point> points = new LinkedHashMap<>();
        for (SweepRunner.Row row : rows) {
            points.computeIfAbsent(
                            row.sweep() + " " + row.value(),
                            name -> new Point(row.sweep(), row.value(), new EnumMap<>(DesignKind.class)))
                    .results()
                    .put(row.kind(), row.result());
        }
        return new Claims(
                        figures,
                        points.values().stream()
                                .filter(point -> point.results().containsKey(DesignKind.TDDFS)
                                        && point.results().keySet().containsAll(OTHERS)
                                        && point.results().containsKey(DesignKind.SLOW_TIER_ONLY))
                                .toList())
                .check();
    }

    private List<Claim> check() {
        List<Claim> claims = new ArrayList<>();
        Predicate<Point> figure6 = point ->
                point.sweep() != Sweep.VAR_SLOW && point.of(DesignKind.NO_DEDUP).migratedBytes() > 0;
        String all = ", mean over Figure 6";
        mean(FIGURE_6, figure6, point -> point.ratio(DesignKind.NO_DEDUP, TieringRun.Result::migratedBytes))
                .ifPresent(value -> claims.add(Claim.atMost(
                        "TDDFS migrates about 10 % of NoDedup's bytes", "TDDFS / NoDedup" + all, value, 0.1)));
        mean(FIGURE_6, figure6, point -> point.ratio(DesignKind.FAST_TIER_NO_DEDUP, TieringRun.Result::migratedBytes))
                .ifPresent(value -> claims.add(Claim.atMost(
                        "TDDFS migrates about 20 % of FastTierNoDedup's bytes",
                        "TDDFS / FastTierNoDedup" + all, value, 0.2)));
        Predicate<Point> allMigrates =
                figure6.and(point -> point.of(DesignKind.ALL_DEDUP).migratedBytes() > 0);
        mean(FIGURE_6, allMigrates, point -> point.ratio(DesignKind.ALL_DEDUP, TieringRun.Result::migratedBytes))
                .ifPresent(value -> claims.add(Claim.atMost(
                        "TDDFS migrates close to AllDedup's bytes",
                        "TDDFS / AllDedup" + all + " where AllDedup migrates",
                        value,
                        CLOSE)));
        Predicate<Point> smallFast = point -> point.sweep() == Sweep.SYN_FAST && point.value() < A_THIRD_PERCENT;
        ToDoubleFunction<Point> overFastTierNoDedup =
                point -> point.ratio(DesignKind.FAST_TIER_NO_DEDUP, TieringRun.Result::megabytesPerSecond);
        least(List.of(Figure.F5C), smallFast, overFastTierNoDedup)
                .ifPresent(value -> claims.add(Claim.atLeast(
                        "with a fast tier of less than a third, TDDFS is at least as fast as FastTierNoDedup (5c)",
                        "TDDFS / FastTierNoDedup, least throughput",
                        value,
                        1)));
        least(List.of(Figure.F5C), smallFast, Claims::overBestOther)
                .ifPresent(value -> claims.add(Claim.atLeast(
                        "with a fast tier of less than a third, TDDFS is the fastest of the four (5c)",
                        "TDDFS / best other, least throughput",
                        value,
                        1)));
        least(
                        List.of(Figure.F5E),
                        point -> point.sweep() == Sweep.VAR_RATIO && point.value() > HIGH_RATIO,
                        Claims::overBestOther)
                .ifPresent(value -> claims.add(Claim.atLeast(
                        "with a deduplication ratio above 3.3, TDDFS is the fastest of the four (5e)",
                        "TDDFS / best other, least throughput",
                        value,
                        1)));
        least(
                        List.of(Figure.F5G),
                        point -> point.sweep() == Sweep.SYN_READS && point.value() > MANY_READS_PERCENT,
                        Claims::overBestOther)
                .ifPresent(value -> claims.add(Claim.atLeast(
                        "with more than 70 % reads, TDDFS is the fastest of the four (5g)",
                        "TDDFS / best other, least throughput", value, 1)));
        least(
                        List.of(Figure.F5C),
                        point -> point.sweep() == Sweep.SYN_FAST,
                        point -> point.ratio(DesignKind.SLOW_TIER_ONLY, TieringRun.Result::megabytesPerSecond))
                .ifPresent(value -> claims.add(Claim.atLeast(
                        "TDDFS is faster than SlowTierOnly (5c)", "TDDFS / SlowTierOnly, least throughput", value, 1)));
        ToDoubleFunction<Point> price = point -> point.ratio(DesignKind.ALL_DEDUP, TieringRun.Result::dollarsPerGb);
        mean(List.of(Figure.F7A), point -> point.sweep() == Sweep.VAR_RATIO, price)
                .ifPresent(value -> claims.add(Claim.atMost(
                        "a GB costs about 2 % more with TDDFS than with AllDedup (7a)",
                        "TDDFS / AllDedup, mean price", value, 1.02)));
        mean(List.of(Figure.F7B), point -> point.sweep() == Sweep.VAR_SLOW && point.value() == PAPERS_SLOW_TIMES, price)
                .ifPresent(value -> claims.add(Claim.atMost(
                        "so it does with a slow tier of 20 times the fast one (7b)",
                        "TDDFS / AllDedup, price",
                        value,
                        1.02)));
        return claims;
    }

    private static double overBestOther(Point point) {
        double best = OTHERS.stream()
                .map(point::of)
                .mapToDouble(TieringRun.Result::megabytesPerSecond)
                .max()
                .orElseThrow();
        return point.of(DesignKind.TDDFS).megabytesPerSecond() / best;
    }

    private OptionalDouble mean(List<Figure> of, Predicate<Point> wanted, ToDoubleFunction<Point> number) {
        return values(of, wanted, number).average();
    }

    private OptionalDouble least(List<Figure> of, Predicate<Point> wanted, ToDoubleFunction<Point> number) {
        return values(of, wanted, number).min();
    }

    /** Returns the numbers of the wanted points; none unless all of these figures are computed. */
    private DoubleStream values(List<Figure> of, Predicate<Point> wanted, ToDoubleFunction<Point> number) {
        return figures.containsAll(of) ? points.stream().filter(wanted).mapToDouble(number) : DoubleStream.empty();
    }
}
