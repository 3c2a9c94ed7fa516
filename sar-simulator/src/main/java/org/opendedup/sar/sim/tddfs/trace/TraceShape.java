package org.opendedup.sar.sim.tddfs.trace;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The three workloads of the TDDFS paper (section 5.1, Table 2). */
public enum TraceShape {
    /** A file server of a laboratory for a week: mostly uploads and updates. */
    LAB("lab", 2_400, 39_000, 22_000_000_000L, 0.10, 4.1),
    /** Filebench's varmail. The paper varies its deduplication ratio from 1 to 4.6. */
    VAR("var", 10_000, 32_000, 5_000_000_000L, 0.45, 3),
    /** Synthetic, with good locality. The paper varies the share of reads from 10 to 90 %. */
    SYN("syn", 5_000, 100_000, 100_000_000_000L, 0.80, 3);

    private final String label;
    private final int files;
    private final int requests;
    private final long totalBytes;
    private final double readShare;
    private final double dedupRatio;

    TraceShape(String label, int files, int requests, long totalBytes, double readShare, double dedupRatio) {
        this.label = label;
        this.files = files;
        this.requests = requests;
        this.totalBytes = totalBytes;
        this.readShare = readShare;
        this.dedupRatio = dedupRatio;
    }

    /** @throws IllegalArgumentException if there is no such workload; names those that exist */
    public static TraceShape of(String label) {
        return Arrays.stream(values())
                .filter(shape -> shape.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no workload '" + label + "'; the workloads are " + String.join(", ", labels())));
    }

    private static List<String> labels() {
        return Arrays.stream(values()).map(TraceShape::label).collect(Collectors.toList());
    }

    /** Returns the name on the command line. */
    public String label() {
        return label;
    }

    public int files() {
        return files;
    }

    public int requests() {
        return requests;
    }

    /** Returns the bytes of all files. */
    public long totalBytes() {
        return totalBytes;
    }

    /** Returns the share of reads in the paper; of {@link #SYN}, the one of Figure 5c. */
    public double readShare() {
        return readShare;
    }

    /** Returns the bytes of the files divided by those of their different chunks; of {@link #VAR} an arbitrary one. */
    public double dedupRatio() {
        return dedupRatio;
    }
}
