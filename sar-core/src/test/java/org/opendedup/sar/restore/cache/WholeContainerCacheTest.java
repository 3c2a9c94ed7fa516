package org.opendedup.sar.restore.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

/** Whole-container policies read exactly the containers that their models in {@link NaiveCaches} read. */
class WholeContainerCacheTest {
    private static final int RECIPES = 60;
    private static final int CHUNK_BYTES = 10;

    private final Random random = new Random(TestSeed.next());

    @Test
    void lruReadsWhatItsModelReads() {
        readsAsModel(CachePolicy.LRU, NaiveCaches::lru);
    }

    @Test
    void optReadsWhatItsModelReads() {
        readsAsModel(CachePolicy.OPT, NaiveCaches::opt);
    }

    @Test
    void lookaheadBaseReadsWhatItsModelReads() {
        readsAsModel(CachePolicy.LOOKAHEAD_BASE, NaiveCaches::lookaheadBase);
    }

    @Test
    void lookaheadLogReadsWhatItsModelReads() {
        readsAsModel(CachePolicy.LOOKAHEAD_LOG, NaiveCaches::lookaheadLog);
    }

    @Test
    void theModelsTellPoliciesApart() {
        // The control of the four above: a policy with another rule than its model's reads other containers.
        CacheParameters parameters = CacheParameters.of(300, 60).withWindowContainers(20);
        TestRecipe recipe = TestRecipe.random(random, 20, 400, CHUNK_BYTES);
        assertNotEquals(
                new NaiveCaches(recipe, parameters).lookaheadBase(),
                TestReader.read(recipe, CachePolicy.LRU, parameters));
        assertNotEquals(
                new NaiveCaches(recipe, parameters.withHotThreshold(1)).lookaheadLog(),
                TestReader.read(recipe, CachePolicy.LOOKAHEAD_LOG, parameters.withHotThreshold(0)));
    }

    @Test
    void withContainersOfOneSizeNoneReadsFewerThanOpt() {
        for (int i = 0; i < RECIPES; i++) {
            TestRecipe recipe = ofOneSize(TestRecipe.random(random, 15, 300, CHUNK_BYTES));
            CacheParameters parameters = CacheParameters.of((1 + random.nextInt(8)) * 40L, 40);
            int opt = TestReader.read(recipe, CachePolicy.OPT, parameters).size();
            for (CachePolicy policy : List.of(CachePolicy.LRU, CachePolicy.LOOKAHEAD_BASE)) {
                int reads = TestReader.read(recipe, policy, parameters).size();
                assertTrue(opt <= reads, policy + " " + reads + " < " + opt);
            }
        }
    }

    /** Each container has four chunks of ten bytes. */
    private static TestRecipe ofOneSize(TestRecipe recipe) {
        int[][] lengths = new int[recipe.lengths().length][];
        for (int container = 1; container < lengths.length; container++) {
            lengths[container] = new int[] {CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES};
        }
        long[] chunkIds = recipe.chunkIds().clone();
        for (int i = 0; i < chunkIds.length; i++) {
            chunkIds[i] &= ~0xCL;
        }
        return new TestRecipe(lengths, chunkIds);
    }

    private void readsAsModel(CachePolicy policy, Function<NaiveCaches, List<Integer>> model) {
        for (int i = 0; i < RECIPES; i++) {
            TestRecipe recipe = TestRecipe.random(random, 5 + random.nextInt(25), 400, CHUNK_BYTES);
            CacheParameters parameters = CacheParameters.of(50 + random.nextInt(600), 60)
                    .withWindowContainers(1 + random.nextInt(30))
                    .withLogShare(random.nextInt(10) / 10.0)
                    .withHotThreshold(random.nextDouble());
            assertEquals(
                    model.apply(new NaiveCaches(recipe, parameters)),
                    TestReader.read(recipe, policy, parameters),
                    () -> policy + " " + parameters);
        }
    }
}
