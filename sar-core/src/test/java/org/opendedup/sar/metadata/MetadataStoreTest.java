package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.Totals;

final class MetadataStoreTest extends MetadataTest {
    private static final long CHUNK = ChunkId.of(5, 7);

    MetadataStoreTest() throws IOException {}

    @Test
    void aDatabaseWithContentIsNotFormatted() {
        assertThrows(IOException.class, () -> MetadataStore.format(database, HEADER));
    }

    @Test
    void anEmptyDatabaseIsNoVolumesMetadata() {
        assertThrows(CorruptionException.class, () -> MetadataStore.open(new HeapKeyValueStore(), 1000));
    }

    @Test
    void numbersAreNeverGivenOutTwiceWhateverCrashes() throws IOException {
        long inode = 1;
        long container = 0;
        for (int life = 0; life < 5; life++) {
            for (int i = 0; i < 3000; i++) {
                long nextInode = store.nextInode();
                long nextContainer = store.nextContainer();
                assertTrue(nextInode > inode && nextContainer > container);
                inode = nextInode;
                container = nextContainer;
            }
            database = database.crash(life);
            store = MetadataStore.open(database, 1000);
        }
    }

    /**
     * An owner has used all ids that are reserved, and is lost with packs that the object store never got. Their
     * numbers are above these ids. The next owner makes packs with ids as numbers.
     */
    @Test
    void anotherOwnerGivesNoNumberThatAPackOfTheFormerOneMayHave() throws IOException {
        KeyValueStore shipped = new HookedKeyValueStore<>(new HeapKeyValueStore()) {
            @Override
            public boolean isShipped() {
                return true;
            }
        };
        MetadataStore former = MetadataStore.format(shipped, HEADER);
        long last = former.nextContainer();
        long reserved = SystemRecords.decodeNumber(shipped.get(Family.SYSTEM, SystemRecords.NEXT_CONTAINER));
        while (last + 1 < reserved) {
            last = former.nextContainer();
        }
        MetadataStore next = MetadataStore.open(shipped, 1000);
        assertTrue(next.nextContainer() > last + ChunkId.MOST_PACK_AHEAD);
    }

    @Test
    void controlWithReservationsThatAreNotDurableNumbersComeTwice() throws IOException {
        boolean twice = false;
        for (int seed = 0; seed < 20; seed++) {
            CrashKeyValueStore losing = new CrashKeyValueStore();
            MetadataStore first = MetadataStore.format(losing, HEADER);
            losing.setCommitIsNotDurable(true);
            long inode = first.nextInode();
            twice |= MetadataStore.open(losing.crash(seed), 1000).nextInode() == inode;
        }
        assertTrue(twice);
    }

    @Test
    void aReservationThatFailsGivesOutNothingAndCanBeTriedAgain() throws IOException {
        database.failNextCommits(1);
        assertThrows(IOException.class, store::nextInode);
        assertEquals(Inode.ROOT + 1, store.nextInode());
    }

    @Test
    void anEmptyGenerationCostsNoBatch() throws IOException {
        int batches = database.batches();
        commit();
        assertEquals(batches, database.batches());
        assertEquals(0, store.pendingBytes());
    }

    @Test
    void pendingBytesGrowWithChangesAndBeginAnewWithEachGeneration() throws IOException {
        store.recipes().replace(2, 0, page(CHUNK));
        store.namespace().putEntry(1, new byte[] {'a'}, 2, 0100000);
        assertTrue(store.pendingBytes() > 100);
        Generation frozen = store.freeze();
        assertTrue(frozen.bytes() > 100);
        assertEquals(0, store.pendingBytes());
        store.commit(frozen);
    }

    @Test
    void aGenerationIsCommittedOnlyOnce() throws IOException {
        Generation frozen = store.freeze();
        store.commit(frozen);
        assertThrows(IllegalStateException.class, () -> store.commit(frozen));
    }

    @Test
    void aCountNeverFallsBelowZero() throws IOException {
        store.counts().add(CHUNK, 2);
        IllegalStateException e =
                assertThrows(IllegalStateException.class, () -> store.counts().add(CHUNK, -3));
        assertTrue(e.getMessage().contains("5:7"), e.getMessage());
        assertEquals(2, store.counts().count(CHUNK));
    }

    @Test
    void aPageThatIsTooLongIsRefused() {
        RecipePage tooLong = new RecipePage.Builder().add(CHUNK, 0, 65537, 1).build();
        assertThrows(IllegalArgumentException.class, () -> store.recipes().replace(2, 0, tooLong));
    }

    @Test
    void aDamagedRecipeIsNamedAndCountsStayAsTheyWere() throws IOException {
        store.recipes().replace(9, 3, page(CHUNK));
        commit();
        byte[] key = Keys.of(9, 3);
        byte[] value = database.get(Family.RECIPE, key);
        value[2] ^= 1;
        MetadataDefects.put(database, Family.RECIPE, key, value);
        MetadataStore reopened = MetadataStore.open(database, 1000);
        CorruptionException e =
                assertThrows(CorruptionException.class, () -> reopened.recipes().page(9, 3));
        assertTrue(e.getMessage().contains("page 3 of inode 9"), e.getMessage());
        assertThrows(CorruptionException.class, () -> reopened.recipes().replace(9, 3, page(CHUNK + 1)));
        assertThrows(CorruptionException.class, () -> Recipes.removePages(reopened, 9, 0, 10));
        assertEquals(1, reopened.counts().count(CHUNK));
        assertFalse(reopened.counts().isAlive(CHUNK + 1));
    }

    @Test
    void damagedCountsStopAReplacementBeforeItChangesAnything() throws IOException {
        MetadataDefects.put(database, Family.COUNT, Keys.of(6), new byte[] {CountRecord.VERSION, 5});
        RecipePage both = new RecipePage.Builder()
                .add(CHUNK, 0, 100, 1)
                .add(ChunkId.of(6, 0), 0, 100, 1)
                .build();
        assertThrows(CorruptionException.class, () -> store.recipes().replace(2, 0, both));
        assertFalse(store.counts().isAlive(CHUNK));
        assertEquals(0, store.recipes().page(2, 0).count());
    }

    @Test
    void totalsAreCommittedWithTheirGeneration() throws IOException {
        store.addToTotals(100, 1);
        store.counts().addNew(CHUNK, 50, 0);
        store.counts().add(CHUNK, 1);
        commit();
        store.addToTotals(-30, 0);
        store.counts().add(CHUNK, -1);
        assertEquals(new Totals(70, 1, new StoredCopies(50, 1, 50, 1, 0)), store.totals());
        assertEquals(
                new Totals(100, 1, new StoredCopies(50, 1, 0, 0, 0)),
                MetadataStore.open(database.crash(1), 1000).totals());
    }

    private static RecipePage page(long chunk) {
        return new RecipePage.Builder().add(chunk, 0, 4096, 1).build();
    }
}
