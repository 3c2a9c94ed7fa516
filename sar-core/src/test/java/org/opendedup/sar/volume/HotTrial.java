package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.copies.GatedSsd;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.PromotionStatistics;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A volume on real folders whose SSD has delays that the test controls, files of known chunks, and checks of SAR's
 * counters.
 */
final class HotTrial implements Closeable {
    static final int CHUNK = 4096;
    /** Looks, 5 ms apart, at figures that do not add up. */
    private static final int LOOKS = 200;

    final Path ssd;
    final GatedSsd gates = new GatedSsd();
    final List<long[]> files = new ArrayList<>();
    private final VolumeConfig config;
    private final VolumeStores stores;
    final Volume volume;

    HotTrial(Path folder, HotSettings settings, long offerBytes) throws IOException {
        ssd = folder.resolve("ssd");
        gates.offerBytes = offerBytes;
        config = VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256).withSsd(ssd, settings);
        Volume.create(config);
        VolumeStores opened = VolumeLocations.open(config, Ballasts.none());
        stores = new VolumeStores(
                opened.containers(), opened.metadata(), opened.index(), opened.clock(), gates, opened.devices());
        volume = Volume.open(config, stores, Verification.CHECKSUMS);
    }

    @Override
    public void close() throws IOException {
        gates.writes.open();
        gates.reads.open();
        volume.close();
    }

    /** The bytes of a chunk, never zeros; they compress a little. */
    static byte[] chunk(long number) {
        byte[] bytes = new byte[CHUNK];
        new Random(number * 7919 + 13).nextBytes(bytes);
        for (int i = 0; i < CHUNK; i++) {
            bytes[i] &= 0x3f;
        }
        return bytes;
    }

    /** Numbers from {@code from} on in an order with hardly any neighbours. */
    static long[] scattered(long from, int count, long seed) {
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(from + i);
        }
        Collections.shuffle(numbers, new Random(seed));
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    /** Writes a file of these chunks, and stores it. Returns its number in {@link #files}. */
    int write(long[] numbers) throws IOException {
        byte[] name = ("f" + files.size()).getBytes(UTF_8);
        long inode =
                volume.makeNode(Inode.ROOT, name, 0100644, 0, new Owner(0, 0)).inode();
        OpenFile file = volume.open(inode, true);
        byte[] some = new byte[32 * CHUNK];
        for (int i = 0; i < numbers.length; i += 32) {
            int count = Math.min(32, numbers.length - i);
            for (int k = 0; k < count; k++) {
                System.arraycopy(chunk(numbers[i + k]), 0, some, k * CHUNK, CHUNK);
            }
            volume.write(file, (long) i * CHUNK, ByteBuffer.wrap(some, 0, count * CHUNK));
        }
        volume.sync();
        volume.close(file);
        files.add(numbers);
        return files.size() - 1;
    }

    private long inode(int file) throws IOException {
        return volume.lookup(Inode.ROOT, ("f" + file).getBytes(UTF_8)).inode();
    }

    /** Reads a file's chunks, one at a time, and checks them. */
    void readChunks(int file, int... chunks) throws IOException {
        OpenFile open = volume.open(inode(file), false);
        byte[] found = new byte[CHUNK];
        for (int chunk : chunks) {
            assertEquals(CHUNK, volume.read(open, (long) chunk * CHUNK, ByteBuffer.wrap(found)));
            assertArrayEquals(chunk(files.get(file)[chunk]), found);
        }
        volume.close(open);
    }

    /** Reads a file from its beginning to its end and checks it. */
    void readWhole(int file) throws IOException, InterruptedException {
        readWhole(file, () -> {});
    }

    interface BeforeClose {
        void run() throws IOException, InterruptedException;
    }

    /** Reads a file and closes it after {@code last}. */
    void readWhole(int file, BeforeClose last) throws IOException, InterruptedException {
        long[] numbers = files.get(file);
        OpenFile open = volume.open(inode(file), false);
        byte[] found = new byte[32 * CHUNK];
        for (int i = 0; i < numbers.length; i += 32) {
            int bytes = Math.min(32, numbers.length - i) * CHUNK;
            assertEquals(bytes, volume.read(open, (long) i * CHUNK, ByteBuffer.wrap(found, 0, bytes)));
            for (int k = 0; k < bytes / CHUNK; k++) {
                assertArrayEquals(chunk(numbers[i + k]), Arrays.copyOfRange(found, k * CHUNK, (k + 1) * CHUNK));
            }
        }
        last.run();
        volume.close(open);
    }

    HotChunks.Status status() {
        return volume.hot().status();
    }

    PromotionStatistics promotion() {
        return status().promotion();
    }

    /**
     * Waits until the SSD's log has written the accepted chunks and nothing is being read, then checks that all figures
     * add up.
     */
    void checkFigures(String after) throws IOException, InterruptedException {
        await(
                () -> status().log().queuedChunks() == 0 && readsAddUp(status()),
                () -> after + ": " + promotion() + status().distributor());
        HotChunks.Status status = status();
        // The background counts an offer first, and what becomes of it a moment later.
        for (int look = 1; look < LOOKS && !addsUp(status); look++) {
            Thread.sleep(5);
            status = status();
        }
        PromotionStatistics promotion = status.promotion();
        assertEquals(promotion.offered(), outcomes(promotion), after + ": " + promotion);
        assertEquals(status.log().queuedChunks(), promotion.queued(), after);
        assertTrue(readsAddUp(status), after + ": " + status.distributor());
    }

    private static boolean addsUp(HotChunks.Status status) {
        PromotionStatistics promotion = status.promotion();
        return promotion.offered() == outcomes(promotion)
                && promotion.queued() == status.log().queuedChunks()
                && readsAddUp(status);
    }

    private static long outcomes(PromotionStatistics promotion) {
        return promotion.promoted() + promotion.allRefused() + promotion.waiting();
    }

    private static boolean readsAddUp(HotChunks.Status status) {
        DistributorStatistics reads = status.distributor();
        return reads.chunks() == reads.memoryHits() + reads.ssdHits() + reads.homeReads() + reads.unread();
    }

    interface Condition {
        boolean holds() throws IOException;
    }

    static void await(Condition condition, java.util.function.Supplier<String> what)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < deadline, what);
            Thread.sleep(5);
        }
    }
}
