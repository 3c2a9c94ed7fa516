package org.opendedup.sar.restore.bulk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.bulk.ContainerOrderRestore.Milestones;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.RemovedChunks;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** Restores from a volume with chunks of 4 KiB in several containers into memory. */
@Timeout(60)
class ContainerOrderRestoreTest {
    private static final int CHUNK = 4096;
    private static final int FILE_BYTES = 18 << 20;
    private static final long FILE = 77;

    @TempDir
    Path folder;

    private VolumeConfig config;
    private Volume volume;
    private Places places;
    private final byte[] content = new byte[FILE_BYTES];
    /** The restored pieces of the file, by their offsets in it. */
    private final List<Reference> references = new ArrayList<>();

    private record Reference(long chunkId, int fingerprintPrefix) {}

    @BeforeEach
    void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder.resolve("volume"), 1L << 30, Chunking.SHA256);
        Volume.create(config);
        volume = Volume.open(config);
        new Random(1).nextBytes(content);
        long inode = volume.makeNode(Inode.ROOT, "file".getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(content));
        volume.sync(file);
        volume.close(file);
        volume.maintenance()
                .forEachReference(
                        inode,
                        (offset, chunkId, chunkOffset, length, fingerprintPrefix) ->
                                references.add(new Reference(chunkId, fingerprintPrefix)));
        places = new Places(
                FileDirectory.open(Files.createDirectory(folder.resolve("scratch"))), 1 << 20, StopCheck.NEVER);
    }

    @AfterEach
    void close() throws IOException {
        places.close();
        volume.close();
    }

    /** Receives the restored bytes of one file, and records their order. */
    private static final class InMemory implements PlaceWriter {
        private final byte[] bytes;
        private final Map<Long, Integer> damaged = Collections.synchronizedMap(new HashMap<>());
        private final AtomicLong written = new AtomicLong();

        InMemory(int length) {
            bytes = new byte[length];
        }

        @Override
        public void write(long file, long offset, byte[] data, int from, int length) {
            assertEquals(FILE, file);
            System.arraycopy(data, from, bytes, (int) offset, length);
            written.addAndGet(length);
        }

        @Override
        public void damaged(long file, long offset, int length, IOException why) {
            damaged.put(offset, length);
        }
    }

    private static final Milestones NONE = new Milestones() {
        @Override
        public boolean isDue() {
            return false;
        }

        @Override
        public void reached(long container, long bytes) {}
    };

    private void addAll() throws IOException {
        for (int i = references.size() - 1; i >= 0; i--) {
            Reference reference = references.get(i);
            places.add(reference.chunkId, 0, CHUNK, reference.fingerprintPrefix, FILE, (long) i * CHUNK);
        }
    }

    private InMemory restore(int length, long from, Milestones milestones) throws IOException {
        InMemory target = new InMemory(length);
        volume.maintenance().restorer().restore(places, from, target, milestones);
        return target;
    }

    @Test
    void everyPlaceGetsItsBytesWhateverTheOrder() throws IOException {
        addAll();
        InMemory restored = restore(FILE_BYTES, 0, NONE);
        assertArrayEquals(content, restored.bytes);
        assertEquals(FILE_BYTES, places.bytes());
        assertEquals(FILE_BYTES, restored.written.get());
        assertTrue(restored.damaged.isEmpty());
    }

    @Test
    void aPartOfAChunkGoesToItsPlace() throws IOException {
        Reference reference = references.get(9);
        places.add(reference.chunkId, 100, 50, reference.fingerprintPrefix, FILE, 7);
        InMemory restored = restore(57, 0, NONE);
        assertEquals(50, restored.written.get());
        assertEquals(content[9 * CHUNK + 100], restored.bytes[7]);
        assertEquals(content[9 * CHUNK + 149], restored.bytes[56]);
    }

    @Test
    void aChunkOfMorePlacesThanAreHandledAtATimeGoesToAllOfThem() throws IOException {
        int copies = 2 * PlaceBatch.MAX_PLACES + 5;
        for (int i = 0; i < copies; i++) {
            places.add(references.get(3).chunkId, 0, 16, references.get(3).fingerprintPrefix, FILE, 16L * i);
        }
        InMemory restored = restore(16 * copies, 0, NONE);
        assertEquals(16L * copies, restored.written.get());
        assertEquals(content[3 * CHUNK + 15], restored.bytes[16 * copies - 1]);
    }

    @Test
    void milestonesComeInTheOrderOfTheContainersAndWithAllBeforeThem() throws IOException {
        addAll();
        List<Long> reached = new ArrayList<>();
        InMemory target = new InMemory(FILE_BYTES);
        long first = ChunkId.container(references.get(0).chunkId);
        volume.maintenance().restorer().restore(places, 0, target, new Milestones() {
            @Override
            public boolean isDue() {
                return true;
            }

            @Override
            public void reached(long container, long bytes) {
                reached.add(container);
                long below = references.stream()
                        .filter(reference -> ChunkId.container(reference.chunkId) < container)
                        .count();
                assertEquals(below * CHUNK, target.written.get());
                assertEquals(below * CHUNK, bytes);
            }
        });
        assertTrue(reached.size() > 3, reached::toString);
        assertEquals(first, reached.get(0));
        assertEquals(reached.stream().sorted().distinct().toList(), reached);
    }

    @Test
    void aMilestoneWithinAContainerDoesNotCountTheBytesThatAreWrittenAgain() throws IOException {
        Reference early = references.get(0);
        Reference late = references.get(references.size() - 1);
        int copies = PlaceBatch.MAX_PLACES + 5;
        places.add(early.chunkId, 0, 100, early.fingerprintPrefix, FILE, 0);
        for (int i = 0; i < copies; i++) {
            places.add(late.chunkId, 0, 1, late.fingerprintPrefix, FILE, 100 + i);
        }
        Map<Long, List<Long>> bytesAt = new TreeMap<>();
        restore(100 + copies, 0, new Milestones() {
            @Override
            public boolean isDue() {
                return true;
            }

            @Override
            public void reached(long container, long bytes) {
                bytesAt.computeIfAbsent(container, unused -> new ArrayList<>()).add(bytes);
            }
        });
        assertEquals(
                Map.of(
                        ChunkId.container(early.chunkId),
                        List.of(0L),
                        ChunkId.container(late.chunkId),
                        List.of(100L, 100L)),
                bytesAt);
    }

    @Test
    void itGoesOnFromAContainer() throws IOException {
        addAll();
        long last = ChunkId.container(references.get(references.size() - 1).chunkId);
        long chunks = references.stream()
                .filter(reference -> ChunkId.container(reference.chunkId) >= last)
                .count();
        assertEquals(chunks * CHUNK, restore(FILE_BYTES, last, NONE).written.get());
    }

    @Test
    void whatCannotBeHadIsToldAndAllElseIsRestored() throws IOException {
        Reference good = references.get(0);
        places.add(good.chunkId, 0, CHUNK, good.fingerprintPrefix, FILE, 0);
        places.add(good.chunkId, 0, CHUNK, good.fingerprintPrefix + 1, FILE, CHUNK);
        places.add(good.chunkId, 1, CHUNK, good.fingerprintPrefix, FILE, 2 * CHUNK);
        places.add(good.chunkId | (ChunkId.MAX_SLOTS - 1), 0, CHUNK, 0, FILE, 3 * CHUNK);
        places.add(ChunkId.of(1_000_000, 0), 0, CHUNK, 0, FILE, 4 * CHUNK);
        InMemory restored = restore(5 * CHUNK, 0, NONE);
        assertEquals(CHUNK, restored.written.get());
        assertEquals(
                Map.of((long) CHUNK, CHUNK, 2L * CHUNK, CHUNK, 3L * CHUNK, CHUNK, 4L * CHUNK, CHUNK), restored.damaged);
    }

    @Test
    void aRemovedChunkIsToldAndAllElseIsRestored() throws IOException {
        addAll();
        Reference removed = references.get(3);
        volume.close();
        volume = Volume.open(config);
        BitSet slots = new BitSet();
        slots.set(ChunkId.slot(removed.chunkId));
        RemovedChunks.remove(volume, config, ChunkId.container(removed.chunkId), slots);
        volume.close();
        volume = Volume.open(config);
        // The values that a chunk of length 0 would have.
        places.add(removed.chunkId, 0, CHUNK, 0, FILE, FILE_BYTES);
        InMemory restored = restore(FILE_BYTES, 0, NONE);
        Arrays.fill(content, 3 * CHUNK, 4 * CHUNK, (byte) 0);
        assertArrayEquals(content, restored.bytes);
        assertEquals(Map.of(3L * CHUNK, CHUNK, (long) FILE_BYTES, CHUNK), restored.damaged);
    }

    @Test
    void aTargetThatTakesNoMoreEndsIt() throws IOException {
        addAll();
        AtomicLong calls = new AtomicLong();
        PlaceWriter full = new PlaceWriter() {
            @Override
            public void write(long file, long offset, byte[] data, int from, int length) throws IOException {
                calls.incrementAndGet();
                throw new IOException("the disk is full");
            }

            @Override
            public void damaged(long file, long offset, int length, IOException why) {
                assertFalse(true, "it is the target that fails");
            }
        };
        var e = assertThrows(
                IOException.class, () -> volume.maintenance().restorer().restore(places, 0, full, NONE));
        assertEquals("the disk is full", e.getMessage());
        assertTrue(calls.get() < references.size() / 2, () -> calls + " calls");
    }

    /** A process that has too many files open, say: the bytes are there. */
    @Test
    void aFailureThatSaysNothingOfWhatIsStoredEndsIt() throws IOException {
        places.add(references.get(0).chunkId, 0, CHUNK, references.get(0).fingerprintPrefix, FILE, 0);
        AtomicReference<IOException> failure = new AtomicReference<>();
        InMemory target = new InMemory(CHUNK);
        PlaceBatch batch = new PlaceBatch(target, true, failure);
        Places.Cursor place = places.from(0);
        assertTrue(place.next());
        batch.add(place);
        IOException noAnswer = new AccessDeniedException("the pack");
        batch.allDamaged(noAnswer);
        assertEquals(Map.of(), target.damaged);
        assertEquals(noAnswer, failure.get());
        // The control: an error of the disk is damage of these bytes only.
        batch.allDamaged(new IOException("Input/output error"));
        assertEquals(Map.of(0L, CHUNK), target.damaged);
    }
}
