package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class CachePolicyTest {
    private static final CacheParameters DEFAULTS = CacheParameters.of(32 << 20, 4 << 20);

    @Test
    void eachPolicyIsFoundByItsName() {
        for (String label : List.of("lru", "opt", "assembly", "lookahead-base", "lookahead-log", "default")) {
            assertEquals(label, CachePolicy.of(label).label());
        }
        String message = assertThrows(IllegalArgumentException.class, () -> CachePolicy.of("LRU"))
                .getMessage();
        assertTrue(message.contains("lru, opt, assembly"), message);
    }

    @Test
    void windowsAreThoseOfThePolicies() {
        assertEquals(0, windowBytes(CachePolicy.LRU, DEFAULTS));
        assertEquals(Long.MAX_VALUE, windowBytes(CachePolicy.OPT, DEFAULTS));
        assertEquals(32 << 20, windowBytes(CachePolicy.ASSEMBLY, DEFAULTS));
        assertEquals(16 << 20, windowBytes(CachePolicy.LOOKAHEAD_BASE, DEFAULTS));
        assertEquals(512 << 20, windowBytes(CachePolicy.DEFAULT, DEFAULTS));
        assertEquals(40 << 20, windowBytes(CachePolicy.DEFAULT, DEFAULTS.withWindowContainers(10)));
        assertEquals(32 << 20, windowBytes(CachePolicy.ASSEMBLY, DEFAULTS.withWindowContainers(10)));
    }

    private static long windowBytes(CachePolicy policy, CacheParameters parameters) {
        return policy.make(parameters, ChunkHolder.NONE).windowBytes();
    }

    @Test
    void parametersOutOfRangeAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> CacheParameters.of(0, 1));
        assertThrows(IllegalArgumentException.class, () -> CacheParameters.of(1, 0));
        assertThrows(IllegalArgumentException.class, () -> DEFAULTS.withWindowContainers(-1));
        assertThrows(IllegalArgumentException.class, () -> DEFAULTS.withLogShare(0.95));
        assertThrows(IllegalArgumentException.class, () -> DEFAULTS.withLogShare(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> DEFAULTS.withHotThreshold(1.1));
    }
}
