package org.opendedup.sar.sim.tddfs;

import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.sim.tddfs.trace.TraceShape;

/** A parameter that the paper varies, with its values (sections 5.2 to 5.4). */
public enum Sweep {
    LAB_FAST(TraceShape.LAB, Parameter.FAST_PERCENT, 100, 50, 33, 25, 20),
    SYN_FAST(TraceShape.SYN, Parameter.FAST_PERCENT, 100, 50, 33, 25, 20),
    /** Fast tier of 25 %. */
    VAR_RATIO(TraceShape.VAR, Parameter.DEDUP_RATIO, 1, 1.5, 2, 2.5, 3, 3.3, 4, 4.6),
    /** Fast tier of 25 %, deduplication ratio 3. */
    SYN_READS(TraceShape.SYN, Parameter.READ_PERCENT, 90, 70, 50, 30, 10),
    /** Slow tiers of 1 to 20 times the fast one, deduplication ratio 4. */
    VAR_SLOW(TraceShape.VAR, Parameter.SLOW_TIMES, 1, 2, 5, 10, 20);

    private static final double PERCENT = 100;
    private static final double USUAL_FAST_SHARE = 0.25;
    private static final double SLOW_RATIO = 4;

    private final TraceShape shape;
    private final Parameter parameter;
    private final List<Double> points;

    /** A parameter of a run. */
    public enum Parameter {
        FAST_PERCENT("fast tier, % of the files"),
        DEDUP_RATIO("deduplication ratio"),
        READ_PERCENT("reads, % of the requests"),
        SLOW_TIMES("slow tier, times the fast one");

        private final String title;

        Parameter(String title) {
            this.title = title;
        }

        /** Returns the name with the unit. */
        public String title() {
            return title;
        }
    }

    Sweep(TraceShape shape, Parameter parameter, double... values) {
        this.shape = shape;
        this.parameter = parameter;
        this.points = Arrays.stream(values).boxed().toList();
    }

    public TraceShape shape() {
        return shape;
    }

    public Parameter parameter() {
        return parameter;
    }

    /** Returns the values, in the order of the paper. */
    public List<Double> points() {
        return points;
    }

    double fastShare(double value) {
        return switch (parameter) {
            case FAST_PERCENT -> value / PERCENT;
            case SLOW_TIMES -> 1 / (1 + value);
            case DEDUP_RATIO, READ_PERCENT -> USUAL_FAST_SHARE;
        };
    }

    double dedupRatio(double value) {
        return switch (parameter) {
            case DEDUP_RATIO -> value;
            case SLOW_TIMES -> SLOW_RATIO;
            case FAST_PERCENT, READ_PERCENT -> shape.dedupRatio();
        };
    }

    double readShare(double value) {
        return parameter == Parameter.READ_PERCENT ? value / PERCENT : shape.readShare();
    }
}
