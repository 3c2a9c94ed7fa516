package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.HeapContainerTable;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.restore.HotVolume;

final class DiskModelTest {
    private static final int FRAMES = 14;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);

    @AutoClose("shutdownNow")
    private final ExecutorService workers = Executors.newFixedThreadPool(2);

    @TempDir
    Path folder;

    private static DiskModel model(double skipMillis, int megabytesPerSecond) {
        long nanos = Math.round(skipMillis * 1e6);
        return new DiskModel(nanos, nanos, megabytesPerSecond * 1_000_000L, DiskModel.Source.CONFIGURED);
    }

    @Test
    void timeIsSeeksAndTransfer() {
        assertEquals(2 * 0.0131 + 1, DiskModel.HDD.seconds(2, 150_000_000), 1e-9);
        assertEquals(0, DiskModel.HDD.seconds(0, 0));
        assertEquals(13.1, DiskModel.HDD.seekMillis());
    }

    @Test
    void inAPredictionAGapIsReadAlongWhileThatIsCheaperThanASeek() {
        assertEquals(1_965_000, DiskModel.HDD.seekBytes());
        assertEquals(0, DiskModel.configured(0, 1 << 30).seekBytes());
    }

    @Test
    void aDiskThatCannotBeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> DiskModel.configured(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> DiskModel.configured(Double.NaN, 1));
        assertThrows(IllegalArgumentException.class, () -> DiskModel.configured(1, 0));
        assertThrows(IllegalArgumentException.class, () -> model(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> model(1, 0));
    }

    @Test
    void aGapIsReadIfItPassesInTheTimeOfASkip() {
        assertEquals(780_000, DiskModel.HDD.gapBytes());
        assertEquals(50_000, DiskModel.SSD.gapBytes());
        assertEquals(150_000, model(1, 150).gapBytes());
    }

    @Test
    void noGapIsSoSmallOrSoLargeThatItWouldNotPay() {
        assertEquals(16 << 10, model(0, 3000).gapBytes());
        assertEquals(2 << 20, model(13, 3000).gapBytes());
        assertEquals(2 << 20, model(1000, 1_000_000).gapBytes());
    }

    /** What a store was asked to read of its file. */
    private static final class Requests implements FrameConsumer {
        private int count;
        private long bytes;

        @Override
        public void requested(long pack, long offset, int requestBytes, long nanos) {
            count++;
            bytes += requestBytes;
        }

        @Override
        public void frame(int frame, Frame contents) {}

        @Override
        public void damaged(int frame, IOException failure) {
            throw new AssertionError(failure);
        }

        double nanos(DiskModel model) {
            return DiskModelTest.nanos(model, count, bytes);
        }
    }

    private static double nanos(DiskModel model, int requests, long bytes) {
        return (double) requests * model.skipNanos() + 1e9 * bytes / model.bytesPerSecond();
    }

    @Test
    void noPlanIsCheaperThanTheOneThatIsMade() throws IOException {
        double noGap = 0;
        double best = 0;
        try (ContainerStore store = store()) {
            long container = fill(store);
            FrameTable table = store.frameTable(container);
            for (int round = 0; round < 400; round++) {
                // From 16 KiB to the whole container.
                DiskModel model = model(0.12 + 2 * random.nextDouble() * random.nextDouble(), 150);
                int[] wanted = someFrames();
                double optimum = cheapest(model, table, wanted);
                assertEquals(
                        optimum,
                        read(store, container, wanted, model.gapBytes()).nanos(model),
                        1,
                        "sar.seed=" + seed);
                best += optimum;
                noGap += read(store, container, wanted, 0).nanos(model);
            }
        }
        // Control: this is not so of any gap.
        assertTrue(noGap > 1.02 * best, "sar.seed=" + seed + ": " + noGap + " and " + best);
    }

    private final HeapContainerTable table = new HeapContainerTable();

    private ContainerStore store() throws IOException {
        return ContainerStore.open(
                FileDirectory.open(folder),
                new ContainerOptions(
                        new Compression(Compression.Codec.NONE, 0, 4096),
                        8 << 20,
                        200,
                        1,
                        1 << 20,
                        ContainerCipher.NONE),
                new AtomicLong()::incrementAndGet,
                table,
                id -> null,
                (id, table) -> {},
                workers,
                100_000);
    }

    /** One container with frames of different sizes. */
    private long fill(ContainerStore store) throws IOException {
        long chunk = 0;
        try (ContainerWriter writer = store.writer(1)) {
            for (int i = 0; i < FRAMES; i++) {
                byte[] bytes = new byte[5000 + random.nextInt(60_000)];
                random.nextBytes(bytes);
                chunk = writer.append(bytes, 0, bytes.length, HotVolume.fingerprint(bytes), 0);
            }
        }
        table.sealAll(store);
        long container = ChunkId.container(chunk);
        assertEquals(FRAMES, store.frameTable(container).frames());
        return container;
    }

    private int[] someFrames() {
        List<Integer> frames = new ArrayList<>();
        double share = random.nextDouble();
        for (int i = 0; i < FRAMES; i++) {
            if (random.nextDouble() < share) {
                frames.add(i);
            }
        }
        return frames.isEmpty()
                ? new int[] {3}
                : frames.stream().mapToInt(Integer::intValue).toArray();
    }

    private static Requests read(ContainerStore store, long container, int[] frames, int gapBytes) throws IOException {
        Requests requests = new Requests();
        store.readFrames(container, frames, frames.length, gapBytes, requests);
        return requests;
    }

    /** The best of all ways to cut the wanted frames into requests, and of the whole container by one. */
    private static double cheapest(DiskModel model, FrameTable table, int[] wanted) {
        long fileBytes = table.fileOffset(FRAMES - 1) + table.fileLength(FRAMES - 1);
        double best = nanos(model, 1, fileBytes);
        for (int cuts = 0; cuts < 1 << (wanted.length - 1); cuts++) {
            long bytes = table.fileLength(wanted[0]);
            for (int i = 1; i < wanted.length; i++) {
                boolean cut = (cuts >> (i - 1) & 1) != 0;
                long from = cut ? table.fileOffset(wanted[i]) : end(table, wanted[i - 1]);
                bytes += end(table, wanted[i]) - from;
            }
            best = Math.min(best, nanos(model, 1 + Integer.bitCount(cuts), bytes));
        }
        return best;
    }

    private static long end(FrameTable table, int frame) {
        return table.fileOffset(frame) + table.fileLength(frame);
    }
}
