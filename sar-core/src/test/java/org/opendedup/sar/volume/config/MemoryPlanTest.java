package org.opendedup.sar.volume.config;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.index.IndexClass;

class MemoryPlanTest {
    private static final long MIB = 1 << 20;

    private static VolumeConfig config(long budget, int writeThreads, int requestThreads, boolean ssd) {
        VolumeConfig config = new VolumeConfig(
                        "pool0",
                        1L << 40,
                        95,
                        new VolumeConfig.Locations(Path.of("/d"), Path.of("/m"), Path.of("/h")),
                        Chunking.VARIABLE_SHA256,
                        new Compression(Compression.Codec.ZSTD, 3, 256 << 10),
                        256 << 10,
                        budget,
                        writeThreads,
                        new VolumeConfig.RootDirectory(0755, 0, 0))
                .withRequests(new RequestBuffers(requestThreads, 2 * MIB * requestThreads));
        return ssd
                ? config.withSsd(
                        Path.of("/ssd"),
                        new HotSettings(
                                true, 1L << 30, 5, 128 << 10, true, 1_000_000, HotSettings.Policy.REFERENCE_COUNT))
                : config;
    }

    @ParameterizedTest
    @CsvSource({
        "256, 2, 8, false",
        "256, 2, 8, true",
        "256, 32, 8, false",
        "256, 32, 8, true",
        "512, 8, 8, true",
        "512, 64, 64, true",
        "1024, 2, 8, false",
        "1024, 2, 36, false",
        "1024, 64, 64, true",
        "16384, 256, 64, true"
    })
    void thePartsAreWithinTheBudgetAndWhatTheHeapHoldsIsWithinTwoThirdsOfIt(
            long mib, int writeThreads, int requestThreads, boolean ssd) {
        for (IndexClass index : IndexClass.values()) {
            VolumeConfig config =
                    config(mib * MIB, writeThreads, requestThreads, ssd).withIndex(index);
            assertDivided(MemoryPlan.of(config), requestThreads);
            assertDivided(MemoryPlan.ofChunks(config), requestThreads);
        }
    }

    private static void assertDivided(MemoryPlan plan, int requestThreads) {
        long parts = plan.heap()
                + plan.indexNative()
                + plan.metadataNative()
                + plan.tierNative()
                + plan.direct()
                + plan.compressors()
                + plan.checkNative();
        assertTrue(parts <= plan.budget(), parts + " of " + plan.budget());
        long held = plan.restoreCache()
                + plan.dirty()
                + plan.streamLogs()
                + plan.pendingMetadata()
                + plan.metadataCache()
                + plan.frameTables()
                + plan.framesInFlight()
                + plan.indexHeap()
                + plan.nodes()
                + plan.openFiles()
                + plan.hot()
                + plan.offers();
        assertTrue(held <= 2 * plan.heap() / 3, held + " of a heap of " + plan.heap());
        long atWork = held + plan.segments() + plan.check() + 41 * MIB + 2 * plan.waitingChanges();
        assertTrue(atWork <= plan.heap(), atWork + " of a heap of " + plan.heap());
        assertTrue(plan.parallelRuns() >= 2, plan.parallelRuns() + " runs");
        assertTrue(plan.direct() >= requestThreads * 2 * MIB + plan.transfers());
    }

    @Test
    void aVolumeOfChunksReadsWithWhatFilesHaveForDirtyData() {
        VolumeConfig config = config(1 << 30, 2, 0, false);
        MemoryPlan files = MemoryPlan.of(config);
        MemoryPlan chunks = MemoryPlan.ofChunks(config);
        assertEquals(0, chunks.dirty());
        assertEquals(0, files.streamLogs());
        assertEquals(11 * MIB, chunks.streamLogs());
        assertEquals(files.restoreCache() + files.dirty() - 11 * MIB, chunks.restoreCache());
        assertEquals(files.heap(), chunks.heap());
    }

    /** A check sorts in less memory where the budget is small, and needs no more where it is large. */
    @ParameterizedTest
    @CsvSource({"256, 4, 4", "1024, 16, 16", "4096, 65, 32", "262144, 72, 32"})
    void aCheckHasAShare(long mib, long checkMib, long nativeMib) {
        MemoryPlan plan = MemoryPlan.of(mib * MIB);
        assertEquals(checkMib, plan.check() / MIB);
        assertEquals(nativeMib, plan.checkNative() / MIB);
        assertTrue(plan.checkTuples() + plan.checkTuples() / 2 <= plan.check(), plan::toString);
    }

    @Test
    void threadsThatServeRequestsRaiseTheLimitOfBuffers() {
        long few = MemoryPlan.of(config(1 << 30, 2, 8, false)).direct();
        long many = MemoryPlan.of(config(1 << 30, 2, 36, false)).direct();
        assertTrue(many - few >= 28 * 2 * MIB, few + ", " + many);
    }

    @Test
    void aLargeBudgetKeepsItsSharesWhateverTheThreads() {
        MemoryPlan plan = MemoryPlan.of(config(4L << 30, 2, 8, false));
        assertEquals((4L << 30) / 1000 * 710, plan.heap());
        assertEquals((4L << 30) / 1000 * 180, plan.restoreCache());
    }

    /** A commit is one batch in native memory: a quarter of the database's memory is outside its cache. */
    @ParameterizedTest
    @CsvSource({"256, 6", "1024, 29", "4096, 122", "16384, 128", "262144, 128"})
    void aCommitStaysSmallHoweverLargeTheBudget(long mib, long pendingMib) {
        MemoryPlan plan = MemoryPlan.of(mib * MIB);
        assertEquals(pendingMib, plan.pendingMetadata() / MIB);
        assertTrue(plan.pendingMetadata() / 2 <= plan.metadataNative() / 8, plan + " for the batch");
        // Decoded metadata has the rest.
        assertTrue(
                plan.pendingMetadata() + plan.metadataCache() >= 79 * plan.restoreCache() / 180,
                plan + " for decoded metadata");
    }

    @ParameterizedTest
    @CsvSource({"256, 8, true", "2, 64, false", "256, 64, true"})
    void aBudgetThatIsTooSmallIsRefusedWithTheLeastThatIsNot(int writeThreads, int requestThreads, boolean ssd) {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> MemoryPlan.of(config(256 * MIB, writeThreads, requestThreads, ssd)));
        String words = String.valueOf(refused.getMessage());
        String start = "a memory budget of 256MB is too small for " + writeThreads + " write threads and "
                + requestThreads + " threads that serve requests; at least ";
        assertTrue(words.startsWith(start) && words.endsWith(" are needed"), words);
        long least = ByteSize.parse(words.substring(start.length(), words.length() - " are needed".length()));
        assertDoesNotThrow(() -> MemoryPlan.of(config(least, writeThreads, requestThreads, ssd)));
        assertThrows(
                IllegalArgumentException.class,
                () -> MemoryPlan.of(config(least - MIB, writeThreads, requestThreads, ssd)));
    }
}
