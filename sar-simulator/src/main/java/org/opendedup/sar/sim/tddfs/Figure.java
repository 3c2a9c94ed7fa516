package org.opendedup.sar.sim.tddfs;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** A figure of the paper (sections 5.2 to 5.4): one number of the runs of a sweep. */
public enum Figure {
    F5A("5a", "Throughput of Lab_trace", Sweep.LAB_FAST, Metric.THROUGHPUT),
    F5B("5b", "Latency of Lab_trace", Sweep.LAB_FAST, Metric.LATENCY),
    F5C("5c", "Throughput of Syn_trace", Sweep.SYN_FAST, Metric.THROUGHPUT),
    F5D("5d", "Latency of Syn_trace", Sweep.SYN_FAST, Metric.LATENCY),
    F5E("5e", "Throughput of Var_trace", Sweep.VAR_RATIO, Metric.THROUGHPUT),
    F5F("5f", "Latency of Var_trace", Sweep.VAR_RATIO, Metric.LATENCY),
    F5G("5g", "Throughput of Syn_trace", Sweep.SYN_READS, Metric.THROUGHPUT),
    F5H("5h", "Latency of Syn_trace", Sweep.SYN_READS, Metric.LATENCY),
    F6A("6a", "Migrated to the slow tier in Lab_trace", Sweep.LAB_FAST, Metric.DOWN),
    F6B("6b", "Migrated to the fast tier in Lab_trace", Sweep.LAB_FAST, Metric.UP),
    F6C("6c", "Migrated to the slow tier in Syn_trace", Sweep.SYN_FAST, Metric.DOWN),
    F6D("6d", "Migrated to the fast tier in Syn_trace", Sweep.SYN_FAST, Metric.UP),
    F6E("6e", "Migrated to the slow tier in Var_trace", Sweep.VAR_RATIO, Metric.DOWN),
    F6F("6f", "Migrated to the fast tier in Var_trace", Sweep.VAR_RATIO, Metric.UP),
    F6G("6g", "Migrated to the slow tier in Syn_trace", Sweep.SYN_READS, Metric.DOWN),
    F6H("6h", "Migrated to the fast tier in Syn_trace", Sweep.SYN_READS, Metric.UP),
    F7A("7a", "Price of Var_trace", Sweep.VAR_RATIO, Metric.DOLLARS),
    F7B("7b", "Price by the size of the slow tier", Sweep.VAR_SLOW, Metric.DOLLARS);

    private final String label;
    private final String title;
    private final Sweep sweep;
    private final Metric metric;

    /** A number of a run. */
    public enum Metric {
        THROUGHPUT("MB/s", TieringRun.Result::megabytesPerSecond),
        LATENCY("ms", TieringRun.Result::meanMillis),
        DOWN("GB", result -> result.downBytes() / Metric.BYTES_PER_GB),
        UP("GB", result -> result.upBytes() / Metric.BYTES_PER_GB),
        DOLLARS("$ a GB", TieringRun.Result::dollarsPerGb);

        private static final double BYTES_PER_GB = 1e9;

        private final String unit;
        private final ToDoubleFunction<TieringRun.Result> value;

        Metric(String unit, ToDoubleFunction<TieringRun.Result> value) {
            this.unit = unit;
            this.value = value;
        }

        public String unit() {
            return unit;
        }

        double of(TieringRun.Result result) {
            return value.applyAsDouble(result);
        }
    }

    Figure(String label, String title, Sweep sweep, Metric metric) {
        this.label = label;
        this.title = title;
        this.sweep = sweep;
        this.metric = metric;
    }

    /** @throws IllegalArgumentException if the paper has no such figure; names those that exist */
    public static Figure of(String label) {
        return Arrays.stream(values())
                .filter(figure -> figure.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no figure '" + label + "'; the figures are " + String.join(", ", labels())));
    }

    private static List<String> labels() {
        return Arrays.stream(values()).map(Figure::label).toList();
    }

    /** Returns the number of the figure in the paper. */
    public String label() {
        return label;
    }

    public String title() {
        return title;
    }

    public Sweep sweep() {
        return sweep;
    }

    public Metric metric() {
        return metric;
    }
}
