package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/** Pages of recipes that do not decode: their bytes become errors, never zeros, and none of them ends the salvage. */
class SalvagedRecipesTest {
    private static final int PAGE_BYTES = 4096;
    private static final long FILE = 512;
    private static final long CONTAINER = 7;
    private static final long LOST_CONTAINER = 99;
    private static final long PAGES = 300;
    private static final int REGULAR = 0100600;

    private final KeyValueStore database = KeyValueStores.heap();
    private final LostRecords lost = new LostRecords();
    private final List<String> told = new ArrayList<>();

    private static RecipePage page() {
        return new RecipePage.Builder()
                .add(ChunkId.of(CONTAINER, 0), 0, PAGE_BYTES, 1)
                .build();
    }

    /** A file with data at the given pages, and holes elsewhere. */
    private void put(long inode, int links, long... pages) throws IOException {
        Inode file = Inode.of(inode, REGULAR, Inode.Times.ofCreation(0))
                .withLinks(links)
                .withBytes(PAGES * PAGE_BYTES, (long) pages.length * PAGE_BYTES);
        try (Batch batch = database.batch()) {
            batch.put(Family.INODE, Keys.of(inode), InodeFormat.encode(file));
            for (long number : pages) {
                byte[] key = Keys.of(inode, number);
                batch.put(Family.RECIPE, key, RecipeFormat.encode(key, page()));
            }
            batch.commit();
        }
    }

    private void damage(long inode, long page) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.RECIPE, Keys.of(inode, page), new byte[] {77, 77, 77});
            batch.commit();
        }
    }

    private SalvagedRecipes salvage() throws IOException {
        SalvagedRecipes recipes = new SalvagedRecipes(database, PAGE_BYTES, LOST_CONTAINER, lost, Set.of(), told);
        recipes.run(0, SalvageProgress.NONE);
        return recipes;
    }

    private RecipePage stored(long inode, long page) throws IOException {
        byte[] key = Keys.of(inode, page);
        byte[] value = database.get(Family.RECIPE, key);
        assertNotNull(value, "page " + page + " reads as zeros");
        return RecipeFormat.decode(key, value, PAGE_BYTES);
    }

    /** Keys whose last bytes are 0 have a key before them only with a borrow. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 255, 256, 257})
    void aPageThatDoesNotDecodeBecomesAnError(long damaged) throws IOException {
        put(FILE, 1, 0, 1, 255, 256, 257);
        damage(FILE, damaged);
        SalvagedRecipes recipes = salvage();
        assertEquals(1, recipes.lostPages());
        assertEquals(5L * PAGE_BYTES, recipes.dataBytes());
        assertEquals(1, told.size(), told::toString);
        for (long page : new long[] {0, 1, 255, 256, 257}) {
            long container = page == damaged ? LOST_CONTAINER : CONTAINER;
            assertEquals(container, ChunkId.container(stored(FILE, page).chunkId(0)), "page " + page);
        }
        assertNull(database.get(Family.RECIPE, Keys.of(FILE, 2)), "a hole stays a hole");
        assertNull(database.get(Family.RECIPE, Keys.of(FILE, 258)), "a hole stays a hole");
    }

    @Test
    void aRecordThatIsLostIsInItsRangeAndItsNeighboursAreNot() {
        for (long number : new long[] {0, 1, 255, 256, 65_535, 65_536, 1L << 40}) {
            LostRecords one = new LostRecords();
            one.addRecord(Family.INODE, Keys.of(number));
            assertTrue(one.contains(Family.INODE, Keys.of(number)), "number " + number);
            assertFalse(one.contains(Family.INODE, Keys.of(number + 1)), "number " + number);
            assertFalse(number > 0 && one.contains(Family.INODE, Keys.of(number - 1)), "number " + number);
        }
    }

    /** An inode without links has no bytes that can be read, and its recipe is counted all the same. */
    @Test
    void aPageOfAnUnlinkedFileThatDoesNotDecodeDoesNotEndTheSalvage() throws IOException {
        put(FILE, 1, 0);
        put(FILE + 1, 0, 0, 1, 256);
        damage(FILE + 1, 256);
        assertEquals(0, salvage().lostPages());
        ChunkLengths lengths = new ChunkLengths() {
            @Override
            public void prepare(Set<Long> containers) {}

            @Override
            public int of(long container, int slot, int fingerprintPrefix) {
                return PAGE_BYTES;
            }
        };
        new SalvagedCounts(database, PAGE_BYTES, LOST_CONTAINER, lengths).run(lost, 0, SalvageProgress.NONE);
        byte[] counts = database.get(Family.COUNT, Keys.of(CONTAINER));
        assertNotNull(counts);
        assertEquals(
                3,
                CountRecord.decode(CONTAINER, counts, CountRecord.NO_GENERATION).count(0));
        assertNull(database.get(Family.RECIPE, Keys.of(FILE + 1, 256)));
    }
}
