package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

/** The policies that keep chunks read exactly the containers that their model reads. */
class WantedChunksCacheTest {
    private static final int CONTAINER_BYTES = 60;

    private final Random random = new Random(TestSeed.next());

    @Test
    void defaultReadsWhatItsModelReads() {
        for (int i = 0; i < 40; i++) {
            TestRecipe recipe = TestRecipe.random(random, 5 + random.nextInt(25), 400, 10);
            CacheParameters parameters = CacheParameters.of(20 + random.nextInt(400), CONTAINER_BYTES)
                    .withWindowContainers(1 + random.nextInt(60));
            assertEquals(
                    model(recipe, parameters).reads(),
                    TestReader.read(recipe, CachePolicy.DEFAULT, parameters),
                    parameters::toString);
        }
    }

    @Test
    void assemblyReadsWhatItsModelReads() {
        for (int i = 0; i < 40; i++) {
            TestRecipe recipe = TestRecipe.random(random, 5 + random.nextInt(25), 400, 10);
            CacheParameters parameters = CacheParameters.of(20 + random.nextInt(400), CONTAINER_BYTES);
            assertEquals(
                    new NaiveWantedChunks(recipe, parameters.memoryBytes(), parameters.memoryBytes()).reads(),
                    TestReader.read(recipe, CachePolicy.ASSEMBLY, parameters),
                    parameters::toString);
        }
    }

    @Test
    void theModelTellsWindowsApart() {
        // The control of the two above.
        TestRecipe recipe = TestRecipe.random(random, 20, 400, 10);
        CacheParameters parameters = CacheParameters.of(150, CONTAINER_BYTES).withWindowContainers(20);
        assertNotEquals(
                model(recipe, parameters.withWindowContainers(2)).reads(),
                TestReader.read(recipe, CachePolicy.DEFAULT, parameters));
    }

    @Test
    void overManyRecipesItReadsLessThanEveryOtherPolicy() {
        Map<CachePolicy, Integer> reads = new EnumMap<>(CachePolicy.class);
        for (int i = 0; i < 20; i++) {
            TestRecipe recipe = TestRecipe.random(random, 30, 600, 10);
            for (CachePolicy policy : CachePolicy.values()) {
                List<Integer> read = TestReader.read(recipe, policy, CacheParameters.of(400, CONTAINER_BYTES));
                reads.merge(policy, read.size(), Integer::sum);
            }
        }
        reads.forEach((policy, count) -> assertTrue(reads.get(CachePolicy.DEFAULT) <= count, reads::toString));
    }

    private static NaiveWantedChunks model(TestRecipe recipe, CacheParameters parameters) {
        return new NaiveWantedChunks(
                recipe, parameters.memoryBytes(), (long) parameters.windowContainers() * CONTAINER_BYTES);
    }
}
