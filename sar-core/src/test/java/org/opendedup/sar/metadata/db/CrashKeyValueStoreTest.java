package org.opendedup.sar.metadata.db;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

final class CrashKeyValueStoreTest extends KeyValueStoreContract {
    @Override
    KeyValueStore make() {
        return new CrashKeyValueStore();
    }

    @Test
    void aCrashKeepsDurableBatchesAndEndsTheStore() throws IOException {
        CrashKeyValueStore before = new CrashKeyValueStore();
        put(before, Family.INODE, "a", "1");
        CrashKeyValueStore after = before.crash(1);
        assertArrayEquals(bytes("1"), after.get(Family.INODE, bytes("a")));
        assertThrows(IOException.class, () -> before.get(Family.INODE, bytes("a")));
    }

    @Test
    void aFailedBatchIsNotSeenAndAfterACrashThereOrNot() throws IOException {
        Set<Boolean> found = new HashSet<>();
        for (int seed = 0; seed < 20; seed++) {
            CrashKeyValueStore before = new CrashKeyValueStore();
            before.failNextCommits(1);
            assertThrows(IOException.class, () -> put(before, Family.INODE, "a", "1"));
            assertNull(before.get(Family.INODE, bytes("a")));
            found.add(before.crash(seed).get(Family.INODE, bytes("a")) != null);
        }
        assertEquals(Set.of(true, false), found);
    }

    @Test
    void theNextBatchCompletesOrDropsAFailedOneForGood() throws IOException {
        CrashKeyValueStore before = new CrashKeyValueStore();
        Set<Boolean> found = new HashSet<>();
        for (int round = 0; round < 20; round++) {
            String key = "a" + round;
            before.failNextCommits(1);
            assertThrows(IOException.class, () -> put(before, Family.INODE, key, "1"));
            put(before, Family.INODE, "b", "1");
            found.add(before.get(Family.INODE, bytes(key)) != null);
        }
        assertEquals(Set.of(true, false), found);
        byte[] last = before.get(Family.INODE, bytes("a19"));
        assertArrayEquals(last, before.crash(1).get(Family.INODE, bytes("a19")));
    }

    /** A test detects torn records by the result of recovery: dropped at the end, refused before another record. */
    @Test
    void withCommitsThatAreNotDurableACrashLosesSomeOrTheStoreIsRefused() throws IOException {
        Set<String> found = new HashSet<>();
        for (int seed = 0; seed < 60; seed++) {
            CrashKeyValueStore before = new CrashKeyValueStore();
            before.setCommitIsNotDurable(true);
            put(before, Family.INODE, "a", "1");
            put(before, Family.INODE, "b", "1");
            try {
                CrashKeyValueStore after = before.crash(seed);
                found.add((after.get(Family.INODE, bytes("a")) != null) + ", "
                        + (after.get(Family.INODE, bytes("b")) != null));
            } catch (CorruptionException e) {
                found.add("refused");
            }
        }
        assertEquals(Set.of("true, true", "true, false", "false, false", "refused"), found);
    }
}
