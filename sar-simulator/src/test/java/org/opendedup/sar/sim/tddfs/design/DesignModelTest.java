package org.opendedup.sar.sim.tddfs.design;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.sim.tddfs.tier.ChunkCutter;
import org.opendedup.sar.sim.tddfs.tier.ChunkTier;
import org.opendedup.sar.sim.tddfs.tier.Recipe;

/** Random requests; after each of them, counts and bytes are compared with a recount from the recipes. */
class DesignModelTest {
    private static final int STEPS = TestSeed.rounds(400);
    private static final int FILES = 12;

    private final long seed = TestSeed.next();

    private interface Check {
        void run(Map<Integer, Long> sizes);
    }

    private void runRandom(Design design, Check check) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<Integer, Long> sizes = new HashMap<>();
        for (int step = 0; step < STEPS; step++) {
            int file = random.nextInt(FILES);
            Long size = sizes.get(file);
            int kind = random.nextInt(20);
            if (size == null || kind == 0) {
                long created = random.nextInt(4) == 0 ? 1 + random.nextInt(16 << 10) : 1 + random.nextInt(400_000);
                design.create(file, created);
                sizes.put(file, created);
            } else if (kind == 1) {
                design.delete(file);
                sizes.remove(file);
            } else if (kind < 10) {
                long offset = random.nextLong(size);
                design.read(file, offset, 1 + random.nextLong(size - offset));
            } else {
                long offset = random.nextLong(size + 1);
                long length = 1 + random.nextInt(random.nextBoolean() ? 100 : 100_000);
                design.write(file, offset, length);
                sizes.put(file, Math.max(size, offset + length));
            }
            check.run(sizes);
        }
    }

    private HotFixture fixture(ChunkCutter.Scope scope) {
        HotFixture fixture = new HotFixture();
        fixture.limit = 600_000;
        fixture.ratio = 3;
        fixture.scope = scope;
        fixture.garbageShare = 0.2;
        fixture.recipeEntryBytes = 300;
        fixture.windowBytes = 20_000;
        fixture.seed = seed;
        return fixture;
    }

    /** Compares a tier's counts with references, and its bytes with what is present. */
    private static void checkTier(ChunkStore store, ChunkTier tier, Map<Integer, Integer> references) {
        long present = 0;
        long garbage = 0;
        for (int content = 0; content < store.contents.size(); content++) {
            int count = references.getOrDefault(content, 0);
            assertEquals(count, tier.count(content), "references of content " + content);
            if (count > 0) {
                assertTrue(tier.isPresent(content), "content " + content + " is referenced and absent");
            }
            present += tier.isPresent(content) ? store.contents.length(content) : 0;
            garbage += tier.isPresent(content) && count == 0 ? store.contents.length(content) : 0;
        }
        assertEquals(present, tier.bytes());
        assertEquals(garbage, tier.garbageBytes());
    }

    private static void addTo(Map<Integer, Integer> references, Recipe recipe) {
        for (int i = 0; i < recipe.size(); i++) {
            if (!Recipe.isModified(recipe.entry(i))) {
                references.merge(recipe.entry(i), 1, Integer::sum);
            }
        }
    }

    private static void checkSizes(Map<Integer, StoredFile> files, Map<Integer, Long> sizes) {
        assertEquals(sizes.keySet(), files.keySet());
        files.forEach((number, file) -> {
            assertEquals(sizes.get(number), file.size);
            if (file.recipe != null) {
                assertEquals(file.size, file.recipe.bytes(), () -> "recipe of " + number + ", " + file.place);
            }
        });
    }

    private void checkTddfs(Tddfs design, Map<Integer, Long> sizes) {
        checkSizes(design.files, sizes);
        Map<Integer, Integer> fast = new HashMap<>();
        Map<Integer, Integer> slow = new HashMap<>();
        long raw = 0;
        long modified = 0;
        long fastRecipes = 0;
        for (StoredFile file : design.files.values()) {
            switch (file.place) {
                case RAW -> raw += file.size;
                case LOWERED -> addTo(slow, file.chunks());
                case RELOADED -> {
                    addTo(fast, file.chunks());
                    fastRecipes += 300L * file.chunks().size();
                    for (int i = 0; i < file.chunks().size(); i++) {
                        modified += Recipe.isModified(file.chunks().entry(i))
                                ? file.chunks().bytes(i)
                                : 0;
                    }
                }
            }
        }
        checkTier(design.store, design.store.fast, fast);
        checkTier(design.store, design.store.slow, slow);
        long loweredRecipes = design.files.values().stream()
                .filter(file -> file.place == StoredFile.Place.LOWERED)
                .mapToLong(file -> 300L * file.chunks().size())
                .sum();
        long recipes = design.fastBytes() - raw - modified - design.store.fast.bytes();
        assertTrue(recipes >= fastRecipes, "recipes of reloaded files are on the fast tier");
        assertEquals(fastRecipes + loweredRecipes, recipes + design.slowBytes() - design.store.slow.bytes());
    }

    @Test
    void tddfsCountsWhatItsRecipesReferTo() {
        for (ChunkCutter.Scope scope : ChunkCutter.Scope.values()) {
            Tddfs design = new Tddfs(fixture(scope).tiers());
            runRandom(design, sizes -> checkTddfs(design, sizes));
        }
    }

    /** The control: a reference that no recipe has. */
    @Test
    void aWrongCountIsFound() {
        Tddfs design = new Tddfs(fixture(ChunkCutter.Scope.FILE).tiers());
        runRandom(design, sizes -> {});
        design.store.slow.reference(0);
        Map<Integer, Long> sizes = new HashMap<>();
        design.files.forEach((number, file) -> sizes.put(number, file.size));
        assertThrows(AssertionError.class, () -> checkTddfs(design, sizes));
    }

    @Test
    void copiesOfTddfsSarAreAlsoAtHome() {
        for (ChunkCutter.Scope scope : ChunkCutter.Scope.values()) {
            TddfsSar design = new TddfsSar(fixture(scope).tiers(), scope == ChunkCutter.Scope.ALL);
            runRandom(design, sizes -> {
                checkSizes(design.files, sizes);
                Map<Integer, Integer> slow = new HashMap<>();
                design.files.values().stream()
                        .filter(file -> file.place == StoredFile.Place.LOWERED)
                        .forEach(file -> addTo(slow, file.chunks()));
                checkTier(design.store, design.store.slow, slow);
                for (int content = 0; content < design.store.contents.size(); content++) {
                    assertTrue(
                            !design.store.fast.isPresent(content) || design.store.slow.isPresent(content),
                            "a copy is the only one");
                }
                assertTrue(design.fastBytes() <= 600_000 + 600_000, "at most one file is above the limit");
            });
        }
    }

    @Test
    void allDedupHasEachChunkOnOneTier() {
        for (ChunkCutter.Scope scope : ChunkCutter.Scope.values()) {
            AllDedup design = new AllDedup(fixture(scope).tiers());
            runRandom(design, sizes -> {
                checkSizes(design.files, sizes);
                Map<Integer, Integer> references = new HashMap<>();
                design.files.values().forEach(file -> addTo(references, file.chunks()));
                long present = 0;
                for (int content = 0; content < design.store.contents.size(); content++) {
                    assertEquals(references.getOrDefault(content, 0), design.references.get(content));
                    boolean isFast = design.store.fast.isPresent(content);
                    boolean isSlow = design.store.slow.isPresent(content);
                    assertTrue(!isFast || !isSlow);
                    assertEquals(references.containsKey(content), isFast || isSlow);
                    present += isFast || isSlow ? design.store.contents.length(content) : 0;
                }
                assertEquals(present, design.store.fast.bytes() + design.store.slow.bytes());
            });
        }
    }

    @Test
    void bytesOfNoDedupAndFastTierNoDedupAreThoseOfTheirFiles() {
        NoDedup plain = new NoDedup(fixture(ChunkCutter.Scope.FILE).tiers());
        runRandom(plain, sizes -> {
            checkSizes(plain.files, sizes);
            assertEquals(
                    sizes.values().stream().mapToLong(Long::longValue).sum(), plain.fastBytes() + plain.slowBytes());
        });
        FastTierNoDedup dedup =
                new FastTierNoDedup(fixture(ChunkCutter.Scope.ALL).tiers());
        runRandom(dedup, sizes -> {
            checkSizes(dedup.files, sizes);
            long raw = 0;
            long recipes = 0;
            for (StoredFile file : dedup.files.values()) {
                raw += file.place == StoredFile.Place.RAW ? file.size : 0;
                recipes += file.place == StoredFile.Place.LOWERED
                        ? 300L * file.chunks().size()
                        : 0;
            }
            assertEquals(raw + recipes, dedup.fastBytes());
        });
    }
}
