package org.opendedup.sar.sim.sar;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The systems that are compared. */
enum SystemKind {
    /** Without deduplication. */
    NATIVE(false),
    /** Deduplication alone. */
    DEDUPE(false),
    /** Native with an SSD cache by address. */
    CACHE_LBA(true),
    /** Deduplication with an SSD cache, which then caches by content. */
    CACHE_CONTENT(true),
    /** SAR with the paper's rule. */
    SAR(true),
    /** SAR with the cost policy. */
    SAR_COST(true);

    private final boolean hasSsd;

    SystemKind(boolean hasSsd) {
        this.hasSsd = hasSsd;
    }

    boolean hasSsd() {
        return hasSsd;
    }

    /** Returns the name as in commands and reports: {@code cache-lba}. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static List<String> labels() {
        return Arrays.stream(values()).map(SystemKind::label).toList();
    }

    /** @throws IllegalArgumentException if there is no such system; lists the names */
    static SystemKind of(String label) {
        return Arrays.stream(values())
                .filter(kind -> kind.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no system '" + label + "'; the systems are " + String.join(", ", labels())));
    }

    /**
     * Makes an empty system.
     *
     * @param ssdBytes size of its SSD, if it has one
     */
    StorageSystem create(DiskPlaces places, long ssdBytes, int threshold, DedupMap.Counting counting) {
        return switch (this) {
            case NATIVE -> new NativeSystem(places);
            case DEDUPE -> new DedupeSystem(places);
            case CACHE_LBA -> new CacheSystem(new NativeSystem(places), ssdBytes);
            case CACHE_CONTENT -> new CacheSystem(new DedupeSystem(places), ssdBytes);
            case SAR, SAR_COST -> {
                DedupMap map = new DedupMap(counting);
                SarTier.Rule rule = new SarTier.Rule(this == SAR_COST, threshold);
                yield new SarSystem(places, map, new SarTier(ssdBytes, rule, map));
            }
        };
    }
}
