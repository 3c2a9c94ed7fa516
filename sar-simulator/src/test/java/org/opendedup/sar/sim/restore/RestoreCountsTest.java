package org.opendedup.sar.sim.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.sim.trace.DriftingSeries;
import org.opendedup.sar.sim.trace.SeriesParameters;

/**
 * What each policy reads of a made-up series is known: a change of these figures is a change of a policy, and to be
 * meant.
 */
class RestoreCountsTest {
    private static final int CONTAINER_BYTES = 1 << 20;

    private final PackedTrace trace = new PackedTrace(CONTAINER_BYTES, version -> version == 6);
    private Recipe recipe = new Recipe(0, 0);

    @BeforeEach
    void makeSeries() throws IOException {
        DriftingSeries.emit(new SeriesParameters(6, 20_000, 40, 0.08, 0.03, 0.03, 0.05, 1), trace);
        recipe = trace.recipes().get(0);
    }

    private int reads(CachePolicy policy, CacheParameters parameters) {
        return RestoreSimulation.run(recipe, trace.containers(), policy.make(parameters, ChunkHolder.NONE))
                .containerReads();
    }

    /**
     * How the lookahead paper counts and what it calls hot. A filter whose counters stick reads far more than exact
     * counts.
     */
    @Test
    void containerReadsOfThePapersFilterAndThresholdAreThoseKnown() {
        CacheParameters paper = CacheParameters.of(8L * CONTAINER_BYTES, CONTAINER_BYTES)
                .withHotThreshold(CacheParameters.PAPER_HOT_THRESHOLD);
        CacheParameters filter = paper.withCounting(CacheParameters.Counting.BLOOM);
        assertEquals(
                List.of(279, 292, 289, 294),
                List.of(
                        reads(CachePolicy.LOOKAHEAD_BASE, paper),
                        reads(CachePolicy.LOOKAHEAD_LOG, paper),
                        reads(CachePolicy.LOOKAHEAD_BASE, filter),
                        reads(CachePolicy.LOOKAHEAD_LOG, filter)));
    }

    @Test
    void containerReadsAreThoseKnown() {
        Map<CachePolicy, Integer> reads = new EnumMap<>(CachePolicy.class);
        for (CachePolicy policy : CachePolicy.values()) {
            CacheParameters parameters = CacheParameters.of(8L * CONTAINER_BYTES, CONTAINER_BYTES);
            reads.put(policy, reads(policy, parameters));
        }
        assertEquals(214, trace.floor(recipe));
        assertEquals(
                Map.of(
                        CachePolicy.LRU, 348,
                        CachePolicy.OPT, 247,
                        CachePolicy.ASSEMBLY, 302,
                        CachePolicy.LOOKAHEAD_BASE, 279,
                        CachePolicy.LOOKAHEAD_LOG, 292,
                        CachePolicy.DEFAULT, 220),
                reads);
    }
}
