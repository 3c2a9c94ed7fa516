package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.metadata.remote.ShippingStatistics;
import org.opendedup.sar.objects.reliable.ObjectStoreStatistics;
import org.opendedup.sar.remote.PackStatistics;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.RemoteStatistics;
import org.opendedup.sar.volume.store.VolumeStores;

/** A volume whose object store is away for longer than a commit waits. */
@Timeout(60)
class StoreOutageTest {
    private static final byte[] BYTES = "what was accepted".getBytes(US_ASCII);

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 1L << 30, Chunking.VARIABLE_SHA256);
    /** Why commits fail; null: they do not. */
    private volatile @Nullable IOException failure;

    private volatile boolean answers = true;
    private final AtomicInteger asked = new AtomicInteger();

    private Volume open() throws IOException {
        CrashDirectory containers = new CrashDirectory(1);
        HeapKeyValueStore records = new HeapKeyValueStore();
        Volume.create(config, containers, records, InstantSource.system());
        HookedKeyValueStore<HeapKeyValueStore> metadata = new HookedKeyValueStore<>(records) {
            @Override
            protected void commit(Batch batch) throws IOException {
                super.commit(batch);
                IOException thrown = failure;
                if (thrown != null) {
                    throw new IOException("the segment is not there", thrown);
                }
            }
        };
        return Volume.open(
                config,
                new VolumeStores(containers, metadata, new HeapChunkIndex(), InstantSource.system())
                        .withRemote(this::statistics),
                Verification.FINGERPRINTS);
    }

    private RemoteStatistics statistics() {
        asked.incrementAndGet();
        return new RemoteStatistics(
                new RemoteSettings("s3://bucket", Promise.REMOTE, 0),
                new PackStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 8, "assumed"),
                ShippingStatistics.NONE,
                new ObjectStoreStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, answers ? "closed" : "open", 0, 0),
                null,
                null);
    }

    private static OpenFile write(Volume volume) throws IOException {
        Attributes made = volume.makeNode(Inode.ROOT, "a".getBytes(US_ASCII), Modes.REGULAR | 0644, 0, new Owner(1, 1));
        OpenFile file = volume.open(made.inode(), true);
        volume.write(file, 0, ByteBuffer.wrap(BYTES));
        return file;
    }

    @Test
    void theVolumeResumesByItselfWhenItsStoreAnswersAgain() throws IOException {
        try (Volume volume = open()) {
            OpenFile file = write(volume);
            failure = new UnavailableException("no answer");
            answers = false;
            assertThrows(IOException.class, () -> volume.sync(file));
            assertNotNull(volume.stopped());
            failure = null;
            int before = asked.get();
            TestWait.until(() -> asked.get() > before + 1);
            assertNotNull(volume.stopped(), "the store does not answer yet");
            answers = true;
            TestWait.until(() -> volume.stopped() == null);
            volume.sync(file);
            ByteBuffer read = ByteBuffer.allocate(BYTES.length);
            volume.read(file, 0, read);
            assertArrayEquals(BYTES, read.array());
            volume.close(file);
        }
    }

    @Test
    void controlAnotherFailureWaitsForAnAdministrator() throws IOException, InterruptedException {
        try (Volume volume = open()) {
            OpenFile file = write(volume);
            failure = new IOException("EIO");
            assertThrows(IOException.class, () -> volume.sync(file));
            failure = null;
            // Longer than two looks at the store are apart.
            Thread.sleep(2500);
            assertNotNull(volume.stopped(), "a disk is looked at first");
            volume.resume();
            assertNull(volume.stopped());
            volume.close(file);
        }
    }
}
