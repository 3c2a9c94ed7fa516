package org.opendedup.sar.volume.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.Ballast;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** An index that cannot be opened, or not be made consistent with the volume, never prevents a mount. */
class IndexOpeningTest {
    private static final long MINUTE_NS = 60_000_000_000L;

    @MemoryFolder
    Path folder;

    private final AtomicLong now = new AtomicLong();

    private Path folder(String name) throws IOException {
        return Files.createDirectories(folder.resolve(name));
    }

    private Ballasts ballasts() throws IOException {
        return Ballasts.of(folder("data"), folder("metadata"), now::get);
    }

    @Test
    void theBallastsOnTheDeviceOfTheIndexAreGivenForIt() throws IOException {
        Ballasts ballasts = ballasts();
        ballasts.restore();
        assertTrue(Files.exists(folder.resolve("data").resolve(Ballast.NAME)), "the test needs a disk with some space");
        List<Integer> openings = new ArrayList<>();
        ChunkIndex index = new HeapChunkIndex();
        ChunkIndex opened = VolumeLocations.openIndex(
                folder.resolve("missing/hashdb"),
                () -> {
                    openings.add(1);
                    if (Files.exists(folder.resolve("metadata").resolve(Ballast.NAME))) {
                        throw new NoSpaceException("No space left on device");
                    }
                    return index;
                },
                ballasts);
        assertSame(index, opened);
        assertEquals(2, openings.size());
    }

    /** Another device's ballast would not help. */
    @Test
    void ballastsOnOtherDevicesStay() throws IOException {
        Path shm = Path.of("/dev/shm");
        assumeTrue(
                Files.isWritable(shm) && !FileDevice.ofNearest(shm).equals(FileDevice.ofNearest(folder)),
                "needs /dev/shm as another device");
        Ballasts ballasts = ballasts();
        ballasts.restore();
        ChunkIndex opened = VolumeLocations.openIndex(
                shm.resolve("no-index-here"),
                () -> {
                    throw new NoSpaceException("No space left on device");
                },
                ballasts);
        assertFalse(opened.keepsAnything());
        assertTrue(Files.exists(folder.resolve("data").resolve(Ballast.NAME)));
        assertTrue(Files.exists(folder.resolve("metadata").resolve(Ballast.NAME)));
    }

    @Test
    void aVolumeGoesOnWithoutAnIndexThatCannotBeOpened() throws IOException {
        for (IOException failure : List.of(
                new NoSpaceException("No space left on device"),
                new CorruptionException("index", -1, "one", "another"),
                new IOException("Input/output error"))) {
            ChunkIndex opened = VolumeLocations.openIndex(
                    folder,
                    () -> {
                        throw failure;
                    },
                    Ballasts.none());
            assertFalse(opened.keepsAnything());
        }
        assertThrows(
                UnsupportedFormatException.class,
                () -> VolumeLocations.openIndex(
                        folder,
                        () -> {
                            throw new UnsupportedFormatException("index", 9, 2);
                        },
                        Ballasts.none()));
    }

    @Test
    void aVolumeGoesOnWithoutAnIndexOfAnotherTimeThatCannotBeCleared() throws IOException {
        checkGoesOnWithout("clear");
    }

    @Test
    void aVolumeGoesOnWithoutAnIndexThatCannotBeRead() throws IOException {
        checkGoesOnWithout("highestContainer");
    }

    private void checkGoesOnWithout(String failing) throws IOException {
        VolumeConfig config = VolumeConfigs.in(folder, 100L << 30, Chunking.VARIABLE_SHA256);
        CrashDirectory data = new CrashDirectory(1);
        KeyValueStore metadata = new HeapKeyValueStore();
        Volume.create(config, data, metadata, InstantSource.system());
        // The index of another volume: it has the content that this one writes, at other places.
        ChunkIndex foreign = new HeapChunkIndex();
        byte[] bytes = new byte[300_000];
        new Random(1).nextBytes(bytes);
        CrashDirectory otherData = new CrashDirectory(2);
        KeyValueStore otherMetadata = new HeapKeyValueStore();
        Volume.create(config, otherData, otherMetadata, InstantSource.system());
        try (Volume other = open(config, otherData, otherMetadata, unclosed(foreign, "none"))) {
            write(other, "first", new byte[] {1, 2, 3});
            write(other, "second", bytes);
        }
        assertTrue(foreign.highestContainer() > 0);

        try (Volume volume = open(config, data, metadata, unclosed(foreign, failing))) {
            write(volume, "file", bytes);
            volume.sync();
            assertArrayEquals(bytes, read(volume, "file", bytes.length));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    private static Volume open(VolumeConfig config, CrashDirectory data, KeyValueStore metadata, ChunkIndex index)
            throws IOException {
        return Volume.open(
                config, new VolumeStores(data, metadata, index, InstantSource.system()), Verification.FINGERPRINTS);
    }

    /** Fails one method, and is not closed. */
    private static ChunkIndex unclosed(ChunkIndex index, String failing) {
        return (ChunkIndex) Proxy.newProxyInstance(
                ChunkIndex.class.getClassLoader(), new Class<?>[] {ChunkIndex.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(failing)) {
                        throw new IOException("Input/output error");
                    }
                    try {
                        return method.getName().equals("close") ? null : method.invoke(index, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static void write(Volume volume, String name, byte[] bytes) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        volume.close(file);
    }

    private static byte[] read(Volume volume, String name, int length) throws IOException {
        OpenFile file =
                volume.open(volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode(), false);
        byte[] bytes = new byte[length];
        volume.read(file, 0, ByteBuffer.wrap(bytes));
        volume.close(file);
        return bytes;
    }

    /** The cause of the failure probably still exists: retrying every few seconds only fills the log. */
    @Test
    void aBallastThatCouldNotBeMadeIsTriedAgainAfterAMinute() throws IOException {
        Ballasts ballasts = ballasts();
        // It cannot be deleted, because it is a folder that is not empty; so the new ballast cannot be made.
        Path obstacle = folder.resolve("data").resolve(Ballast.NAME + ".new");
        Path content = folder("data/" + Ballast.NAME + ".new/content");
        Path data = folder.resolve("data").resolve(Ballast.NAME);
        now.set(Long.MAX_VALUE - MINUTE_NS / 2);
        ballasts.restore();
        assertFalse(Files.exists(data));
        assertTrue(Files.exists(folder.resolve("metadata").resolve(Ballast.NAME)), "one failure hinders the other");
        Files.delete(content);
        Files.delete(obstacle);
        now.addAndGet(MINUTE_NS - 1);
        ballasts.restore();
        assertFalse(Files.exists(data));
        now.addAndGet(1);
        ballasts.restore();
        assertTrue(Files.exists(data));
    }
}
