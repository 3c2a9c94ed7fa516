package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.ssd.SsdFixture.entries;
import static org.opendedup.sar.ssd.SsdFixture.offer;
import static org.opendedup.sar.ssd.SsdFixture.promote;
import static org.opendedup.sar.ssd.SsdFixture.range;
import static org.opendedup.sar.ssd.SsdFixture.read;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Timeline;

@ParameterizedClass
@ValueSource(booleans = {false, true})
final class SsdStoreTest {
    @TempDir
    Path folder;

    @Parameter
    private boolean isSealed;

    private SsdFixture fixture() {
        return fixture(folder);
    }

    private SsdFixture fixture(Path location) {
        SsdFixture fixture = new SsdFixture(location);
        fixture.keys = isSealed ? SsdFixture.KEYS : null;
        return fixture;
    }

    @Test
    void whatWasOfferedIsReadBack() throws IOException {
        try (SsdStore store = fixture().open()) {
            assertEquals(OfferAnswer.TAKEN, offer(store, 5));
            assertTrue(store.contains(5));
            assertEquals(OfferAnswer.PRESENT, offer(store, 5));
            store.drain();
            assertTrue(store.table().contains(5));
            assertEquals(OfferAnswer.PRESENT, offer(store, 5));
            assertEquals(1, read(store, 5));
            assertEquals(0, read(store, 6));
            promote(store, 10, 300);
            assertEquals(290, read(store, range(10, 300)));
            List<Long> mixed = new ArrayList<>(List.of(7L, 10L, 10L, 299L, 5L, 1000L));
            Collections.shuffle(mixed, new Random(TestSeed.next()));
            assertEquals(
                    4, read(store, mixed.stream().mapToLong(Long::longValue).toArray()));
            assertEquals(291, store.statistics().writtenRecords());
        }
    }

    /** The volume's history after another mount: what is older than the epoch shares the ids below {@code bound}. */
    private static Timeline later(Epoch known, long bound) {
        Epoch now = new Epoch(SsdFixture.VOLUME, known.number() + 1, 99);
        return new Timeline() {
            @Override
            public Epoch current() {
                return now;
            }

            @Override
            public long sharedBelow(Epoch stamp) {
                return stamp.equals(now) ? Long.MAX_VALUE : stamp.equals(known) ? bound : 0;
            }
        };
    }

    @Test
    void copiesOfAnotherHistoryAreForgotten() throws IOException {
        long[] ids = {ChunkId.of(5, 1), ChunkId.of(6, 1), ChunkId.of(7, 1)};
        for (boolean rebuilt : new boolean[] {false, true}) {
            for (long bound : new long[] {8, 7, 6, 0}) {
                SsdFixture fixture = fixture(Files.createTempDirectory(folder, "ssd"));
                try (SsdStore store = fixture.open()) {
                    for (long id : ids) {
                        assertEquals(OfferAnswer.TAKEN, offer(store, id));
                    }
                    store.drain();
                }
                if (rebuilt) {
                    MapDatabase.destroy(fixture.location.resolve(LocationFiles.MAP));
                }
                fixture.timeline = later(SsdFixture.TIMELINE.current(), bound);
                for (int mount = 0; mount < 2; mount++) {
                    try (SsdStore store = fixture.open()) {
                        assertEquals(Math.max(0, Math.min(3, bound - 5)), read(store, ids), "ids below " + bound);
                        assertEquals(bound > 7, store.contains(ids[2]));
                    }
                }
            }
        }
    }

    @Test
    void aProbeOfASoundSsdChangesNothing() throws IOException {
        SsdFixture fixture = fixture();
        try (SsdStore store = fixture.open()) {
            store.probe();
            SsdFixture.promote(store, 1, 100);
            store.probe();
            for (Path file : fixture.segments()) {
                Files.delete(file);
            }
            store.probe();
            assertEquals(List.of(), fixture.failures);
            assertEquals(99, store.table().size());
        }
    }

    @Test
    void bytesThatAreNotTheChunksAreDropped() throws IOException {
        SsdFixture fixture = fixture();
        try (SsdStore store = fixture.open()) {
            byte[] bytes = SsdFixture.chunk(5);
            store.offer(5, SsdFixture.fingerprintPrefix(bytes) + 1, 1, 1, Cause.WRITE, bytes, 0, bytes.length);
            store.drain();
            assertFalse(store.contains(5));
            assertEquals(1, fixture.fate(OfferFate.DAMAGED));
        }
    }

    @Test
    void aChunkThatNoRecordHoldsIsRefusedAndTheLargestIsTaken() throws IOException {
        try (SsdStore store = fixture().open()) {
            byte[] bytes = new byte[1 << 19];
            new Random(1).nextBytes(bytes);
            assertEquals(OfferAnswer.TOO_LARGE, store.offer(5, 0, 1, 1, Cause.WRITE, bytes, 0, bytes.length));
            byte[] largest = java.util.Arrays.copyOf(bytes, RecordHeader.MAX_CHUNK_BYTES);
            int fingerprintPrefix = SsdFixture.fingerprintPrefix(largest);
            assertEquals(
                    OfferAnswer.TAKEN,
                    store.offer(5, fingerprintPrefix, 1, 1, Cause.WRITE, largest, 0, largest.length));
            store.drain();
            ChunkRequest request = new ChunkRequest();
            request.add(5, 100, fingerprintPrefix, -1);
            request.setSource(0, Source.SSD);
            store.read(request);
            assertArrayEquals(largest, SsdFixture.found(request, 0));
        }
    }

    @Test
    void theTableComesBackAfterClosing() throws IOException {
        SsdFixture fixture = fixture();
        Map<Long, String> before;
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 500);
            for (long id = 1; id < 500; id += 3) {
                assertTrue(store.demote(id));
            }
            assertFalse(store.demote(1));
            assertEquals(0, read(store, 1));
            before = entries(store);
        }
        try (SsdStore store = fixture.open()) {
            assertEquals(before, entries(store));
            assertEquals(before.size(), read(store, range(1, 500)));
            promote(store, 500, 600);
        }
        try (SsdStore store = fixture.open()) {
            assertEquals(before.size() + 100, read(store, range(1, 600)));
        }
        assertEquals(List.of(), fixture.failures);
    }

    @Test
    void theTableComesBackAfterAKill(@TempDir Path other) throws IOException {
        SsdFixture killed = fixture(other);
        Map<Long, String> before;
        try (SsdStore store = fixture().open()) {
            promote(store, 1, 400);
            store.demote(7);
            store.drain();
            before = entries(store);
            // The state after a kill: unchanged files, nothing closed.
            TestFolders.copy(folder, other);
            promote(store, 400, 500);
        }
        try (SsdStore store = killed.open()) {
            assertEquals(before, entries(store));
            assertEquals(398, read(store, range(1, 500)));
        }
    }

    @Test
    void aMissingOrDamagedDatabaseIsMadeAnewFromTheSegments() throws IOException {
        SsdFixture fixture = fixture();
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 300);
        }
        MapDatabase.destroy(folder.resolve("map"));
        try (SsdStore store = fixture.open()) {
            assertEquals(299, store.table().size());
            assertEquals(299, read(store, range(1, 300)));
        }
        Files.writeString(folder.resolve("map/CURRENT"), "damaged\n");
        try (SsdStore store = fixture.open()) {
            assertEquals(299, read(store, range(1, 300)));
        }
        // And it was written: the control is that the segments alone would restore demoted chunks.
        try (SsdStore store = fixture.open()) {
            for (int id = 1; id < 100; id++) {
                store.demote(id);
            }
        }
        try (SsdStore store = fixture.open()) {
            assertEquals(200, store.table().size());
        }
        MapDatabase.destroy(folder.resolve("map"));
        try (SsdStore store = fixture.open()) {
            assertEquals(299, store.table().size());
        }
        assertEquals(List.of(), fixture.failures);
    }

    @Test
    void anotherVolumesLocationIsRefusedByName() throws IOException {
        fixture().open().close();
        UUID other = UUID.randomUUID();
        IOException refused = assertThrows(
                IOException.class,
                () -> SsdStore.open(
                        folder,
                        ContentHash.SHA_256,
                        null,
                        Timeline.beginning(other, 0),
                        1 << 26,
                        new StoreMemory(1000, 0),
                        () -> {},
                        e -> {}));
        assertTrue(refused.getMessage().contains(SsdFixture.VOLUME.toString()), refused.getMessage());
        assertTrue(refused.getMessage().contains(folder.toString()), refused.getMessage());
        // The control: its own volume is accepted.
        fixture().open().close();
    }

    @Test
    void aFolderWithOtherFilesOrNoFolderOrADamagedIdentityIsRefused() throws IOException {
        SsdFixture missing = fixture(folder.resolve("missing"));
        assertThrows(NoSuchFileException.class, missing::open);

        Path used = Files.createDirectory(folder.resolve("used"));
        Files.writeString(used.resolve("letter.txt"), "somebody's");
        IOException refused =
                assertThrows(IOException.class, () -> fixture(used).open());
        assertTrue(refused.getMessage().contains("letter.txt"), refused.getMessage());
        assertEquals(1, used.toFile().list().length);

        Path damaged = Files.createDirectory(folder.resolve("damaged"));
        Files.createDirectory(damaged.resolve("lost+found"));
        fixture(damaged).open().close();
        Path identity = damaged.resolve(LocationFiles.IDENTITY);
        Files.writeString(identity, Files.readString(identity).replace('0', '1'));
        assertThrows(IOException.class, () -> fixture(damaged).open());
    }

    @Test
    void rawFilesOfTheVolumeAreInNoOnesWayAndNeverTouched() throws IOException {
        Path location = Files.createDirectory(folder.resolve("new"));
        Path raw = Files.createDirectory(location.resolve(LocationFiles.RAW));
        Path only = Files.writeString(raw.resolve("0000000000013f00"), "the only copy");
        fixture(location).open().close();
        fixture(location).open().close();
        assertEquals("the only copy", Files.readString(only));

        Path identity = location.resolve(LocationFiles.IDENTITY);
        Files.writeString(identity, Files.readString(identity).replace('0', '1'));
        IOException refused =
                assertThrows(IOException.class, () -> fixture(location).open());
        assertTrue(refused.getMessage().contains("delete this file"), refused.getMessage());
        assertFalse(refused.getMessage().contains("empty"), refused.getMessage());
    }

    @Test
    void underRandomLoadNeverMoreThanTheCapacityIsUsed() throws IOException {
        SsdFixture fixture = fixture();
        fixture.capacity = 16 << 20;
        long seed = TestSeed.next();
        Random random = new Random(seed);
        try (SsdStore store = fixture.open()) {
            fixture.makeRoom = () -> demoteSome(store, new Random(seed));
            for (int round = 0; round < 40; round++) {
                for (int i = 0; i < 150; i++) {
                    offer(store, 1 + random.nextInt(20_000));
                    if (i % 20 == 0) {
                        store.demote(1 + random.nextInt(20_000));
                    }
                }
                store.drain();
                long used = fixture.bytesOnDisk();
                assertTrue(used <= fixture.capacity, used + " bytes used");
                assertTrue(store.usedBytes() <= fixture.capacity);
                int size = store.table().size();
                long[] ids = entries(store).keySet().stream()
                        .mapToLong(Long::longValue)
                        .toArray();
                assertEquals(size, read(store, ids));
            }
            assertTrue(store.statistics().cleanedSegments() > 0);
            assertTrue(store.statistics().reclaimedSegments() > 0);
            assertTrue(store.liveBytes() <= store.liveLimitBytes() + (4 << 20));
            assertEquals(0, store.statistics().badRecords());
        }
        assertEquals(List.of(), fixture.failures);
    }

    /** Stands for demotion: each entry is removed with some probability, until there is space. */
    private static void demoteSome(SsdStore store, Random random) {
        while (store.liveBytes() > store.liveLimitBytes() * 9 / 10) {
            store.table().forEach(e -> {
                if (random.nextInt(10) == 0) {
                    store.demote(e.chunkId);
                }
            });
        }
    }

    @Test
    void whatCanNotBeDemotedLeavesNoRoomForMore() throws IOException {
        SsdFixture fixture = fixture();
        fixture.capacity = 12 << 20;
        try (SsdStore store = fixture.open()) {
            promote(store, 1, 5000);
            assertTrue(fixture.fate(OfferFate.NO_ROOM) > 0);
            assertEquals(
                    5000 - 1 - fixture.fate(OfferFate.NO_ROOM), store.table().size());
            assertTrue(fixture.bytesOnDisk() <= fixture.capacity);
        }
        fixture.maxEntries = 100;
        try (SsdStore store = fixture.open()) {
            assertEquals(100, store.table().size());
        }
    }

    @Test
    void aSmallerCapacityIsReachedAndALargerOneUsed() throws IOException {
        SsdFixture fixture = fixture();
        fixture.capacity = 32 << 20;
        try (SsdStore store = fixture.open()) {
            fixture.makeRoom = () -> demoteSome(store, new Random(5));
            promote(store, 1, 6000);
            long large = store.usedBytes();
            assertTrue(large > 16 << 20);
            store.resize(16 << 20);
            for (int i = 0; i < 50 && store.usedBytes() > 16 << 20; i++) {
                store.drain();
            }
            assertTrue(fixture.bytesOnDisk() <= 16 << 20, fixture.bytesOnDisk() + " bytes");
            assertEquals(store.table().size(), read(store, range(1, 6000)));
            store.resize(48 << 20);
            promote(store, 10_000, 17_000);
            assertTrue(store.usedBytes() > 20 << 20);
        }
    }

    @Test
    void readersWritersAndDemotionsDoNotDisturbEachOther() throws Exception {
        SsdFixture fixture = fixture();
        fixture.capacity = 14 << 20;
        long seed = TestSeed.next();
        AtomicBoolean ended = new AtomicBoolean();
        ExecutorService executor = Executors.newFixedThreadPool(3);
        try (SsdStore store = fixture.open()) {
            fixture.makeRoom = () -> demoteSome(store, new Random(seed));
            List<Future<Integer>> readers = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                Random random = new Random(seed + t);
                readers.add(executor.submit(() -> {
                    int found = 0;
                    while (!ended.get()) {
                        long first = 1 + random.nextInt(6000);
                        found += read(store, range(first, first + 20));
                    }
                    return found;
                }));
            }
            Random random = new Random(seed);
            for (int i = 0; i < 6000; i++) {
                offer(store, 1 + random.nextInt(6000));
                if (i % 10 == 0) {
                    store.demote(1 + random.nextInt(6000));
                }
                if (i % 200 == 0) {
                    store.drain();
                }
            }
            ended.set(true);
            for (Future<Integer> reader : readers) {
                assertNotEquals(0, reader.get());
            }
            assertEquals(0, store.statistics().badRecords());
            assertEquals(0, store.statistics().readFailures());
        } finally {
            ended.set(true);
            executor.shutdownNow();
        }
    }

    @Test
    void aClosedStoreServesNothingAndClosesTwice() throws IOException {
        SsdStore store = fixture().open();
        promote(store, 1, 10);
        store.close();
        store.close();
        assertEquals(OfferAnswer.UNAVAILABLE, offer(store, 20));
        assertEquals(0, read(store, 1, 2));
        assertFalse(store.takesWrites());
    }
}
