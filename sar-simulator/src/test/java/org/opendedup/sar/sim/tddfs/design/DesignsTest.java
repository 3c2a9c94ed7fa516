package org.opendedup.sar.sim.tddfs.design;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.Recipe;
import org.opendedup.sar.sim.tddfs.tier.Traffic;

/** Tiny traces, whose migrated bytes are computed by hand. The fast tier has place for one of two files. */
class DesignsTest {
    private static final int A = 0;
    private static final int B = 1;
    private static final long SIZE = 60_000;

    private final HotFixture fixture = new HotFixture();

    /** Writes A and B, so that A leaves; reads A, so that B leaves; reads B, so that A leaves again. */
    private Traffic.Totals swapTwice(Design design) {
        design.create(A, SIZE);
        design.create(B, SIZE);
        design.read(A, 0, 1000);
        design.read(B, 0, 1000);
        return fixture.traffic.totals();
    }

    @Test
    void noDedupMovesWholeFiles() {
        Design design = new NoDedup(fixture.tiers());
        assertEquals(new Traffic.Totals(3 * SIZE, 3 * SIZE, 2 * SIZE, 2 * SIZE, 0), swapTwice(design));
        assertEquals(SIZE, design.fastBytes());
        assertEquals(SIZE, design.slowBytes());
    }

    @Test
    void fastTierNoDedupReadsWholeFilesAndWritesWhatTheSlowTierHasNot() {
        assertEquals(
                new Traffic.Totals(3 * SIZE, 2 * SIZE, 2 * SIZE, 2 * SIZE, 0),
                swapTwice(new FastTierNoDedup(fixture.tiers())));
    }

    @Test
    void tddfsMovesNothingForAnUnmodifiedFileThatLeavesAgain() {
        Tddfs design = new Tddfs(fixture.tiers());
        assertEquals(new Traffic.Totals(2 * SIZE, 2 * SIZE, 2 * SIZE, 2 * SIZE, 0), swapTwice(design));
        assertEquals(SIZE, design.fastBytes());
        assertEquals(2 * SIZE, design.slowBytes(), "B's chunks are garbage there");
    }

    @Test
    void afterACollectionOfTheSlowTierTddfsCopiesAnUnmodifiedFile() {
        fixture.garbageShare = 0;
        Tddfs design = new Tddfs(fixture.tiers());
        assertEquals(new Traffic.Totals(3 * SIZE, 3 * SIZE, 2 * SIZE, 2 * SIZE, 0), swapTwice(design));
        assertEquals(SIZE, design.slowBytes());
    }

    @Test
    void tddfsDeduplicatesOnlyModifiedChunksAgain() {
        Tddfs design = new Tddfs(fixture.tiers());
        design.create(A, SIZE);
        design.create(B, SIZE);
        design.read(A, 0, 1000);
        int firstChunk = design.files.get(A).chunks().bytes(0);
        design.write(A, 0, 1);
        assertEquals(SIZE, design.fastBytes(), "no other file has the chunk, so it is written over");
        design.read(B, 0, 1000);
        assertEquals(
                new Traffic.Totals(2 * SIZE + firstChunk, 2 * SIZE + firstChunk, 2 * SIZE, 2 * SIZE, 0),
                fixture.traffic.totals());
    }

    @Test
    void aWriteToALoweredFileIsNotReloaded() {
        Tddfs design = new Tddfs(fixture.tiers());
        design.create(A, SIZE);
        design.create(B, SIZE);
        int firstChunk = design.files.get(A).chunks().bytes(0);
        design.write(A, 0, SIZE);
        assertEquals(0, fixture.traffic.totals().upRead(), "all chunks are written as a whole");
        design.write(B, 1, SIZE - 1);
        int firstOfB = design.files.get(B).chunks().bytes(0);
        assertEquals(firstOfB, fixture.traffic.totals().upRead(), "only the first chunk is needed");
        assertTrue(firstChunk > 0);
        assertEquals(SIZE, design.fastBytes());
    }

    @Test
    void aChunkThatAFileHasTwiceIsReloadedOnceAndCopiedOnWrite() {
        fixture.ratio = 100;
        Tddfs design = new Tddfs(fixture.tiers());
        design.create(A, SIZE);
        design.create(B, SIZE);
        Recipe recipe = design.files.get(A).chunks();
        Set<Integer> different = new HashSet<>();
        long differentBytes = 0;
        int shared = -1;
        for (int i = 0; i < recipe.size(); i++) {
            if (different.add(recipe.entry(i))) {
                differentBytes += recipe.bytes(i);
            } else {
                shared = i;
            }
        }
        assertTrue(shared > 0, "the file has a duplicate");
        design.read(A, 0, 1000);
        assertEquals(differentBytes, fixture.traffic.totals().upRead());
        assertEquals(differentBytes, fixture.traffic.totals().upWritten());
        long before = design.fastBytes();
        long offset = 0;
        for (int i = 0; i < shared; i++) {
            offset += recipe.bytes(i);
        }
        design.write(A, offset, 1);
        assertEquals(before + recipe.bytes(shared), design.fastBytes());
    }

    @Test
    void chunksOfOtherReloadedFilesAreNotReloaded() {
        fixture.limit = 1_000_000;
        fixture.ratio = 4;
        fixture.scope = ChunkCutter.Scope.ALL;
        Tddfs design = new Tddfs(fixture.tiers());
        for (int file = 0; file < 20; file++) {
            design.create(file, 400_000);
        }
        design.read(0, 0, 1000);
        for (int file = 1; file < 4; file++) {
            long before = fixture.traffic.totals().upRead();
            Recipe recipe = design.files.get(file).chunks();
            Set<Integer> missing = new HashSet<>();
            long expected = 0;
            for (int i = 0; i < recipe.size(); i++) {
                if (!design.store.fast.isPresent(recipe.entry(i)) && missing.add(recipe.entry(i))) {
                    expected += recipe.bytes(i);
                }
            }
            design.read(file, 0, 1000);
            assertEquals(expected, fixture.traffic.totals().upRead() - before);
            assertTrue(expected < 400_000, "some of its chunks are shared");
        }
    }

    @Test
    void smallFilesStayOnTheFastTierUpToTheirShare() {
        fixture.limit = 1_000_000;
        Tddfs design = new Tddfs(fixture.tiers());
        for (int file = 0; file < 5; file++) {
            design.create(file, 10_000);
        }
        design.create(10, 600_000);
        design.create(11, 600_000);
        assertEquals(StoredFile.Place.LOWERED, design.files.get(10).place, "5 % are small files, so they stay");
        assertEquals(StoredFile.Place.RAW, design.files.get(0).place);
        design.create(5, 10_000);
        design.create(12, 600_000);
        assertEquals(StoredFile.Place.LOWERED, design.files.get(0).place, "6 % are too many");
        assertEquals(1, design.files.get(0).chunks().size());
    }

    @Test
    void recipesAboveTheirShareFollowTheirFiles() {
        fixture.recipeEntryBytes = 10_000;
        Tddfs design = new Tddfs(fixture.tiers());
        design.create(A, SIZE);
        design.create(B, SIZE);
        long recipeOfA = 10_000L * design.files.get(A).chunks().size();
        assertTrue(recipeOfA > 10_000, "more than 10 % of the fast tier");
        assertEquals(recipeOfA, fixture.traffic.totals().recipeBytes());
        assertEquals(SIZE, design.fastBytes());
        assertEquals(SIZE + recipeOfA, design.slowBytes());
        design.read(A, 0, 1);
        assertEquals(StoredFile.Place.RELOADED, design.files.get(A).place);
        assertTrue(fixture.traffic.totals().recipeBytes() >= 2 * recipeOfA, "it returned with its file");
    }

    @Test
    void allDedupMovesChunks() {
        AllDedup design = new AllDedup(fixture.tiers());
        design.create(A, SIZE);
        design.create(B, SIZE);
        Traffic.Totals made = fixture.traffic.totals();
        assertEquals(2 * SIZE, design.fastBytes() + design.slowBytes());
        assertEquals(design.slowBytes(), made.downWritten());
        assertTrue(design.fastBytes() <= 100_000 && design.fastBytes() > 100_000 - ChunkCutter.MOST_BYTES);
        int first = design.files.get(A).chunks().bytes(0);
        design.read(A, 0, 1);
        assertEquals(first, fixture.traffic.totals().upRead(), "the oldest chunk had left");
        design.read(A, 0, 1);
        assertEquals(first, fixture.traffic.totals().upRead(), "it is there now");
    }

    @Test
    void tddfsSarCopiesOnlyWhatIsReadAndEvictsItForNothing() {
        TddfsSar design = new TddfsSar(fixture.tiers(), false);
        design.create(A, SIZE);
        design.create(B, SIZE);
        assertEquals(new Traffic.Totals(SIZE, SIZE, 0, 0, 0), fixture.traffic.totals());
        int first = design.files.get(A).chunks().bytes(0);
        design.read(A, 0, 1);
        assertEquals(new Traffic.Totals(SIZE, SIZE, first, first, 0), fixture.traffic.totals());
        assertEquals(SIZE + first, design.fastBytes());
        assertEquals(SIZE, design.slowBytes(), "the slow tier keeps the chunk");
        design.read(B, 0, 1);
        design.read(A, 0, SIZE);
        assertEquals(SIZE, fixture.traffic.totals().upRead());
        assertEquals(SIZE, design.fastBytes(), "B was used before all of A's chunks, so it left");
        assertEquals(2 * SIZE, fixture.traffic.totals().downWritten());
        design.read(B, 0, SIZE);
        assertEquals(2 * SIZE, fixture.traffic.totals().downWritten(), "copies of A were evicted, and not written");
        assertTrue(design.fastBytes() <= 100_000);
    }

    @Test
    void tddfsSarDeduplicatesAWriteAtOnce() {
        TddfsSar design = new TddfsSar(fixture.tiers(), false);
        design.create(A, SIZE);
        design.create(B, SIZE);
        int first = design.files.get(A).chunks().bytes(0);
        design.write(A, 0, 1);
        assertEquals(new Traffic.Totals(SIZE + first, SIZE + first, 0, 0, 0), fixture.traffic.totals());
        assertEquals(SIZE + first, design.slowBytes(), "the old chunk is garbage");
        design.write(A, SIZE, 500);
        assertEquals(SIZE + 500, design.files.get(A).chunks().bytes());
    }

    @Test
    void copiesOfWritesAreOnBothTiers() {
        TddfsSar design = new TddfsSar(fixture.tiers(), true);
        design.create(A, SIZE);
        design.create(B, SIZE);
        int first = design.files.get(A).chunks().bytes(0);
        design.write(A, 0, 1);
        assertEquals(new Traffic.Totals(SIZE + first, SIZE + first, 0, 0, 0), fixture.traffic.totals());
        assertEquals(SIZE + first, design.fastBytes());
        design.read(A, 0, first);
        assertEquals(0, fixture.traffic.totals().upRead(), "the chunk is read from its copy");
    }

    @Test
    void tddfsSarReadsAheadForAReaderThatContinues() {
        fixture.windowBytes = 20_000;
        TddfsSar design = new TddfsSar(fixture.tiers(), false);
        design.create(A, SIZE);
        design.create(B, SIZE);
        Recipe recipe = design.files.get(A).chunks();
        long second = recipe.find(0, 1).endByte();
        design.read(A, 0, second);
        assertEquals(second, fixture.traffic.totals().upRead(), "a first read has no window");
        design.read(A, second, 1);
        long expected = recipe.find(0, recipe.find(second, second + 1).endByte() + 20_000)
                .endByte();
        assertEquals(expected, fixture.traffic.totals().upRead());
    }

    @Test
    void slowTierOnlyMigratesNothing() {
        Design design = new SlowTierOnly(fixture.tiers());
        assertEquals(new Traffic.Totals(0, 0, 0, 0, 0), swapTwice(design));
        design.write(A, SIZE, 10);
        design.delete(B);
        assertEquals(SIZE + 10, design.slowBytes());
        assertEquals(0, design.fastBytes());
    }
}
