package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opentest4j.AssertionFailedError;

/**
 * Threads use files of a real fast tier while another thread copies and migrates all of them, again and again. Now and
 * then a thread leaves its files alone for a whole pass of the other one, because files in steady use never migrate.
 */
@Timeout(180)
class RawConcurrencyTest {
    private static final int THREADS = 4;
    private static final int STEPS = 400;
    private static final int FILES_PER_THREAD = 6;
    private static final int MAX_BYTES = 60_000;
    /** A thread leaves its files alone after about this many steps. */
    private static final int STEPS_TO_REST = 50;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private final AtomicBoolean done = new AtomicBoolean();
    /** Number of passes over all files that the mover has ended. */
    private final AtomicInteger passes = new AtomicInteger();

    private VolumeConfig config() {
        TierSettings sar =
                new TierSettings(true, 64L << 20, 2, 1 << 20, true, 1000, TierSettings.Policy.REFERENCE_COUNT);
        return VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256)
                .withSsd(folder.resolve("ssd"), sar)
                .withRaw(new RawSettings(Placement.TDDFS, 1L << 30, 85, 70, 0));
    }

    /** One thread's files, and what they must have. */
    private final class Worker {
        private final Volume volume;
        private final int number;
        private final Random random;
        private final Map<String, byte[]> contents = new TreeMap<>();

        Worker(Volume volume, int number) {
            this.volume = volume;
            this.number = number;
            random = new Random(seed + number);
        }

        void run() throws IOException, InterruptedException {
            for (int step = 0; step < STEPS; step++) {
                if (random.nextInt(STEPS_TO_REST) == 0) {
                    rest();
                }
                String name = number + "-" + random.nextInt(FILES_PER_THREAD);
                byte[] content = contents.get(name);
                if (content == null) {
                    long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                            .inode();
                    volume.forget(inode, 1);
                    contents.put(name, new byte[0]);
                } else {
                    change(name, content);
                }
            }
        }

        /** Waits until the mover has looked at all files twice: at least once while this thread's were at rest. */
        private void rest() throws InterruptedException {
            int until = passes.get() + 2;
            while (passes.get() < until && !done.get()) {
                Thread.sleep(1);
            }
        }

        private void change(String name, byte[] content) throws IOException {
            switch (random.nextInt(8)) {
                case 0 -> {
                    volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
                    contents.remove(name);
                }
                case 1 -> {
                    int size = random.nextBoolean() ? 0 : random.nextInt(MAX_BYTES);
                    volume.change(inode(volume, name), AttributeChange.ofSize(size));
                    contents.put(name, Arrays.copyOf(content, size));
                }
                case 2 -> assertArrayEquals(content, read(volume, name), name);
                default -> write(name, content);
            }
        }

        private void write(String name, byte[] content) throws IOException {
            byte[] bytes = new byte[1 + random.nextInt(MAX_BYTES / 4)];
            random.nextBytes(bytes);
            int offset = random.nextInt(MAX_BYTES - bytes.length);
            byte[] now = Arrays.copyOf(content, Math.max(content.length, offset + bytes.length));
            System.arraycopy(bytes, 0, now, offset, bytes.length);
            OpenFile file = volume.open(inode(volume, name), true);
            volume.write(file, offset, ByteBuffer.wrap(bytes));
            if (random.nextInt(4) == 0) {
                volume.sync(file);
            }
            volume.close(file);
            contents.put(name, now);
        }
    }

    private static long inode(Volume volume, String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private static byte[] read(Volume volume, String name) throws IOException {
        OpenFile file = volume.open(inode(volume, name), false);
        try {
            ByteBuffer found = ByteBuffer.allocate(2 * MAX_BYTES);
            while (volume.read(file, found.position(), found) > 0) {}
            return Arrays.copyOf(found.array(), found.position());
        } finally {
            volume.close(file);
        }
    }

    /** Copies and migrates all files until the others are done. Returns how many were migrated. */
    private int moveAll(Volume volume) throws IOException {
        int migrated = 0;
        Random random = new Random(seed);
        try {
            while (!done.get()) {
                migrated += pass(volume, random);
                passes.incrementAndGet();
            }
        } finally {
            done.set(true);
        }
        return migrated;
    }

    private static int pass(Volume volume, Random random) throws IOException {
        int migrated = 0;
        for (RawFile raw : volume.context().raws().all()) {
            try {
                if (random.nextBoolean()) {
                    migrated += volume.fastTier().migrate(raw.inode()) ? 1 : 0;
                } else {
                    volume.context().nodes().with(raw.inode(), node -> {
                        volume.context().fastTier().makeCurrent(node);
                        return null;
                    });
                }
            } catch (PosixException e) {
                // It is in use, or gone.
                continue;
            }
        }
        volume.context().raws().deleteDead();
        return migrated;
    }

    @Test
    void nothingIsLostWhileFilesAreMigrated() throws Exception {
        VolumeConfig config = config();
        Volume.create(config);
        List<Worker> workers = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
        try (Volume volume = Volume.open(config)) {
            Future<Integer> mover = threads.submit(() -> moveAll(volume));
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Worker worker = new Worker(volume, i);
                workers.add(worker);
                running.add(threads.submit(() -> {
                    worker.run();
                    return null;
                }));
            }
            try {
                for (Future<?> each : running) {
                    each.get();
                }
            } finally {
                done.set(true);
            }
            assertTrue(mover.get() > 0, "no file was migrated");
            check(volume, workers);
        } finally {
            done.set(true);
            threads.shutdown();
        }
        try (Volume again = Volume.open(config)) {
            check(again, workers);
        }
    }

    @Test
    void controlTheCheckNoticesAChangedByte() throws Exception {
        VolumeConfig config = config();
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            Worker worker = new Worker(volume, 0);
            done.set(true);
            worker.run();
            check(volume, List.of(worker));
            byte[] any = worker.contents.values().stream()
                    .filter(content -> content.length > 0)
                    .findAny()
                    .orElseThrow();
            any[any.length / 2]++;
            assertThrows(AssertionFailedError.class, () -> check(volume, List.of(worker)));
        }
    }

    private static void check(Volume volume, List<Worker> workers)
            throws IOException, InterruptedException, ExecutionException {
        for (Worker worker : workers) {
            for (Map.Entry<String, byte[]> file : worker.contents.entrySet()) {
                assertArrayEquals(file.getValue(), read(volume, file.getKey()), file.getKey());
            }
        }
        assertEquals(List.of(), VolumeChecker.check(volume));
    }
}
