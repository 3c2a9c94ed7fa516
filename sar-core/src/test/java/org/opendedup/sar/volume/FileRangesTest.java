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
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/** Allocating, zeroing, seeking and copying ranges of files of a volume. */
class FileRangesTest {
    private static final int MIB = 1 << 20;
    private static final int LINES = 8192;
    private static final long TIB = 1L << 40;

    @MemoryFolder
    Path folder;

    private VolumeConfig config;
    private Volume volume;
    private OpenFile a;
    private OpenFile b;

    @BeforeEach
    void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder, 20 * TIB, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config);
        a = make("a");
        b = make("b");
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private OpenFile make(String name) throws IOException {
        return volume.open(
                volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                        .inode(),
                true);
    }

    private void reopen() throws IOException {
        volume.close(a);
        volume.close(b);
        volume.close();
        volume = Volume.open(config);
        a = volume.open(volume.lookup(Inode.ROOT, "a".getBytes(UTF_8)).inode(), true);
        b = volume.open(volume.lookup(Inode.ROOT, "b".getBytes(UTF_8)).inode(), true);
    }

    private static byte[] random(int bytes, long seed) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
    }

    private void write(OpenFile file, long offset, byte[] data) throws IOException {
        volume.write(file, offset, ByteBuffer.wrap(data));
    }

    private byte[] read(OpenFile file, long offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        volume.read(file, offset, target);
        return Arrays.copyOf(target.array(), target.position());
    }

    private byte[] read(OpenFile file) throws IOException {
        return read(file, 0, (int) size(file));
    }

    private long size(OpenFile file) throws IOException {
        return volume.attributes(file.inode()).size();
    }

    /**
     * Reads two lines in two pages of the recipe all the time. A program makes both in one call, the first one is
     * stored, and it zeroes both in one call: a read has both or none, unless that took two steps.
     */
    @Test
    @Timeout(60)
    void aReadSeesAllOrNothingOfAZeroedRange() throws Exception {
        long at = volume.context().metadata().recipes().pageBytes() - LINES / 2;
        Node node = volume.context().nodes().pin(a.inode());
        AtomicBoolean ends = new AtomicBoolean();
        Set<Integer> inSteps = ConcurrentHashMap.newKeySet();
        ExecutorService programs = Executors.newSingleThreadExecutor();
        write(a, at, new byte[LINES]);
        Future<?> writing = programs.submit(() -> {
            for (int number = 1; !ends.get(); number++) {
                byte[] lines = ByteBuffer.allocate(LINES)
                        .putInt(0, number)
                        .putInt(LINES / 2, number)
                        .array();
                write(a, at, lines);
                volume.context().writer().storeAll(node);
                write(a, at + LINES / 2, Arrays.copyOfRange(lines, LINES / 2, LINES));
                long before = completions(node);
                volume.zero(a, at, LINES, true);
                if (completions(node) > before + 1) {
                    inSteps.add(number);
                }
            }
            return null;
        });
        Set<Integer> halves = new HashSet<>();
        try {
            for (int read = 0; read < 5000 && !writing.isDone(); read++) {
                ByteBuffer lines = ByteBuffer.wrap(read(a, at, LINES));
                if (lines.getInt(0) != lines.getInt(LINES / 2)) {
                    halves.add(Math.max(lines.getInt(0), lines.getInt(LINES / 2)));
                }
            }
        } finally {
            ends.set(true);
            programs.shutdown();
        }
        writing.get();
        volume.context().nodes().unpin(node);
        assertTrue(inSteps.containsAll(halves), () -> halves + " of which took steps: " + inSteps);
    }

    /** A range across the end of a file is zeroed while a write makes the file longer: before it, or after it. */
    @Test
    @Timeout(60)
    void aWriteBehindTheEndIsZeroedAsAWhole() throws Exception {
        ExecutorService programs = Executors.newSingleThreadExecutor();
        byte[] line = new byte[12];
        Arrays.fill(line, (byte) 'q');
        try {
            for (int round = 0; round < 3000; round++) {
                volume.change(a.inode(), AttributeChange.ofSize(0));
                write(a, 0, new byte[] {'a', 'b', 'c', 'd', 'e', 'f'});
                CyclicBarrier begins = new CyclicBarrier(2);
                Future<?> writing = programs.submit(() -> {
                    begins.await();
                    write(a, 3, line);
                    return null;
                });
                begins.await();
                volume.zero(a, 5, 5, true);
                writing.get();
                byte[] zeroed = Arrays.copyOfRange(read(a, 0, 15), 5, 10);
                assertTrue(zeroed[0] == zeroed[4], () -> new String(zeroed, UTF_8));
            }
        } finally {
            programs.shutdown();
        }
    }

    private static long completions(Node node) {
        synchronized (node) {
            return node.contents().completions;
        }
    }

    private static void assertRefused(Reason reason, Executable call) {
        assertEquals(reason, assertThrows(PosixException.class, call).reason());
    }

    @Test
    void moreThanTheVolumesCapacityIsRefused() throws IOException {
        assertThrows(NoSpaceException.class, () -> volume.allocate(a, 0, 20 * TIB, false));
        assertThrows(NoSpaceException.class, () -> volume.allocate(a, 0, 20 * TIB, true));
        assertEquals(0, size(a));
        // Nothing is reserved, and a hole uses no capacity.
        long most = volume.space().availableBytes() / 4 * 3;
        volume.allocate(a, 0, most, false);
        volume.allocate(b, 0, most, false);
        volume.allocate(b, 40 * TIB, 1, false);
        assertEquals(0, volume.context().capacity().takenBytes());
    }

    @Test
    void offsetsThatMakeNoSenseAreRefused() throws IOException {
        OpenFile reader = volume.open(a.inode(), false);
        assertRefused(Reason.EBADF, () -> volume.allocate(reader, 0, 1, false));
        assertRefused(Reason.EBADF, () -> volume.zero(reader, 0, 1, true));
        assertRefused(Reason.EBADF, () -> volume.copy(a, 0, reader, 0, 1));
        assertRefused(Reason.EINVAL, () -> volume.allocate(a, 0, 0, false));
        assertRefused(Reason.EINVAL, () -> volume.zero(a, -1, 1, false));
        assertRefused(Reason.ENXIO, () -> volume.seekData(a, 0));
        assertRefused(Reason.ENXIO, () -> volume.seekHole(a, 0));
        write(a, 0, random(1000, 6));
        assertRefused(Reason.EINVAL, () -> volume.copy(a, 0, a, 500, 600));
        assertEquals(500, volume.copy(a, 0, a, 500, 500));
        assertEquals(0, volume.copy(a, 1000, b, 0, 1));
        volume.close(reader);
    }

    @Test
    void aCopyStoresNothing() throws IOException {
        byte[] data = random(9 * MIB + 123, 8);
        write(a, 0, data);
        long unique = -1;
        for (long shift : new long[] {0, 256 << 10, 1, 12_345, MIB + 77}) {
            assertEquals(data.length, volume.copy(a, 0, b, shift, Long.MAX_VALUE));
            assertArrayEquals(data, read(b, shift, data.length));
            long now = volume.statistics().uniqueBytes();
            assertTrue(unique < 0 || unique == now, "copied to " + shift);
            unique = now;
        }
        reopen();
        assertArrayEquals(data, read(b, MIB + 77, data.length));
    }

    @Test
    void filesOfSixteenTebibytesAreWrittenReadCopiedAndCutAtTheirEnds() throws IOException {
        long end = 16 * TIB;
        byte[] data = random(MIB, 13);
        write(a, end - MIB, data);
        volume.sync(a);
        assertEquals(end, size(a));
        assertEquals(end - MIB, volume.seekData(a, 5));
        assertArrayEquals(data, read(a, end - MIB, 2 * MIB));
        assertArrayEquals(new byte[1000], read(a, 8 * TIB, 1000));

        long copied = 0;
        volume.change(a.inode(), AttributeChange.ofSize(3 * TIB + 5));
        assertEquals(3 * TIB + 5, size(a));
        write(a, 3 * TIB - MIB, data);
        while (copied < 3 * TIB) {
            copied += volume.copy(a, copied, b, copied + 7, 3 * TIB - copied);
        }
        assertEquals(3 * TIB - MIB, volume.seekData(b, 0));
        reopen();
        assertArrayEquals(data, read(b, 3 * TIB + 7 - MIB, MIB));
        volume.zero(b, 1, 3 * TIB, true);
        assertEquals(3 * TIB, volume.seekData(b, 0));
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void aCopyEndsWhereItsSourceWasCutOffMeanwhileAndWrittenAgain() throws Exception {
        long step = 256L * MIB;
        write(a, 0, random(MIB, 16));
        for (long size = MIB; size < 2 * step; size += MIB) {
            volume.copy(a, 0, a, size, MIB);
        }
        FutureTask<Long> copy = new FutureTask<>(() -> volume.copy(a, 0, b, 0, 2 * step));
        FutureTask<Void> rewrite = new FutureTask<>(() -> {
            storingOfA().lock();
            try {
                volume.change(a.inode(), AttributeChange.ofSize(0));
                write(a, 2 * step, new byte[] {1});
            } finally {
                storingOfA().unlock();
            }
            return null;
        });
        storingOfA().lock();
        try {
            // The lock is fair: so the file is rewritten between the copy's first step and its second.
            startAndAwaitQueued(copy);
            startAndAwaitQueued(rewrite);
        } finally {
            storingOfA().unlock();
        }
        rewrite.get();
        // On a busy machine the first step ends by its time, before it reaches its number of pages.
        long copied = copy.get();
        assertTrue(copied > 0 && copied <= step, () -> copied + " bytes");
        assertEquals(copied, size(b));
    }

    private ReentrantLock storingOfA() {
        synchronized (a.node()) {
            return a.node().contents().storing;
        }
    }

    private void startAndAwaitQueued(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        while (!storingOfA().hasQueuedThread(thread)) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void copiesBackAndForthPunchesWritesAndTruncationsAtOnceLeaveExactCounts() throws Exception {
        write(a, 0, random(4 * MIB, 14));
        write(b, 0, random(4 * MIB, 15));
        ExecutorService threads = Executors.newFixedThreadPool(6);
        List<Future<?>> all = new ArrayList<>();
        for (int thread = 0; thread < 6; thread++) {
            Random random = new Random(thread);
            all.add(threads.submit(() -> {
                for (int op = 0; op < 60; op++) {
                    changeSomething(random);
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get();
        }
        threads.shutdown();
        byte[] left = read(a);
        reopen();
        assertArrayEquals(left, read(a));
    }

    private void changeSomething(Random random) throws IOException {
        OpenFile one = random.nextBoolean() ? a : b;
        OpenFile other = one == a ? b : a;
        long offset = random.nextInt(4 * MIB);
        int length = 1 + random.nextInt(MIB);
        switch (random.nextInt(8)) {
            case 0 -> volume.zero(one, offset, length, true);
            case 1 -> write(one, offset, random(length, random.nextInt()));
            case 2 -> volume.change(one.inode(), AttributeChange.ofSize(offset));
            case 3 -> volume.sync(one);
            case 4 -> read(one, offset, length);
            default -> copyUnlessCut(one, offset, other, random.nextInt(4 * MIB), length);
        }
    }

    private void copyUnlessCut(OpenFile from, long offset, OpenFile to, long target, int length) throws IOException {
        try {
            volume.copy(from, offset, to, target, length);
        } catch (PosixException e) {
            assertEquals(PosixException.Reason.EOPNOTSUPP, e.reason(), "one of them is being truncated");
        }
    }
}
