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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.rewrite.Defragmentation;

/**
 * Threads write, delete, copy, read and defragment, each its own files whose contents it knows, all with the same few
 * contents, so that what one deletes is stored again by another, while arrangements, exact passes and collections
 * follow each other.
 */
class CollectionConcurrencyTest {
    /** Collections also compress anew, with this level of zstd. */
    private static final int LEVEL = 9;

    private static final int THREADS = 4;
    private static final int STEPS = 40;
    private static final int FILES = 5;
    private static final int CONTENTS = 6;
    private static final int MAX_FILE_BYTES = 3 << 20;
    private static final int MAX_WRITE_BYTES = 1 << 20;
    /** Garbage that a collection leaves: less than a thousandth of a container is not worth copying the container. */
    private static final long MAX_LEFT_BYTES = 1 << 20;

    private static final Owner OWNER = new Owner(0, 0);
    private static final HotSettings SSD =
            new HotSettings(true, 16 << 20, 2, 128 << 10, true, 1000, HotSettings.Policy.REFERENCE_COUNT);

    @MemoryFolder
    Path folder;

    /** So long that it is read alone. */
    private static final int OLD_BYTES = 10 << 20;

    private static final int PIECE = 64 << 10;
    private static final int APART = 10 * PIECE;
    private static final DiskModel SHORT_SEEKS = DiskModel.configured(1, 100_000_000);

    private volatile boolean ended;
    /** References that arrangements replaced. */
    private final AtomicLong arranged = new AtomicLong();
    /** References that exact passes replaced. */
    private final AtomicLong joined = new AtomicLong();

    /** One thread's files, by name. */
    private final class Worker {
        private final SplittableRandom random;
        private final long directory;
        private final Map<String, byte[]> files = new HashMap<>();
        private final Volume volume;

        Worker(Volume volume, long directory, long seed) {
            this.volume = volume;
            this.directory = directory;
            random = new SplittableRandom(seed);
        }

        void work(int steps) throws IOException {
            for (int step = 0; step < steps && !ended; step++) {
                String name = "f" + random.nextInt(FILES);
                if (!files.containsKey(name)) {
                    create(name);
                }
                switch (random.nextInt(16)) {
                    case 0 -> truncate(name);
                    case 1, 2 -> unlink(name);
                    case 3 -> punch(name);
                    case 4, 5 -> copy(name);
                    case 6 -> verify(name);
                    case 7 -> readInSequence(name);
                    case 8 -> readAtRandom(name);
                    case 9 -> defragment(name);
                    case 10 -> volume.sync();
                    default -> write(name);
                }
            }
            verifyAll();
        }

        void verifyAll() throws IOException {
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

        private interface Use {
            void of(OpenFile file) throws IOException;
        }

        private void with(String name, Use use) throws IOException {
            long inode = volume.lookup(directory, bytes(name)).inode();
            OpenFile file = volume.open(inode, true);
            try {
                use.of(file);
            } finally {
                volume.close(file);
                volume.forget(inode, 1);
            }
        }

        /** Fresh bytes, or bytes that others have stored, and have perhaps deleted. */
        private byte[] data() {
            int length = 1 + random.nextInt(random.nextInt(3) == 0 ? MAX_WRITE_BYTES : 100_000);
            boolean isFresh = random.nextInt(6) == 0;
            SplittableRandom source = new SplittableRandom(isFresh ? random.nextLong() : random.nextInt(CONTENTS));
            if (source.nextBoolean()) {
                return GarbageTrial.text(source, length);
            }
            byte[] data = new byte[length];
            source.nextBytes(data);
            return data;
        }

        private void write(String name) throws IOException {
            byte[] data = data();
            int end = files.get(name).length;
            int offset = random.nextInt(3) == 0 ? 0 : Math.min(end, random.nextInt(MAX_FILE_BYTES));
            offset -= random.nextBoolean() ? offset % 4096 : 0;
            byte[] contents = Arrays.copyOf(files.get(name), Math.max(end, offset + data.length));
            System.arraycopy(data, 0, contents, offset, data.length);
            int at = offset;
            with(name, file -> {
                volume.write(file, at, ByteBuffer.wrap(data));
                if (random.nextInt(4) == 0) {
                    volume.sync(file);
                }
            });
            files.put(name, contents);
        }

        private void truncate(String name) throws IOException {
            int size = random.nextInt(files.get(name).length + 1);
            long inode = volume.lookup(directory, bytes(name)).inode();
            volume.change(inode, AttributeChange.ofSize(size));
            volume.forget(inode, 1);
            files.put(name, Arrays.copyOf(files.get(name), size));
        }

        private void punch(String name) throws IOException {
            byte[] contents = files.get(name).clone();
            if (contents.length > 0) {
                int from = random.nextInt(contents.length);
                int to = from + 1 + random.nextInt(contents.length - from);
                Arrays.fill(contents, from, to, (byte) 0);
                with(name, file -> volume.zero(file, from, to - from, true));
                files.put(name, contents);
            }
        }

        private void unlink(String name) throws IOException {
            volume.unlink(directory, bytes(name));
            files.remove(name);
        }

        private void copy(String name) throws IOException {
            String to = "f" + random.nextInt(FILES);
            if (to.equals(name) || !files.containsKey(to)) {
                return;
            }
            byte[] source = files.get(name);
            long[] copied = new long[1];
            with(
                    name,
                    from -> with(to, target -> {
                        while (copied[0] < source.length) {
                            long step = volume.copy(from, copied[0], target, copied[0], source.length - copied[0]);
                            assertTrue(step > 0, name);
                            copied[0] += step;
                        }
                    }));
            byte[] contents = Arrays.copyOf(files.get(to), Math.max(files.get(to).length, source.length));
            System.arraycopy(source, 0, contents, 0, source.length);
            files.put(to, contents);
        }

        private void defragment(String name) throws IOException {
            long inode = volume.lookup(directory, bytes(name)).inode();
            Defragmentation done = volume.maintenance()
                    .defragment(inode, DiskModel.HDD, new Defragmentation.Limits(0.5, false), Progress.NONE);
            assertEquals(0, done.unreadableChunks());
            volume.forget(inode, 1);
        }

        private void readAtRandom(String name) throws IOException {
            byte[] contents = files.get(name);
            with(name, file -> {
                for (int i = 0; i < 20 && contents.length > 0; i++) {
                    int from = random.nextInt(contents.length);
                    int length = Math.min(contents.length - from, 1 + random.nextInt(40_000));
                    byte[] found = new byte[length];
                    assertEquals(length, volume.read(file, from, ByteBuffer.wrap(found)));
                    assertArrayEquals(Arrays.copyOfRange(contents, from, from + length), found, name);
                }
            });
        }

        /** In requests that are read ahead; sometimes the file is changed behind and ahead of the reader. */
        private void readInSequence(String name) throws IOException {
            with(name, file -> {
                int request = 64 << 10;
                for (int from = 0; from < files.get(name).length; from += request) {
                    byte[] contents = files.get(name);
                    byte[] found = new byte[Math.min(request, contents.length - from)];
                    assertEquals(found.length, volume.read(file, from, ByteBuffer.wrap(found)));
                    assertArrayEquals(Arrays.copyOfRange(contents, from, from + found.length), found, name);
                    if (random.nextInt(20) == 0) {
                        write(name);
                    }
                }
            });
        }

        void verify(String name) throws IOException {
            byte[] expected = files.get(name);
            with(name, file -> {
                byte[] found = new byte[expected.length + 1];
                assertEquals(expected.length, volume.read(file, 0, ByteBuffer.wrap(found)), name);
                assertArrayEquals(expected, Arrays.copyOf(found, expected.length), name);
            });
        }
    }

    private static byte[] bytes(String name) {
        return name.getBytes(UTF_8);
    }

    private Object collectUntilTheEnd(Callable<CollectionReport> collection) throws Exception {
        while (!ended) {
            collection.call();
        }
        return null;
    }

    private List<Worker> workers(Volume volume, long seed) throws IOException {
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long directory = volume.makeDirectory(Inode.ROOT, bytes("d" + i), 0755, OWNER)
                    .inode();
            workers.add(new Worker(volume, directory, seed + i));
        }
        return workers;
    }

    /** Runs all workers, and collections while they run. The first failure is thrown. */
    private void run(List<Worker> workers, int steps, Callable<CollectionReport> collection) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        ended = false;
        try {
            Future<?> collecting = threads.submit(() -> collectUntilTheEnd(collection));
            List<Future<?>> running = new ArrayList<>();
            for (Worker worker : workers) {
                running.add(threads.submit(() -> {
                    worker.work(steps);
                    return null;
                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
            ended = true;
            collecting.get();
        } finally {
            ended = true;
            threads.shutdown();
            assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
        }
    }

    private static CollectionReport collect(Volume volume) throws IOException {
        return volume.collector().collect(new CollectionLimits(0, false, LEVEL, true), (done, of, returned) -> true);
    }

    private static byte[] piecesOf(byte[] old, SplittableRandom random) {
        byte[] mixed = new byte[old.length / APART * PIECE];
        for (int at = 0; at < mixed.length; at += PIECE) {
            int from = at / PIECE * APART + random.nextInt(2) * PIECE;
            System.arraycopy(old, from, mixed, at, PIECE);
        }
        return mixed;
    }

    /** Makes a file of pieces of an old one, gives it copies of its own, and joins these with those of the old one. */
    private void join(Volume volume, byte[] old, SplittableRandom random) throws IOException {
        byte[] mixed = piecesOf(old, random);
        GarbageTrial.store(volume, "twice", mixed);
        long inode = volume.lookup(Inode.ROOT, bytes("twice")).inode();
        Defragmentation unused = volume.maintenance()
                .defragment(inode, SHORT_SEEKS, new Defragmentation.Limits(1, false), Progress.NONE);
        volume.forget(inode, 1);
        JoinReport pass = volume.maintenance().join().run(JoinLimits.ALL, Progress.NONE);
        assertEquals(0, pass.unreadableChunks(), pass::toString);
        joined.addAndGet(pass.replacedReferences());
        assertArrayEquals(mixed, GarbageTrial.read(volume, "twice", mixed.length));
        assertArrayEquals(old, GarbageTrial.read(volume, "old", old.length));
        volume.unlink(Inode.ROOT, bytes("twice"));
    }

    /** Makes a file of pieces of an old one, which are worth moving, and arranges, joins and collects. */
    private CollectionReport arrangeAndCollect(Volume volume, byte[] old, SplittableRandom random) throws IOException {
        byte[] mixed = piecesOf(old, random);
        GarbageTrial.store(volume, "mixed", mixed);
        arranged.addAndGet(volume.maintenance()
                .arrange(new ArrangementLimits(1, 1), SHORT_SEEKS, Progress.NONE)
                .replacedReferences());
        assertArrayEquals(mixed, GarbageTrial.read(volume, "mixed", mixed.length));
        assertArrayEquals(old, GarbageTrial.read(volume, "old", old.length));
        volume.unlink(Inode.ROOT, bytes("mixed"));
        join(volume, old, random);
        return collect(volume);
    }

    private static void assertSound(Volume volume) throws IOException {
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.context().metadata().containers().forEach(entry -> assertEquals(0, entry.damagedSlots()));
    }

    private VolumeConfig config(Chunking chunking, boolean withSsd) {
        VolumeConfig config = VolumeConfigs.in(folder, 100L << 30, chunking);
        return withSsd ? config.withSsd(folder.resolve("ssd"), SSD) : config;
    }

    /** Whoever reads a wrong byte notices it. What each wait of a collection prevents: {@link CollectionRaceTest}. */
    @Test
    void aByteThatChangesUnderAWorkerIsFound() throws IOException {
        VolumeConfig config = config(Chunking.SHA256, false);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            Worker worker = workers(volume, TestSeed.next()).get(0);
            worker.create("f0");
            worker.write("f0");
            worker.verifyAll();
            byte wrong = (byte) (worker.files.get("f0")[0] + 1);
            worker.with("f0", file -> volume.write(file, 0, ByteBuffer.wrap(new byte[] {wrong})));
            assertThrows(AssertionError.class, worker::verifyAll);
        }
    }

    @ParameterizedTest
    @CsvSource({"SHA256, false", "VARIABLE_SHA256, true"})
    @Timeout(value = 60, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void contentsStayWhileGarbageIsCollected(Chunking chunking, boolean withSsd) throws Exception {
        long seed = TestSeed.next();
        VolumeConfig config = config(chunking, withSsd);
        Volume.create(config);
        List<Worker> workers;
        try (Volume volume = Volume.open(config)) {
            workers = workers(volume, seed);
            SplittableRandom random = new SplittableRandom(seed);
            byte[] old = new byte[OLD_BYTES];
            random.nextBytes(old);
            GarbageTrial.store(volume, "old", old);
            run(workers, TestSeed.rounds(STEPS), () -> arrangeAndCollect(volume, old, random));
            volume.sync();
            assertSound(volume);
            assertTrue(arranged.get() > 0, "nothing was arranged");
            assertTrue(joined.get() > 0, "nothing was joined");
        }
        try (Volume volume = Volume.open(config)) {
            for (int i = 0; i < THREADS; i++) {
                long directory = volume.lookup(Inode.ROOT, bytes("d" + i)).inode();
                Worker again = new Worker(volume, directory, seed);
                again.files.putAll(workers.get(i).files);
                again.verifyAll();
            }
            assertSound(volume);
            CollectionReport report = collect(volume);
            assertEquals(0, report.keptContainers(), report::toString);
            assertTrue(report.leftBytes() < MAX_LEFT_BYTES, report::toString);
            VolumeStatistics now = volume.statistics();
            assertTrue(now.garbageBytes() < MAX_LEFT_BYTES, report::toString);
            volume.context()
                    .metadata()
                    .containers()
                    .forEach(entry -> assertEquals(LEVEL, entry.stored().recompressed()));
            assertTrue(now.storedBytes() < now.uniqueBytes() + MAX_LEFT_BYTES, report::toString);
            assertSound(volume);
        }
    }
}
