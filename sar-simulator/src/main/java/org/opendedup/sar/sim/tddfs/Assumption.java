package org.opendedup.sar.sim.tddfs;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * What the TDDFS paper does not say, and the model assumes otherwise than usual. Each changes one thing, so that runs
 * with and without it show how much of a difference from the paper comes from it.
 */
public enum Assumption {
    /**
     * Trace: a file's requests in lab and syn are equally likely everywhere in the fifth of the trace that most are in.
     */
    EVEN_TIMES("even-times"),
    /** Trace: a file that var replaces is overwritten, as in a trace that has reads and writes only (section 5.1). */
    OVERWRITES("overwrites"),
    /** Design: a read of {@code AllDedup} brings the whole file, as the other designs do. */
    ALL_DEDUP_FILES("all-dedup-files"),
    /** Model: migrations take no time of the devices, because they are done off-peak (section 3.2). */
    OFF_PEAK("off-peak"),
    /** Model: a look-up in the index reads the flash, as one of BloomStore can (section 4.2). */
    SLOW_INDEX("slow-index");

    private final String label;

    Assumption(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    /** @throws IllegalArgumentException if there is no such assumption; names those that exist */
    static Assumption of(String label) {
        return Arrays.stream(values())
                .filter(assumption -> assumption.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no assumption '" + label
                        + "'; the assumptions are "
                        + Arrays.stream(values())
                                .map(assumption -> assumption.label)
                                .collect(Collectors.joining(", "))));
    }
}
