package org.opendedup.sar.sim.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.restore.cache.CacheParameters;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.sim.trace.DriftingSeries;
import org.opendedup.sar.sim.trace.SeriesParameters;

/** What each policy reads of a made-up series is known: a change of these figures is a change of a policy, and to be meant. */
class RestoreCountsTest {
    private static final int CONTAINER_BYTES = 1 << 20;

    @Test
    void containerReadsAreThoseKnown() throws IOException {
        var trace = new PackedTrace(CONTAINER_BYTES, version -> version == 6);
        DriftingSeries.tell(new SeriesParameters(6, 20_000, 40, 0.08, 0.03, 0.03, 0.05, 1), trace);
        Recipe recipe = trace.recipes().get(0);
        Map<CachePolicy, Integer> reads = new EnumMap<>(CachePolicy.class);
        for (CachePolicy policy : CachePolicy.values()) {
            CacheParameters parameters = CacheParameters.of(8L * CONTAINER_BYTES, CONTAINER_BYTES);
            reads.put(
                    policy,
                    RestoreSimulation.run(recipe, trace.containers(), policy.make(parameters, ChunkHolder.NONE))
                            .containerReads());
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
