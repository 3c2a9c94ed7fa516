package org.opendedup.sar.sim.tddfs.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class RecipeTest {
    /** Compares with a list of lengths. */
    @Test
    void rangesAreFoundAndReplacedAsInAList() {
        long seed = TestSeed.next();
        SplittableRandom random = new SplittableRandom(seed);
        Contents contents = new Contents();
        Recipe recipe = new Recipe(contents);
        List<Integer> entries = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            int entry = contents.add(1 + random.nextInt(20));
            recipe.add(entry);
            entries.add(entry);
        }
        for (int step = 0; step < 300; step++) {
            long total = entries.stream().mapToLong(contents::length).sum();
            assertEquals(total, recipe.bytes());
            assertEquals(entries.size(), recipe.size());
            long from = random.nextLong(total);
            long end = Math.min(total, from + 1 + random.nextLong(200));
            Recipe.Range range = recipe.find(from, end);
            int first = 0;
            long start = 0;
            while (start + contents.length(entries.get(first)) <= from) {
                start += contents.length(entries.get(first++));
            }
            int after = first;
            long reached = start;
            while (reached < end) {
                reached += contents.length(entries.get(after++));
            }
            assertEquals(new Recipe.Range(first, after, start, reached), range);
            Recipe other = new Recipe(contents);
            List<Integer> others = new ArrayList<>();
            for (int i = random.nextInt(1, 30); i > 0; i--) {
                int entry = contents.add(1 + random.nextInt(20));
                other.add(entry);
                others.add(entry);
            }
            recipe.replace(range, other);
            entries.subList(first, after).clear();
            entries.addAll(first, others);
            int place = random.nextInt(entries.size());
            assertEquals(entries.get(place), recipe.entry(place));
        }
        for (int i = 0; i < entries.size(); i++) {
            assertEquals(entries.get(i), recipe.entry(i));
        }
    }

    @Test
    void aModifiedEntryKeepsItsLength() {
        Contents contents = new Contents();
        Recipe recipe = new Recipe(contents);
        recipe.add(contents.add(10));
        recipe.add(contents.add(20));
        recipe.modify(1);
        assertTrue(Recipe.isModified(recipe.entry(1)));
        assertEquals(20, recipe.bytes(1));
        assertEquals(30, recipe.bytes());
        recipe.modify(1);
        assertEquals(20, recipe.bytes(1));
    }

    @Test
    void cutsHaveTheBytesTheRatioAndTheSeed() {
        for (ChunkCutter.Scope scope : ChunkCutter.Scope.values()) {
            for (double ratio : new double[] {1, 3, 4.6}) {
                Contents contents = new Contents();
                ChunkCutter cutter = new ChunkCutter(contents, new ChunkCutter.Sharing(ratio, scope, 1, 1), 9);
                Recipe recipe = new Recipe(contents);
                cutter.cut(new ChunkCutter.History(1), 50_000_000, recipe, recipe);
                assertEquals(50_000_000, recipe.bytes());
                long different = 0;
                for (int i = 0; i < contents.size(); i++) {
                    different += contents.length(i);
                }
                assertEquals(ratio, (double) recipe.bytes() / different, 0.02 * ratio, scope + " " + ratio);
            }
        }
    }

    @Test
    void aFileOfTheLongestChunkIsOneChunk() {
        Contents contents = new Contents();
        ChunkCutter cutter = new ChunkCutter(contents, new ChunkCutter.Sharing(3, ChunkCutter.Scope.FILE, 1, 1), 9);
        Recipe small = new Recipe(contents);
        cutter.cut(new ChunkCutter.History(1), 16 << 10, small, small);
        assertEquals(1, small.size());
        Recipe larger = new Recipe(contents);
        cutter.cut(new ChunkCutter.History(2), 160 << 10, larger, larger);
        assertTrue(larger.size() > 10, () -> larger.size() + " chunks");
    }
}
