package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.engine.ChunkEngine;

/** A volume of chunks in a folder, whose containers are damaged, healed and checked. For one thread. */
final class ChunkFolder implements Closeable {
    /** No pass of healing begins by itself in the time of a test. */
    static final int NEVER_MS = 1_000_000_000;

    final VolumeConfig config;
    /** Where each chunk was put first, by its number. */
    final Map<Long, Long> locations = new TreeMap<>();

    ChunkVolume volume;

    /** @param ssd folder for copies; null for none */
    ChunkFolder(Path folder, @Nullable Path ssd) throws IOException {
        this(folder, ssd, ContentHash.SHA_256);
    }

    /** As above, with other fingerprints. */
    ChunkFolder(Path folder, @Nullable Path ssd, ContentHash hash) throws IOException {
        VolumeConfig without =
                VolumeConfigs.in(folder, 4L << 30, Chunking.SHA256).withHash(hash);
        config = ssd == null
                ? without
                : without.withSsd(
                        ssd,
                        new HotSettings(
                                true, 64 << 20, 2, 128 << 10, true, 10_000, HotSettings.Policy.REFERENCE_COUNT));
        ChunkVolume.create(config);
        open();
    }

    /** Returns the fingerprint of a chunk, as the client has it. */
    byte[] fingerprint(long number) {
        byte[] chunk = ChunkTrial.chunk(number);
        byte[] made = new byte[Fingerprints.BYTES];
        new ContentHasher().fingerprint(config.hash(), chunk, 0, chunk.length, made, 0);
        return ContentHash.ofClient(made, 0);
    }

    void open() throws IOException {
        // The tests have no maps: the counts are right at any time.
        volume = ChunkEngine.openAt(
                config,
                stores -> ChunkVolume.open(
                        config, stores, Verification.CHECKSUMS, Duration.ofHours(1), System::nanoTime, null));
        volume.maintenance().heal().setDelays(NEVER_MS, NEVER_MS);
    }

    void reopen() throws IOException {
        volume.close();
        open();
    }

    /** Puts chunks with one reference each; notes where those are that are put for the first time. */
    void put(long from, long to) throws IOException {
        for (long number = from; number < to; number++) {
            byte[] chunk = ChunkTrial.chunk(number);
            long location =
                    volume.put(fingerprint(number), chunk, chunk.length, 1, 1).location();
            locations.putIfAbsent(number, location);
        }
        volume.sync();
    }

    byte @Nullable [] get(long number) throws IOException {
        return volume.get(fingerprint(number), locations.get(number));
    }

    /** Returns how many of the chunks give an error; the others must have the right bytes. */
    int unreadable() throws IOException {
        int unreadable = 0;
        for (long number : locations.keySet()) {
            byte[] found;
            try {
                found = get(number);
            } catch (IOException e) {
                unreadable++;
                continue;
            }
            assertArrayEquals(ChunkTrial.chunk(number), found, () -> "chunk " + number);
        }
        return unreadable;
    }

    /** Takes the reference of each chunk away that gives an error, as if its file were deleted. */
    void claimUnreadable() throws IOException {
        for (Map.Entry<Long, Long> chunk : locations.entrySet()) {
            byte[] fingerprint = fingerprint(chunk.getKey());
            try {
                volume.get(fingerprint, chunk.getValue());
            } catch (IOException e) {
                assertEquals(chunk.getValue(), volume.claim(fingerprint, chunk.getValue(), -1));
                assertEquals(0, volume.references(chunk.getValue()));
            }
        }
    }

    ScrubTotals scrub() throws IOException {
        return volume.maintenance().scrub().run((totals, rest, next) -> true).totals();
    }

    HealReport heal() throws IOException {
        return volume.maintenance().heal().run(soFar -> true);
    }

    long damagedChunks() {
        return volume.maintenance().heal().unhealedChunks();
    }

    List<PackedContainer> containers() throws IOException {
        return PackedContainer.in(config.locations().data());
    }

    /** Flips a bit of the chunks of each container, while the volume is closed. */
    void damage() throws IOException {
        volume.close();
        for (PackedContainer container : containers()) {
            container.flipBitInFrames();
        }
        open();
    }

    /** All chunks can be read, nothing is known to be damaged, and neither a scrub nor a check finds anything. */
    void assertWhole() throws IOException {
        assertEquals(0, unreadable());
        assertEquals(0, damagedChunks());
        assertEquals(List.of(), volume.maintenance().damage().faults());
        assertTrue(scrub().isClean());
        assertEquals(
                List.of(),
                volume.maintenance().check().run((step, done, of) -> {}).findings());
    }

    /** Waits until something is true that others do. */
    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - end < 0, "not within 60 s");
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() throws IOException {
        volume.close();
    }
}
