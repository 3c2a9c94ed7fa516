package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.volume.care.OfflineCheck;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.chunks.ChunkWalk;
import org.opendedup.sar.volume.chunks.StoredChunk;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

@Timeout(120)
class ChunkVolumeTest {
    private final long seed = TestSeed.next();

    private static ChunkVolume.Put put(ChunkVolume volume, long number, int references) throws IOException {
        byte[] chunk = ChunkTrial.chunk(number);
        return volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, references, number % 3);
    }

    private static byte[] fingerprint(long number) {
        return ChunkTrial.fingerprint(ChunkTrial.chunk(number));
    }

    private static CollectionReport collect(ChunkVolume volume) throws IOException {
        return volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
    }

    @Test
    void locationsAreNoneOfTheReservedNumbers() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            long location = put(volume, 1, 1).location();
            assertTrue(location >= 65536, () -> "location " + location);
            assertEquals(0, ChunkId.slot(location));
        }
    }

    @Test
    void aWrongLocationLeadsToTheRightContentOrToNone() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            long first = put(volume, 1, 1).location();
            long second = put(volume, 4, 1).location();
            assertNotEquals(first, second);
            assertArrayEquals(ChunkTrial.chunk(1), volume.get(fingerprint(1), second));
            assertArrayEquals(ChunkTrial.chunk(4), volume.get(fingerprint(4), Long.MAX_VALUE));
            assertNull(volume.get(fingerprint(7), first));
            assertNull(volume.get(fingerprint(7), 12));
            assertEquals(0, volume.statistics().garbageBytes());
            // A wrong location is no damage.
            assertArrayEquals(ChunkTrial.chunk(4), volume.get(fingerprint(4), second));
            assertFalse(put(volume, 4, 1).isNew());
        }
    }

    @Test
    void fingerprintsThatAreNoSha256AreRefused() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            byte[] chunk = ChunkTrial.chunk(1);
            byte[] other = fingerprint(2);
            assertTrue(assertThrows(IOException.class, () -> volume.put(other, chunk, chunk.length, 1, 1))
                    .getMessage()
                    .contains("SHA-256 of"));
            byte[] md5 = new byte[16];
            assertTrue(assertThrows(IOException.class, () -> volume.put(md5, chunk, chunk.length, 1, 1))
                    .getMessage()
                    .contains("SHA-256 of"));
            assertThrows(IOException.class, () -> volume.find(md5));
            assertEquals(0, volume.statistics().chunks());
        }
    }

    /** Also a single one among many: it would take later writes of what it says as duplicates. */
    @Test
    void eachFingerprintThatIsNoSha256IsRefused() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            for (long number = 1; number < 2000; number++) {
                put(volume, number, 1);
                assertTrue(number % 7 != 0 || isRefused(volume, 10_000 + number));
            }
            assertTrue(put(volume, 4000, 1).isNew());
        }
    }

    /** Puts a chunk with the fingerprint of another one. */
    private static boolean isRefused(ChunkVolume volume, long number) {
        byte[] chunk = ChunkTrial.chunk(number);
        try {
            volume.put(fingerprint(-number), chunk, chunk.length, 1, 1);
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void aCollectionKeepsWhatHadAReferenceWithinTheGracePeriod() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            Map<Long, Long> locations = new HashMap<>();
            for (long number = 0; number < 60; number++) {
                locations.put(number, put(volume, number, 1).location());
            }
            trial.passGrace();
            for (long number = 0; number < 40; number++) {
                volume.claim(fingerprint(number), locations.get(number), -1);
            }
            CollectionReport early = collect(volume);
            assertEquals(0, early.removed() + early.rewritten(), "containers changed within the grace period");
            assertEquals(60, volume.statistics().chunks());
            for (long number = 0; number < 20; number++) {
                assertEquals(
                        locations.get(number), volume.claim(fingerprint(number), locations.get(number), 1), "revived");
            }
            trial.passGrace();
            CollectionReport report = collect(volume);
            assertTrue(report.rewritten() > 0, report::toString);
            assertEquals(40, volume.statistics().chunks());
            for (long number = 0; number < 60; number++) {
                byte[] expected = number < 20 || number >= 40 ? ChunkTrial.chunk(number) : null;
                assertArrayEquals(expected, volume.get(fingerprint(number), locations.get(number)), "chunk " + number);
                assertEquals(
                        expected == null ? ChunkVolume.NOT_FOUND : locations.get(number),
                        volume.find(fingerprint(number)));
            }
        }
    }

    @Test
    void openingBeginsTheGracePeriodOfWhatHasNoReference() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            put(volume, 1, 0);
            trial.passGrace();
        }
        try (ChunkVolume volume = trial.open()) {
            collect(volume);
            assertEquals(1, volume.statistics().chunks());
            trial.passGrace();
            collect(volume);
            assertEquals(0, volume.statistics().chunks());
            assertEquals(ChunkVolume.NOT_FOUND, volume.find(fingerprint(1)));
        }
    }

    @Test
    void aWalkVisitsEachChunkOnce() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            Map<Long, Integer> expected = new HashMap<>();
            for (long number = 0; number < 100; number++) {
                expected.put(put(volume, number, (int) number % 4).location(), (int) number % 4);
            }
            ChunkWalk walk = volume.walk();
            for (StoredChunk chunk = walk.next(); chunk != null; chunk = walk.next()) {
                assertEquals(expected.remove(chunk.location()), chunk.references());
                byte[] bytes = volume.get(chunk.fingerprint(), chunk.location());
                assertArrayEquals(chunk.fingerprint(), ChunkTrial.fingerprint(bytes));
                assertEquals(bytes.length, chunk.length());
            }
            assertTrue(expected.isEmpty(), expected::toString);
        }
    }

    @Test
    void aDamagedChunkIsAnErrorUntilItIsWrittenAgainAndThenReadAtItsOldLocation() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        long location;
        try (ChunkVolume volume = trial.open()) {
            location = put(volume, 1, 1).location();
        }
        String pack = trial.data.list().stream()
                .filter(name -> name.endsWith(".pack"))
                .findFirst()
                .orElseThrow();
        byte[] bytes = trial.data.contents(pack);
        // In the payload of the only frame: the pack's header and the container's are before it.
        bytes[4096 + 500] ^= 1;
        trial.data.put(pack, bytes);
        try (ChunkVolume volume = trial.open()) {
            assertThrows(IOException.class, () -> volume.get(fingerprint(1), location));
            ChunkVolume.Put again = put(volume, 1, 1);
            assertTrue(again.isNew(), "stored again");
            assertNotEquals(location, again.location());
            assertArrayEquals(ChunkTrial.chunk(1), volume.get(fingerprint(1), location));
            assertArrayEquals(ChunkTrial.chunk(1), volume.get(fingerprint(1), again.location()));
            // The references of old files are still counted where they were.
            assertEquals(location, volume.claim(fingerprint(1), location, -1));
            assertEquals(1, volume.references(again.location()));
        }
    }

    @Test
    void chunksOfAStreamLieTogetherInTheirOrder() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        try (ChunkVolume volume = trial.open()) {
            Map<Long, Long> last = new HashMap<>();
            for (long number = 0; number < 90; number++) {
                long location = put(volume, number, 1).location();
                Long before = last.put(number % 3, location);
                assertEquals(before == null ? location : before + 1, location, "chunk " + number);
            }
        }
    }

    @Test
    void ourMountAndOurRepairRefuseAVolumeOfChunksAndTheOtherWayRound(@MemoryFolder Path folder) throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        IOException refused = assertThrows(
                IOException.class, () -> Volume.open(ChunkTrial.CONFIG, trial.stores(), Verification.CHECKSUMS));
        assertTrue(refused.getMessage().contains("chunk store of an SDFS volume"), refused.getMessage());
        assertThrows(IOException.class, () -> MetadataRecords.of(trial.metadata));

        CrashDirectory data = new CrashDirectory(seed);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        Volume.create(ChunkTrial.CONFIG, data, metadata, InstantSource.system());
        VolumeStores files = new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system());
        IOException other = assertThrows(
                IOException.class,
                () -> ChunkVolume.open(
                        ChunkTrial.CONFIG, files, Verification.CHECKSUMS, ChunkTrial.GRACE, () -> 0, null));
        assertTrue(other.getMessage().contains("mount.sdfs"), other.getMessage());

        VolumeConfig onDisk = VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256);
        ChunkVolume.create(onDisk);
        // A check leaves out what needs recipes; ChunkCheckTest says more.
        assertThrows(
                IOException.class,
                () -> new OfflineCheck(onDisk, (what, done, of) -> {}, InstantSource.system()).repair());
        try (ChunkVolume volume = ChunkVolume.open(onDisk, ChunkTrial.GRACE, visitor -> {})) {
            long location = put(volume, 1, 1).location();
            volume.sync();
            assertArrayEquals(ChunkTrial.chunk(1), volume.get(fingerprint(1), location));
        }
    }

    /** What the client knows of a content. */
    private record Known(long location, int references) {}

    @Test
    void answersAreThoseOfAModel() throws IOException {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        SplittableRandom random = new SplittableRandom(seed);
        Map<Long, Known> model = new HashMap<>();
        ChunkVolume volume = trial.open();
        try {
            for (int step = 0; step < 4000; step++) {
                long number = random.nextLong(150);
                Known known = model.get(number);
                switch (random.nextInt(200)) {
                    case 0 -> volume.sync();
                    case 1 -> {
                        collect(volume);
                        // Whether the grace period of a chunk has passed is asked of the volume: it only may collect.
                        for (Map.Entry<Long, Known> entry : Map.copyOf(model).entrySet()) {
                            if (entry.getValue().references == 0
                                    && volume.find(fingerprint(entry.getKey())) == ChunkVolume.NOT_FOUND) {
                                model.remove(entry.getKey());
                            }
                        }
                    }
                    case 2 -> trial.nanos.addAndGet(random.nextLong(ChunkTrial.GRACE.toNanos() * 2));
                    case 3 -> {
                        volume.close();
                        volume = trial.open();
                    }
                    default -> {
                        if (random.nextInt(3) == 0) {
                            int references = random.nextInt(3);
                            ChunkVolume.Put put = put(volume, number, references);
                            assertEquals(known == null, put.isNew(), "step " + step);
                            int before = known == null ? 0 : known.references;
                            model.put(number, new Known(put.location(), before + references));
                        } else if (random.nextBoolean()) {
                            int delta = random.nextInt(5) - 2;
                            long at = random.nextInt(4) == 0 || known == null ? -1 : known.location;
                            long claimed = volume.claim(fingerprint(number), at, delta);
                            assertEquals(known == null ? ChunkVolume.NOT_FOUND : known.location, claimed);
                            if (known != null) {
                                int count = Math.max(0, known.references + delta);
                                model.put(number, new Known(known.location, count));
                            }
                        } else {
                            long at = known == null ? random.nextLong(1 << 20) : known.location;
                            byte[] expected = known == null ? null : ChunkTrial.chunk(number);
                            assertArrayEquals(expected, volume.get(fingerprint(number), at), "step " + step);
                        }
                    }
                }
            }
            for (Map.Entry<Long, Known> entry : model.entrySet()) {
                assertEquals(entry.getValue().references, volume.references(entry.getValue().location));
            }
            assertEquals(model.size(), volume.statistics().chunks());
        } finally {
            volume.close();
        }
    }

    @Test
    void aVolumeInUseIsNotMadeAgain(@MemoryFolder Path folder) throws IOException {
        VolumeConfig onDisk = VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256);
        ChunkVolume.create(onDisk);
        assertThrows(IOException.class, () -> ChunkVolume.create(onDisk));
        try (ChunkVolume volume = ChunkVolume.open(onDisk, ChunkTrial.GRACE, visitor -> {})) {
            assertThrows(IOException.class, () -> ChunkVolume.open(onDisk, ChunkTrial.GRACE, visitor -> {}));
            assertEquals(0, volume.statistics().chunks());
        }
    }
}
