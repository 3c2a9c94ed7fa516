package org.opendedup.sar.tier.promotion;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerClaims;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.metadata.KeyValueStores;
import org.opendedup.sar.metadata.MetadataHeader;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.tier.copies.ChunkRequest;
import org.opendedup.sar.tier.copies.FakeSsd;
import org.opendedup.sar.tier.copies.Refusal;
import org.opendedup.sar.tier.policy.Settings;
import org.opendedup.sar.tier.policy.TierSettings.Policy;

/** On real containers with eight chunks a frame, of which every third was wanted while the queue was full. */
@Timeout(60)
class OfferRetriesTest {
    private static final int CHUNK = 8 << 10;
    private static final int CHUNKS = 600;
    private static final int PER_CONTAINER = 128;

    private final FakeSsd ssd = new FakeSsd(Long.MAX_VALUE);
    private final ExecutorService workers = Executors.newSingleThreadExecutor();
    private final SelectivePromotion promotion = new SelectivePromotion(
            Settings.of(Policy.REFERENCE_COUNT), ssd, Admission.OPEN, (chunkId, length) -> false, CHUNKS);
    private final Map<Long, byte[]> wanted = new HashMap<>();
    private final Map<Long, Integer> counts = new HashMap<>();
    private final Home home = new Home();
    private LongSupplier diskUse = () -> 0;

    @TempDir
    Path folder;

    private ContainerStore containers;
    private MetadataStore metadata;

    @BeforeEach
    void store() throws IOException {
        AtomicLong ids = new AtomicLong();
        containers = ContainerStore.open(
                org.opendedup.sar.io.FileDirectory.open(folder),
                new ContainerOptions(
                        new Compression(Compression.Codec.NONE, 1, 64 << 10), 16 << 20, PER_CONTAINER, 1, 4 << 20),
                ids::incrementAndGet,
                ContainerClaims.NONE,
                container -> null,
                (container, table) -> {},
                workers,
                1 << 20);
        metadata = MetadataStore.format(
                KeyValueStores.heap(),
                new MetadataHeader(new java.util.UUID(1, 2), 1 << 18, 3, MetadataHeader.FORMAT_VERSION));
        Random random = new Random(TestSeed.next());
        ChunkRequest duplicates = new ChunkRequest();
        try (ContainerWriter writer = containers.writer(1)) {
            for (int i = 0; i < CHUNKS; i++) {
                byte[] data = new byte[CHUNK];
                random.nextBytes(data);
                long chunkId = writer.append(data, 0, CHUNK, new byte[Fingerprints.BYTES], 0);
                if (i % 3 == 0) {
                    wanted.put(chunkId, data);
                    counts.put(chunkId, 9);
                    duplicates.add(chunkId, CHUNK, 0, -1);
                    duplicates.setData(duplicates.count() - 1, data, 0, CHUNK);
                    duplicates.setReferences(duplicates.count() - 1, 9);
                }
            }
        }
        containers.sealAll();
        ssd.answer = OfferAnswer.QUEUE_FULL;
        promotion.written(1, duplicates);
        ssd.answer = OfferAnswer.TAKEN;
        assertEquals(wanted.size(), promotion.remembered());
    }

    @AfterEach
    void close() throws IOException {
        containers.close();
        metadata.close();
        workers.shutdownNow();
    }

    /** Frames of the containers; tests say which are in memory and which are damaged. */
    private final class Home implements HomeFrames {
        final Map<Long, Frame> memory = new HashMap<>();
        final Set<Long> damaged = new HashSet<>();
        final List<Integer> turns = new ArrayList<>();

        private long key(long container, int frame) {
            return container << 32 | frame;
        }

        @Override
        public int frameOf(long chunkId) throws IOException {
            return containers.frameOf(chunkId);
        }

        @Override
        public @Nullable Frame inMemory(long container, int frame) {
            return memory.get(key(container, frame));
        }

        @Override
        public void read(long container, int[] frames, int count, FrameConsumer consumer) throws IOException {
            turns.add(count);
            containers.readFrames(container, frames, count, 0, new FrameConsumer() {
                @Override
                public void frame(int frame, Frame contents) {
                    if (damaged.contains(key(container, frame))) {
                        consumer.damaged(frame, new IOException("damaged"));
                    } else {
                        consumer.frame(frame, contents);
                    }
                }

                @Override
                public void damaged(int frame, IOException failure) {
                    throw new AssertionError(failure);
                }
            });
        }
    }

    private IdleDisk disk() {
        return new IdleDisk(() -> diskUse.getAsLong());
    }

    private void bringBack(IdleDisk disk) throws PromotionStopped {
        new OfferRetries(
                        promotion,
                        new BackgroundPromotion.Sources(
                                metadata.recipes(),
                                1 << 18,
                                containers,
                                home,
                                id -> counts.getOrDefault(id, 0),
                                diskUse),
                        disk)
                .work();
    }

    private void assertThere(Set<Long> chunks) {
        assertEquals(chunks, ssd.entries.keySet());
        for (long chunkId : chunks) {
            assertArrayEquals(wanted.get(chunkId), ssd.bytes.get(chunkId));
        }
        PromotionStatistics figures = promotion.statistics();
        assertEquals(
                figures.offered(), figures.promoted() + figures.allRefused() + figures.waiting(), figures::toString);
    }

    @Test
    void whatIsNotInMemoryIsReadFromTheDiskAFewFramesAtATurn() throws Exception {
        bringBack(disk());
        assertThere(wanted.keySet());
        assertEquals(0, promotion.remembered());
        assertTrue(home.turns.stream().allMatch(frames -> frames <= 32), home.turns::toString);
        // Eight chunks a frame: each frame once.
        assertEquals(CHUNKS / 8, home.turns.stream().mapToInt(Integer::intValue).sum());
    }

    @Test
    void whatIsInMemoryIsNotRead() throws Exception {
        for (long chunkId : wanted.keySet()) {
            long container = org.opendedup.sar.common.ChunkId.container(chunkId);
            int frame = containers.frameOf(chunkId);
            new HomeDouble(containers).read(container, new int[] {frame}, 1, new FrameConsumer() {
                @Override
                public void frame(int number, Frame contents) {
                    home.memory.put(home.key(container, number), contents);
                }

                @Override
                public void damaged(int number, IOException failure) {
                    throw new AssertionError(failure);
                }
            });
        }
        bringBack(disk());
        assertThere(wanted.keySet());
        assertEquals(List.of(), home.turns);
    }

    @Test
    void whatIsDamagedAtHomeIsGivenUpAndCounted() throws Exception {
        long first = wanted.keySet().stream().min(Long::compare).orElseThrow();
        int frame = containers.frameOf(first);
        long container = org.opendedup.sar.common.ChunkId.container(first);
        home.damaged.add(home.key(container, frame));
        Set<Long> whole = new HashSet<>();
        for (long chunkId : wanted.keySet()) {
            if (org.opendedup.sar.common.ChunkId.container(chunkId) != container
                    || containers.frameOf(chunkId) != frame) {
                whole.add(chunkId);
            }
        }
        bringBack(disk());
        assertThere(whole);
        assertEquals(wanted.size() - whole.size(), promotion.statistics().refused(Refusal.UNREADABLE));
        assertEquals(0, promotion.remembered());
    }

    @Test
    void whatNothingRefersToAnyMoreIsForgottenUnread() throws Exception {
        counts.clear();
        bringBack(disk());
        assertThere(Set.of());
        assertEquals(wanted.size(), promotion.statistics().refused(Refusal.UNREFERENCED));
        assertEquals(List.of(), home.turns);
    }

    @Test
    void whileTheDiskIsInUseNothingIsLookedAt() {
        AtomicLong uses = new AtomicLong();
        IdleDisk[] disk = new IdleDisk[1];
        diskUse = () -> {
            if (uses.incrementAndGet() == 4) {
                disk[0].close();
            }
            return uses.get();
        };
        disk[0] = disk();
        assertThrows(PromotionStopped.class, () -> bringBack(disk[0]));
        assertThere(Set.of());
        assertEquals(wanted.size(), promotion.remembered());
        assertEquals(List.of(), home.turns);
    }
}
