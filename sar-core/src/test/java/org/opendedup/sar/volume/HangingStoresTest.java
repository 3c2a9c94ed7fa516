package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.copies.HotOnDisk;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A store whose calls hang until it comes back: what does not need it goes on, nothing is reported as durable
 * meanwhile, and afterwards everything goes on.
 */
@Timeout(300)
class HangingStoresTest {
    /** After this time a call counts as one that hangs, in seconds. */
    private static final long HANGS_S = 30;

    /**
     * A local file system knows its free space without a disk (statfs). The length of a database's log is the lengths
     * of the files in its folder, which the kernel normally has in memory; nothing guarantees that.
     */
    private static final Set<String> WITHOUT_A_DISK = Set.of("usableBytes", "logBytes");

    private static final HotSettings SETTINGS =
            new HotSettings(true, 6_700_000, 2, 1 << 30, true, 10_000, Policy.REFERENCE_COUNT);

    private enum Location {
        DATA,
        METADATA,
        INDEX,
        SSD
    }

    @MemoryFolder
    Path folder;

    private final CrashDirectory data = new CrashDirectory(1);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private final Map<Location, HookedStores> stores = new EnumMap<>(Location.class);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final byte[] stored = bytes(1);
    private final byte[] accepted = bytes(2);
    private CountDownLatch released = new CountDownLatch(0);
    private CountDownLatch hanging = new CountDownLatch(0);
    private Volume volume;
    private long storedFile;
    private long acceptedFile;

    private interface Work<T> {
        T run() throws Exception;
    }

    private static byte[] bytes(int seed) {
        byte[] made = new byte[300_000];
        new Random(seed).nextBytes(made);
        return made;
    }

    @BeforeEach
    void open() throws IOException {
        for (Location location : Location.values()) {
            stores.put(location, new HookedStores());
        }
        Path ssd = Files.createDirectory(folder.resolve("ssd"));
        VolumeConfig config =
                VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256).withSsd(ssd, SETTINGS);
        Volume.create(config, data, metadata, InstantSource.system());
        volume = Volume.open(
                config,
                new VolumeStores(
                        stores.get(Location.DATA).hooked(data),
                        stores.get(Location.METADATA).hooked(metadata),
                        stores.get(Location.INDEX).hooked(new HeapChunkIndex()),
                        InstantSource.system(),
                        new HotOnDisk(stores.get(Location.SSD)::hooked)),
                Verification.CHECKSUMS);
        volume.hot().attach(ssd);
        storedFile = make("stored");
        write(storedFile, stored);
        volume.sync();
        assertArrayEquals(stored, read(storedFile));
        acceptedFile = make("accepted");
        volume.sync();
        write(acceptedFile, accepted);
    }

    @AfterEach
    void close() throws Exception {
        released.countDown();
        volume.close();
        threads.shutdownNow();
        threads.awaitTermination(HANGS_S, TimeUnit.SECONDS);
    }

    private long make(String name) throws IOException {
        return volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
    }

    private void write(long inode, byte[] bytes) throws IOException {
        OpenFile file = volume.open(inode, true);
        try {
            volume.write(file, 0, ByteBuffer.wrap(bytes));
        } finally {
            volume.close(file);
        }
    }

    private byte[] read(long inode) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(400_000);
        OpenFile file = volume.open(inode, false);
        try {
            while (volume.read(file, found.position(), found) > 0) {
                // Until the end.
            }
        } finally {
            volume.close(file);
        }
        return Arrays.copyOf(found.array(), found.position());
    }

    /** From now on calls of that store hang. */
    private void hang(Location location) {
        CountDownLatch until = new CountDownLatch(1);
        CountDownLatch first = new CountDownLatch(1);
        released = until;
        hanging = first;
        stores.get(location).hook = call -> {
            if (!WITHOUT_A_DISK.contains(call.what())) {
                first.countDown();
                boolean interrupted = false;
                while (until.getCount() > 0) {
                    try {
                        until.await();
                    } catch (InterruptedException e) {
                        // A disk that hangs does not notice.
                        interrupted = true;
                    }
                }
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
            return call.proceed();
        };
    }

    private <T> T ends(Work<T> work) throws Exception {
        AtomicReference<Thread> runner = new AtomicReference<>();
        Future<T> task = threads.submit(() -> {
            runner.set(Thread.currentThread());
            return work.run();
        });
        try {
            return task.get(HANGS_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            AssertionError error = new AssertionError("it hangs here", e);
            error.setStackTrace(runner.get().getStackTrace());
            throw error;
        }
    }

    /** The volume says how it is, and what is in memory can be read. */
    private void memoryServes() throws Exception {
        assertNotNull(ends(volume::condition));
        assertNotNull(ends(volume::statistics));
        assertNotNull(ends(volume::space));
        assertNotNull(ends(() -> volume.attributes(storedFile)));
        assertArrayEquals(accepted, ends(() -> read(acceptedFile)));
        assertArrayEquals(stored, ends(() -> read(storedFile)));
    }

    /** The control: something waits for the store, and is not reported as durable. */
    private Future<?> syncThatHangs() throws Exception {
        Future<?> sync = threads.submit(() -> {
            volume.sync();
            return null;
        });
        assertEquals(true, hanging.await(HANGS_S, TimeUnit.SECONDS), "nothing waits for the store");
        assertFalse(sync.isDone());
        return sync;
    }

    private void comesBack(Future<?> sync) throws Exception {
        released.countDown();
        sync.get(HANGS_S, TimeUnit.SECONDS);
        assertArrayEquals(accepted, read(acceptedFile));
        assertArrayEquals(stored, read(storedFile));
        byte[] later = bytes(3);
        write(storedFile, later);
        volume.sync();
        assertArrayEquals(later, read(storedFile));
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void whileTheDataHangWhatIsInMemoryIsServed() throws Exception {
        hang(Location.DATA);
        Future<?> sync = syncThatHangs();
        memoryServes();
        assertThrows(TimeoutException.class, () -> sync.get(1, TimeUnit.SECONDS), "the sync reports success");
        comesBack(sync);
    }

    @Test
    void whileTheMetadataHangWhatIsInMemoryIsServed() throws Exception {
        hang(Location.METADATA);
        Future<?> sync = syncThatHangs();
        memoryServes();
        comesBack(sync);
    }

    @Test
    void whileTheIndexHangsReadsGoOn() throws Exception {
        hang(Location.INDEX);
        Future<?> sync = syncThatHangs();
        memoryServes();
        comesBack(sync);
    }

    @Test
    void whileTheSsdHangsReadsAndWritesGoOn() throws Exception {
        hang(Location.SSD);
        ends(() -> {
            for (int i = 0; i < 3; i++) {
                write(acceptedFile, accepted);
                volume.sync();
                write(make("duplicate" + i), accepted);
                volume.sync();
                assertArrayEquals(accepted, read(acceptedFile));
            }
            return null;
        });
        memoryServes();
        assertEquals(true, hanging.await(HANGS_S, TimeUnit.SECONDS), "nothing was written to the SSD");
        comesBack(threads.submit(() -> null));
    }
}
