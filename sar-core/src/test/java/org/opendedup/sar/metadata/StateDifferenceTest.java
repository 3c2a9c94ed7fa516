package org.opendedup.sar.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.versions.StateDifference;

/** The keys that differ are exactly those of which a copy of all records at each snapshot says so. */
final class StateDifferenceTest {
    private static final List<Family> FAMILIES = List.of(Family.INODE, Family.ENTRY, Family.XATTR, Family.RECIPE);
    private static final int INODES = 12;

    private final HeapKeyValueStore database = new HeapKeyValueStore();
    private final Map<Family, Map<String, Integer>> now = new TreeMap<>();
    private final Map<Long, Map<Family, Map<String, Integer>>> states = new TreeMap<>();
    private final List<SnapshotRecord> snapshots = new ArrayList<>();
    private MetadataStore store;
    private int written;

    @BeforeEach
    void format() throws IOException {
        store = MetadataStore.format(
                database, new MetadataHeader(new UUID(1, 2), 65536, 0, MetadataHeader.FORMAT_VERSION));
        for (int i = 0; i < INODES; i++) {
            store.nextInode();
        }
        FAMILIES.forEach(family -> now.put(family, new TreeMap<>()));
    }

    @Test
    void tellsWhatDiffersBetweenAnyTwoStates() throws IOException {
        Random random = new Random(TestSeed.next());
        for (int round = 0; round < 30; round++) {
            for (int i = random.nextInt(120); i > 0; i--) {
                change(random, FAMILIES.get(random.nextInt(FAMILIES.size())));
            }
            if (random.nextInt(4) == 0 && !snapshots.isEmpty()) {
                SnapshotRecord deleted = snapshots.remove(random.nextInt(snapshots.size()));
                store.deleteSnapshot(deleted, round);
                commit();
                states.remove(deleted.number());
            } else {
                snapshot(round);
            }
        }
        change(random, Family.INODE);
        commit();
        states.put(StateDifference.PRESENT, copy());
        states.put(0L, Map.of());
        for (long from : states.keySet()) {
            for (long to : states.keySet()) {
                if (from < to) {
                    FAMILIES.forEach(family -> compare(random, family, from, to));
                }
            }
        }
    }

    private void compare(Random random, Family family, long from, long to) {
        Map<String, Integer> before = states.get(from).getOrDefault(family, Map.of());
        Map<String, Integer> after = states.get(to).get(family);
        Set<String> expected = new TreeSet<>();
        before.forEach((key, value) -> {
            if (!value.equals(after.get(key))) {
                expected.add(key);
            }
        });
        after.keySet().stream().filter(key -> !before.containsKey(key)).forEach(expected::add);
        StateDifference difference = difference(from, to);
        long first = random.nextInt(INODES);
        long end = first + random.nextInt(INODES);
        Set<String> told = new TreeSet<>();
        Set<String> toldOfRange = new TreeSet<>();
        try {
            difference.forEachKey(family, key -> told.add(HexFormat.of().formatHex(key)));
            difference.forEachKey(
                    family,
                    Keys.of(first),
                    Keys.of(end),
                    key -> toldOfRange.add(HexFormat.of().formatHex(key)));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        String states = family + " of " + from + " and " + to;
        assertEquals(expected, told, states);
        expected.removeIf(key ->
                HexFormat.fromHexDigitsToLong(key, 0, 16) < first || HexFormat.fromHexDigitsToLong(key, 0, 16) >= end);
        assertEquals(expected, toldOfRange, states + " from " + first + " to " + end);
    }

    @Test
    void passesOverManyDeathsOfOtherKinds() throws IOException {
        for (int i = 0; i < 400; i++) {
            put(Family.RECIPE, Keys.of(1 + i % INODES, i));
        }
        put(Family.INODE, Keys.of(3));
        snapshot(1);
        for (int i = 0; i < 400; i++) {
            put(Family.RECIPE, Keys.of(1 + i % INODES, i));
        }
        put(Family.INODE, Keys.of(3));
        snapshot(2);
        List<Long> told = new ArrayList<>();
        difference(1, 2).forEachKey(Family.INODE, key -> told.add(Keys.longAt(key, 0)));
        assertEquals(List.of(3L, 3L), told, "the present record, and the one that died");
    }

    @Test
    void aDeletedSnapshotIsNoState() throws IOException {
        put(Family.INODE, Keys.of(3));
        snapshot(1);
        snapshot(2);
        StateDifference difference = difference(1, 2);
        store.deleteSnapshot(snapshots.get(0), 3);
        commit();
        PosixException gone = assertThrows(PosixException.class, () -> difference.forEachKey(Family.INODE, key -> {}));
        assertEquals(PosixException.Reason.ESTALE, gone.reason());
    }

    @Test
    void refusesStatesThatAreNotInOrder() {
        assertThrows(IllegalArgumentException.class, () -> difference(2, 2));
        assertThrows(IllegalArgumentException.class, () -> difference(-1, 2));
    }

    private StateDifference difference(long from, long to) {
        return store.difference(from, to);
    }

    private void change(Random random, Family family) {
        byte[] key = key(random, family);
        if (random.nextInt(3) == 0) {
            store.overlay().remove(family, key);
            now.get(family).remove(HexFormat.of().formatHex(key));
        } else {
            put(family, key);
        }
    }

    /** Writes a record that differs from each other one. */
    private void put(Family family, byte[] key) {
        store.overlay().put(family, key, Keys.join(new byte[] {1}, Keys.of(++written)));
        now.get(family).put(HexFormat.of().formatHex(key), written);
    }

    private static byte[] key(Random random, Family family) {
        long inode = 1L + random.nextInt(INODES);
        byte[] name = {(byte) ('a' + random.nextInt(3))};
        return switch (family) {
            case INODE -> Keys.of(inode);
            case XATTR -> Keys.of(inode, name);
            // Names with the same hash are frequent.
            case ENTRY -> Keys.of(inode, random.nextInt(3), name);
            default -> Keys.of(inode, random.nextInt(5));
        };
    }

    private void snapshot(long nowMs) throws IOException {
        snapshots.add(store.createSnapshot("s" + nowMs, nowMs, 0, false));
        commit();
        states.put(snapshots.get(snapshots.size() - 1).number(), copy());
    }

    private void commit() throws IOException {
        store.commit(store.freeze());
    }

    private Map<Family, Map<String, Integer>> copy() {
        Map<Family, Map<String, Integer>> copy = new TreeMap<>();
        now.forEach((family, records) -> copy.put(family, new TreeMap<>(records)));
        return copy;
    }
}
