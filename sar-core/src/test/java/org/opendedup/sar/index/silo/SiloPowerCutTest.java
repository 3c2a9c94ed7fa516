package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.io.CrashDirectory;

/**
 * Power cuts after which the records lead: all of them reached the disk, and of the block files only what was made
 * durable.
 */
class SiloPowerCutTest {
    private static final int SEGMENT = SiloChunkIndexTest.SEGMENT;

    @TempDir
    Path folder;

    @Test
    void recordsThatReachedTheDiskNeverNameABlockThatDidNot() throws IOException {
        long seed = TestSeed.next();
        int covered = 0;
        for (int round = 0; round < 12; round++) {
            Outcome outcome = cut(seed + round, round, false);
            assertEquals(0, outcome.lostBlocks, "seed " + seed + ", round " + round);
            assertEquals(List.of(), outcome.incomplete, "seed " + seed + ", round " + round);
            covered += outcome.covered;
        }
        assertTrue(covered > 30, covered + " containers were covered after the cuts");
    }

    /** The control: the same cuts of a disk that makes nothing durable when it is asked to. */
    @Test
    void controlADiskThatMakesNothingDurableLosesBlocks() throws IOException {
        int lostBlocks = 0;
        for (int round = 0; round < 12; round++) {
            Outcome outcome = cut(round, round, true);
            lostBlocks += outcome.lostBlocks;
            assertEquals(List.of(), outcome.incomplete, "what is lost is not covered any more");
        }
        assertTrue(lostBlocks > 0);
    }

    /** @param incomplete covered containers of which a fingerprint is not found */
    private record Outcome(int lostBlocks, int covered, List<Long> incomplete) {}

    private Outcome cut(long seed, int round, boolean forceDoesNothing) throws IOException {
        Random random = new Random(seed);
        CrashDirectory files = new CrashDirectory(seed, forceDoesNothing);
        Path database = folder.resolve("database" + forceDoesNothing + round);
        SiloRecords records = SiloRecords.open(database, 4 << 20);
        SiloChunkIndex index = new SiloChunkIndex(records, new BlockFiles(files), SiloChunkIndexTest.SMALL);
        int containers = 5 + random.nextInt(30);
        for (int container = 1; container <= containers; container++) {
            TestSegments.store(index, (long) container * SEGMENT, SEGMENT, container);
            index.cover(container, new byte[] {1});
            if (random.nextInt(8) == 0) {
                index.flush();
            }
        }
        CrashDirectory after = files.crash(random.nextLong());
        records.close();
        try (SiloChunkIndex found = SiloChunkIndexTest.open(database, after)) {
            List<Long> incomplete = new ArrayList<>();
            for (int container = 1; container <= containers; container++) {
                boolean isWhole = TestSegments.found(found, (long) container * SEGMENT, SEGMENT, container) == SEGMENT;
                if (!isWhole && found.frameTable(container) != null) {
                    incomplete.add((long) container);
                }
            }
            int covered = CoveredContainers.of(found).size();
            return new Outcome((int) found.numbers().lostBlocks(), covered, incomplete);
        }
    }
}
