package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;

/** The contract of every policy; {@link TestReader} checks it at each step. */
class ContainerCacheContractTest {
    private final Random random = new Random(TestSeed.next());

    @ParameterizedTest
    @EnumSource
    void cacheAndHolderAgreeAndTheMemoryIsKept(CachePolicy policy) {
        for (int i = 0; i < 100; i++) {
            TestRecipe recipe = TestRecipe.random(random, 3 + random.nextInt(30), 300, 10);
            // From less than a chunk to all chunks.
            CacheParameters parameters = CacheParameters.of(1 + random.nextInt(1 << random.nextInt(12)), 60)
                    .withLogShare(random.nextInt(10) / 10.0)
                    .withCounting(
                            random.nextBoolean() ? CacheParameters.Counting.BLOOM : CacheParameters.Counting.EXACT);
            int stepReferences = 1 + random.nextInt(1 << random.nextInt(7));
            TestReader.read(recipe, policy, parameters, stepReferences, random.nextBoolean());
        }
    }

    @ParameterizedTest
    @EnumSource
    void withMemoryForAllEachContainerIsReadOnce(CachePolicy policy) {
        TestRecipe recipe = TestRecipe.random(random, 20, 500, 10);
        CacheParameters parameters = CacheParameters.of(1 << 20, 60);
        int different = (int) Arrays.stream(recipe.chunkIds())
                .map(ChunkId::container)
                .distinct()
                .count();
        assertEquals(
                different,
                TestReader.read(recipe, policy, parameters.withLogShare(0), 1, false)
                        .size());
    }

    @Test
    void aCacheThatTellsItsHolderNothingIsCaught() {
        // The control: the reader's checks must detect a policy that keeps a chunk without reporting it.
        TestRecipe recipe = TestRecipe.random(random, 20, 100, 10);
        assertThrows(
                AssertionError.class,
                () -> TestReader.read(
                        recipe, 1000, holder -> CachePolicy.LRU.make(CacheParameters.of(1000, 60), ChunkHolder.NONE)));
    }
}
