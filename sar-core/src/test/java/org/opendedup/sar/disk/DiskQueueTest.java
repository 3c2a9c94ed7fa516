package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

final class DiskQueueTest {
    private static final int READERS = 12;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);
    private final AtomicLong clock = new AtomicLong();
    /** Bytes from the device so far. */
    private final AtomicLong deviceBytes = new AtomicLong();

    private OptionalLong readFromDevice() {
        return OptionalLong.of(deviceBytes.get());
    }

    private DiskQueue queue(String option, Supplier<OptionalLong> threadReadBytes) {
        return new DiskQueue(DiskOption.parse(option), true, clock::get, threadReadBytes);
    }

    /**
     * Starts a thread that enters the queue. Returns when it is in the queue, or at the disk, and all that may be at
     * the disk are.
     */
    private static Thread start(DiskQueue queue, Runnable entering) {
        DiskStatus before = queue.status();
        Thread thread = new Thread(entering);
        thread.start();
        await(() -> isSettled(queue.status(), before.readers() + before.waiting() + 1));
        return thread;
    }

    private static boolean isSettled(DiskStatus status, int readers) {
        return status.readers() + status.waiting() == readers
                && status.readers() >= Math.min(readers, status.requestsAtOnce());
    }

    private static Thread reader(DiskQueue queue, Runnable atDisk) {
        return start(queue, () -> {
            try (DiskQueue.Turn turn = queue.enter(Importance.STEP)) {
                atDisk.run();
            }
        });
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /**
     * The next in line knows that before its turn begins, and can let the one after it go first if it does not need the
     * turn.
     */
    @Test
    void whoIsNextDecidesWhileTheOneBeforeIsAtTheDisk() throws InterruptedException {
        DiskQueue queue = queue("hdd", this::readFromDevice);
        List<String> events = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        try (DiskQueue.Turn first = queue.enter(Importance.STEP)) {
            try (DiskQueue.Turn notNeeded = queue.next(Importance.STEP)) {
                threads.add(new Thread(() -> {
                    try (DiskQueue.Turn second = queue.next(Importance.STEP)) {
                        events.add("second is next");
                        second.begin();
                        events.add("second is at the disk");
                    }
                }));
                threads.get(0).start();
                await(() -> queue.status().waiting() == 2);
                assertEquals(List.of(), events);
            }
            await(() -> !events.isEmpty());
            // A control: its turn has not begun.
            Thread.sleep(20);
            assertEquals(List.of("second is next"), events);
            events.add("first leaves");
        }
        join(threads);
        assertEquals(List.of("second is next", "first leaves", "second is at the disk"), events);
        assertEquals(0, queue.status().readers() + queue.status().waiting());
    }

    static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(10_000);
        }
    }

    @Test
    void readersTakeTurnsInTheOrderInWhichTheyAsk() throws InterruptedException {
        DiskQueue queue = queue("hdd", this::readFromDevice);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        try (DiskQueue.Turn first = queue.enter(Importance.STEP)) {
            for (int i = 0; i < READERS; i++) {
                int number = i;
                threads.add(reader(queue, () -> order.add(number)));
            }
            assertEquals(List.of(), order);
        }
        join(threads);
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), order);
        assertEquals(0, queue.status().readers());
    }

    @Test
    void thereAreAsManyAtOnceAsThereMayBe() throws InterruptedException {
        DiskQueue queue = queue("0.1,2000,3", this::readFromDevice);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        try (DiskQueue.Turn one = queue.enter(Importance.STEP);
                DiskQueue.Turn two = queue.enter(Importance.STEP);
                DiskQueue.Turn three = queue.enter(Importance.STEP)) {
            for (int i = 0; i < READERS; i++) {
                threads.add(reader(queue, () -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    inside.decrementAndGet();
                }));
            }
            assertEquals(new DiskStatus(queue.model(), 3, 3, READERS, 0), queue.status());
        }
        join(threads);
        assertTrue(most.get() <= 3, most::toString);
    }

    /** Reads ranges of several containers; those for which {@code cached} returns true come from the kernel's cache. */
    private void read(DiskQueue queue, int requests, double cachedShare) {
        for (int container = 0; container * 10 < requests; container++) {
            try (DiskQueue.Turn turn = queue.enter(Importance.STEP)) {
                long at = 0;
                for (int i = 0; i < 10; i++) {
                    int bytes = (64 << 10) * (1 + random.nextInt(20));
                    boolean cached = random.nextDouble() < cachedShare;
                    double place = i == 0 ? 9 : 6;
                    long nanos = cached ? bytes / 5 : Math.round((place + random.nextDouble()) * 1e6 + bytes / 0.15);
                    clock.addAndGet(nanos);
                    deviceBytes.addAndGet(cached ? 0 : bytes);
                    turn.requested(container, at, bytes, nanos);
                    at += bytes + (100 << 10);
                }
            }
        }
    }

    private void assertIsTheHardDisk(DiskModel model) {
        assertEquals(DiskModel.Source.MEASURED, model.source());
        assertEquals(150, model.bytesPerSecond() / 1e6, 15, "sar.seed=" + seed);
        assertEquals(6.5, model.skipNanos() / 1e6, 1, "sar.seed=" + seed);
        assertEquals(9.5, model.seekNanos() / 1e6, 1, "sar.seed=" + seed);
    }

    @Test
    void whatReadersMeetIsLearned() {
        DiskQueue queue = queue("auto", this::readFromDevice);
        assertEquals(DiskModel.HDD, queue.model());
        read(queue, 600, 0);
        assertIsTheHardDisk(queue.model());
    }

    @Test
    void whatTheKernelsCacheGaveIsNotTheDisk() {
        DiskQueue queue = queue("auto", this::readFromDevice);
        read(queue, 3000, 0.8);
        assertIsTheHardDisk(queue.model());
        read(queue, 3000, 1);
        assertIsTheHardDisk(queue.model());
    }

    @Test
    void whereTheKernelDoesNotCountWhatIsTooFastIsNotTheDisk() {
        DiskQueue queue = queue("auto", OptionalLong::empty);
        read(queue, 3000, 0.8);
        assertIsTheHardDisk(queue.model());
    }

    @Test
    void aCacheThatIsTakenForTheDiskWouldSpoilTheModel() {
        AtomicLong always = new AtomicLong();
        DiskQueue queue = queue("auto", () -> OptionalLong.of(always.addAndGet(1 << 30)));
        read(queue, 3000, 0.8);
        assertTrue(queue.model().bytesPerSecond() > 1_000_000_000, "sar.seed=" + seed + ": " + queue.model());
    }

    @Test
    void whatIsConfiguredStays() {
        DiskQueue queue = queue("3,100", this::readFromDevice);
        DiskModel configured = queue.model();
        read(queue, 600, 0);
        assertEquals(configured, queue.model());
        assertEquals(300_000, configured.gapBytes());
    }

    /**
     * Three readers that always want more from a device. The device gives one rate, in MB/s, to a single reader and
     * another rate to several.
     */
    private double crowdedShare(double rateOfOne, double rateOfMore) throws InterruptedException {
        DiskQueue queue = queue("auto", OptionalLong::empty);
        BlockingQueue<DiskQueue.Turn> entered = new LinkedBlockingQueue<>();
        Deque<DiskQueue.Turn> inside = new ArrayDeque<>();
        double crowded = 0;
        for (int i = 0; i < 3; i++) {
            start(queue, () -> entered.add(queue.enter(Importance.STEP)));
        }
        // It is treated as a hard disk, for which the first trial waits half a minute.
        while (clock.get() < 120_000_000_000L) {
            while (inside.size() < queue.status().readers()) {
                inside.add(entered.take());
            }
            long nanos = Math.round((1 << 20) / (inside.size() == 1 ? rateOfOne : rateOfMore) * 1e3);
            clock.addAndGet(nanos);
            crowded += inside.size() == 1 ? 0 : nanos;
            inside.element().requested(1, clock.get(), 1 << 20, nanos);
            if (random.nextInt(32) == 0) {
                inside.remove().close();
                start(queue, () -> entered.add(queue.enter(Importance.STEP)));
            }
        }
        for (int left = 3; left > 0; left--) {
            (inside.isEmpty() ? entered.take() : inside.remove()).close();
        }
        return crowded / clock.get();
    }

    @Test
    void twoAtOnceAreLetInWhereThatIsFaster() throws InterruptedException {
        assertTrue(crowdedShare(100, 250) > 0.5);
    }

    @Test
    void oneAtATimeIsLetInWhereTwoAreSlower() throws InterruptedException {
        assertTrue(crowdedShare(100, 60) < 0.2);
    }
}
