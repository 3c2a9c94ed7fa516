package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.chunks.ClientReferences;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/** A volume of chunks in memory, which can lose power; its grace period passes when the test says so. */
final class ChunkTrial {
    static final Duration GRACE = Duration.ofHours(1);
    static final VolumeConfig CONFIG = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256);

    /** The time in nanoseconds. */
    final AtomicLong nanos = new AtomicLong(1);

    /** The client's maps; null: its counts decide what is garbage. */
    @Nullable
    ClientReferences client;

    final HookedStores hooks = new HookedStores();
    final CrashDirectory data;
    final CrashKeyValueStore metadata;

    ChunkTrial(CrashDirectory data, CrashKeyValueStore metadata) {
        this.data = data;
        this.metadata = metadata;
    }

    static ChunkTrial create(CrashDirectory data) throws IOException {
        ChunkTrial trial = new ChunkTrial(data, new CrashKeyValueStore());
        ChunkVolume.create(CONFIG, new UUID(1, 2), data, trial.metadata, InstantSource.system());
        return trial;
    }

    /** Opens the volume, with an empty index: it is made anew from the containers. */
    ChunkVolume open() throws IOException {
        return ChunkVolume.open(CONFIG, stores(), Verification.CHECKSUMS, GRACE, nanos::get, client);
    }

    /** Opens a volume with these stores, and an empty index. */
    static ChunkVolume open(Directory data, KeyValueStore metadata) throws IOException {
        var stores = new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system());
        return ChunkVolume.open(CONFIG, stores, Verification.CHECKSUMS, GRACE, System::nanoTime, null);
    }

    VolumeStores stores() {
        return new VolumeStores(
                hooks.hooked(data), hooks.hooked(metadata), new HeapChunkIndex(), InstantSource.system());
    }

    /** Returns what is left after a power cut now. */
    ChunkTrial crash(long seed) throws IOException {
        ChunkTrial left = new ChunkTrial(data.crash(seed), metadata.crash(seed));
        left.client = client;
        return left;
    }

    /** Lets more than two grace periods pass. */
    void passGrace() {
        nanos.addAndGet(GRACE.toNanos() * 2 + 1);
    }

    /** Returns a chunk of its own for each number; half of it compresses. */
    static byte[] chunk(long number) {
        SplittableRandom random = new SplittableRandom(number);
        byte[] bytes = new byte[2000 + random.nextInt(6000)];
        byte[] noise = new byte[bytes.length / 2];
        random.nextBytes(noise);
        System.arraycopy(noise, 0, bytes, 0, noise.length);
        return bytes;
    }

    static byte[] fingerprint(byte[] chunk) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(chunk);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
