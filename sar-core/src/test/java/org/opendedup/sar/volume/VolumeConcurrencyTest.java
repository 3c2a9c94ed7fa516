package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * Many threads work in one volume, each with its own files whose contents it knows, all with the same few contents, so
 * that they share chunks. A thread that waits for ever makes the test fail by its time limit.
 */
class VolumeConcurrencyTest {
    private static final int THREADS = 6;
    private static final int STEPS = 250;
    private static final int MAX_FILE_BYTES = 5 << 20;
    private static final Owner OWNER = new Owner(0, 0);

    @TempDir
    Path folder;

    /** One thread's files, by name. */
    private final class Worker {
        private final Random random;
        private final long directory;
        private final Map<String, byte[]> files = new HashMap<>();
        private final Volume volume;

        Worker(Volume volume, long directory, long seed) {
            this.volume = volume;
            this.directory = directory;
            random = new Random(seed);
        }

        void work() throws IOException {
            for (int step = 0; step < STEPS; step++) {
                String name = "f" + random.nextInt(6);
                if (!files.containsKey(name)) {
                    create(name);
                }
                switch (random.nextInt(10)) {
                    case 0 -> truncate(name);
                    case 1 -> unlink(name);
                    case 2 -> rename(name);
                    case 3 -> verify(name);
                    case 4 -> volume.sync();
                    default -> write(name);
                }
            }
            for (String name : files.keySet()) {
                verify(name);
            }
        }

        private void create(String name) throws IOException {
            long inode =
                    volume.makeNode(directory, bytes(name), 0100644, 0, OWNER).inode();
            volume.forget(inode, 1);
            files.put(name, new byte[0]);
        }

        private void write(String name) throws IOException {
            byte[] data = shared(random.nextInt(4), 1 + random.nextInt(random.nextInt(3) == 0 ? 1 << 20 : 20_000));
            int offset = random.nextInt(MAX_FILE_BYTES - data.length);
            offset = random.nextBoolean() ? Math.min(offset, files.get(name).length) : offset / 2;
            byte[] contents = Arrays.copyOf(files.get(name), Math.max(files.get(name).length, offset + data.length));
            System.arraycopy(data, 0, contents, offset, data.length);
            long inode = volume.lookup(directory, bytes(name)).inode();
            OpenFile file = volume.open(inode, true);
            volume.write(file, offset, ByteBuffer.wrap(data));
            if (random.nextInt(8) == 0) {
                volume.sync(file);
            }
            volume.close(file);
            volume.forget(inode, 1);
            files.put(name, contents);
        }

        private void truncate(String name) throws IOException {
            int size = random.nextInt(MAX_FILE_BYTES);
            long inode = volume.lookup(directory, bytes(name)).inode();
            volume.change(inode, AttributeChange.ofSize(size));
            volume.forget(inode, 1);
            files.put(name, Arrays.copyOf(files.get(name), size));
        }

        private void unlink(String name) throws IOException {
            volume.unlink(directory, bytes(name));
            files.remove(name);
        }

        private void rename(String name) throws IOException {
            String to = "f" + random.nextInt(6);
            volume.rename(directory, bytes(name), directory, bytes(to), RenameMode.REPLACE);
            files.put(to, files.remove(name));
        }

        void verify(String name) throws IOException {
            byte[] expected = files.get(name);
            long inode = volume.lookup(directory, bytes(name)).inode();
            OpenFile file = volume.open(inode, false);
            byte[] found = new byte[expected.length + 1];
            assertEquals(expected.length, volume.read(file, 0, ByteBuffer.wrap(found)), name);
            assertArrayEquals(expected, Arrays.copyOf(found, expected.length), name);
            volume.close(file);
            volume.forget(inode, 1);
        }
    }

    private static byte[] bytes(String name) {
        return name.getBytes(UTF_8);
    }

    /** One of a few contents that all threads write. */
    private static byte[] shared(int which, int length) {
        byte[] data = new byte[length];
        if (which > 0) {
            new Random(which).nextBytes(data);
        }
        return data;
    }

    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void manyThreadsSeeEachTheirOwnFiles() throws Exception {
        long seed = TestSeed.next();
        VolumeConfig config = new VolumeConfig(
                "busy",
                100L << 30,
                95,
                new VolumeConfig.Locations(
                        folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                Chunking.VARIABLE_SHA256,
                new Compression(Compression.Codec.LZ4, 0, 64 << 10),
                64 << 10,
                256L << 20,
                2,
                new VolumeConfig.RootDirectory(0755, 0, 0));
        Volume.create(config);
        List<Worker> workers = new ArrayList<>();
        try (Volume volume = Volume.open(config)) {
            for (int i = 0; i < THREADS; i++) {
                long directory = volume.makeDirectory(Inode.ROOT, bytes("d" + i), 0755, OWNER)
                        .inode();
                workers.add(new Worker(volume, directory, seed + i));
            }
            run(workers);
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
        try (Volume volume = Volume.open(config)) {
            for (int i = 0; i < THREADS; i++) {
                long directory = volume.lookup(Inode.ROOT, bytes("d" + i)).inode();
                Worker again = new Worker(volume, directory, seed);
                again.files.putAll(workers.get(i).files);
                for (String name : again.files.keySet()) {
                    again.verify(name);
                }
            }
            assertEquals(List.of(), VolumeChecker.check(volume));
            assertEquals(
                    volume.context().metadata().totals().logicalBytes(),
                    volume.statistics().logicalBytes());
            assertTrue(volume.statistics().uniqueBytes() > 0);
        }
    }

    private static void run(List<Worker> workers) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(workers.size());
        try {
            List<Future<?>> running = new ArrayList<>();
            for (Worker worker : workers) {
                running.add(threads.submit(() -> {
                    worker.work();
                    return null;
                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
