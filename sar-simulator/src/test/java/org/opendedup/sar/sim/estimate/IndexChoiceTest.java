package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.index.chunkstash.ChunkStashIndexFactory;
import org.opendedup.sar.index.silo.SiloSettings;
import org.opendedup.sar.volume.config.MemoryPlan;

class IndexChoiceTest {
    private static final long MIB = 1 << 20;
    private static final long GIB = 1L << 30;
    private static final int CHUNK = 8192;

    private static Estimate.Index choice(long chunks, long ram, boolean ssd) {
        return new IndexChoice(chunks, (double) chunks * CHUNK, new IndexChoice.Conditions(ram, ssd, 0)).choose();
    }

    private static long indexBytes(long budget, IndexClass kind) {
        MemoryPlan plan = MemoryPlan.of(budget, kind);
        return plan.indexHeap() + plan.indexNative();
    }

    @Test
    void anExactOneThatHasTheMemoryComesFirst() {
        for (long chunks : new long[] {0, 1, 1_000_000, 10_000_000}) {
            assertEquals("rocksdb", choice(chunks, GIB, false).indexClass());
            assertEquals("chunkstash", choice(chunks, GIB, true).indexClass());
            assertTrue(choice(chunks, GIB, true).exact());
        }
        // The filters of RocksDB fit where ChunkStash's table does not.
        Estimate.Index between = choice(40_000_000, GIB, true);
        assertEquals("rocksdb", between.indexClass());
        assertTrue(between.reason().contains("chunkstash would need"), between.reason());
    }

    @Test
    void duplicatesAreGivenUpOnlyIfNoExactOneFits() {
        Estimate.Index samples = choice(200_000_000, GIB, true);
        assertEquals("chunkstash", samples.indexClass());
        assertFalse(samples.exact());
        assertEquals(16, samples.sampling());
        Estimate.Index silo = choice(200_000_000, GIB, false);
        assertEquals("silo", silo.indexClass());
        assertFalse(silo.exact());
        assertTrue(silo.budgetBytes() <= GIB, silo::toString);
        assertEquals("silo", choice(2_000_000_000L, GIB, true).indexClass(), "1/64 would be too few samples");
    }

    @Test
    void whatDoesNotFitEitherSaysSo() {
        Estimate.Index none = choice(10_000_000_000L, GIB, false);
        assertEquals("silo", none.indexClass());
        assertTrue(none.budgetBytes() > GIB, none::toString);
        assertTrue(none.reason().contains("--ram is too small"), none.reason());
    }

    /** With the budget that is named a volume's index has the memory, and with less it has not. */
    @Test
    void theBudgetIsTheSmallestThatSuffices() {
        Estimate.Index stash = choice(30_000_000, 8 * GIB, true);
        assertEquals("chunkstash", stash.indexClass());
        assertTrue(stashTable(stash.budgetBytes()) >= stash.memoryBytes(), stash::toString);
        assertTrue(stashTable(stash.budgetBytes() - MIB) < stash.memoryBytes(), stash::toString);
        Estimate.Index silo = choice(2_000_000_000L, 8 * GIB, false);
        assertEquals("silo", silo.indexClass());
        long table = silo.memoryBytes() - SiloSettings.MIN_MEMORY_BYTES;
        assertTrue(siloTable(silo.budgetBytes()) >= table, silo::toString);
        assertTrue(siloTable(silo.budgetBytes() - MIB) < table, silo::toString);
    }

    private static long stashTable(long budget) {
        return ChunkStashIndexFactory.settings(indexBytes(budget, IndexClass.CHUNKSTASH), IndexParameters.NONE)
                .tableBytes();
    }

    private static long siloTable(long budget) {
        return SiloSettings.of(indexBytes(budget, IndexClass.SILO)).similarityBytes();
    }

    @Test
    void theExpectedDataReplaceTheExaminedOnes() {
        Estimate.Index index =
                new IndexChoice(100, 100.0 * CHUNK, new IndexChoice.Conditions(GIB, true, 1000L * CHUNK)).choose();
        assertEquals(1000, index.chunks());
    }
}
