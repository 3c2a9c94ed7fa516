package org.opendedup.sar.restore.lookahead;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.restore.HotVolume;
import org.opendedup.sar.restore.ReadStream;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.restore.frame.FrameCache;

/**
 * Readers whose reading ahead ends while they continue: they get their bytes, and no other reader loses what is held
 * for it.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class LookaheadCloseTest {
    private static final int CHUNKS = 6000;
    private static final int REQUEST = 128 << 10;

    @TempDir
    Path folder;

    @AutoClose
    private HotVolume volume;

    private RestoreEngine engine;

    @BeforeEach
    void store() throws IOException {
        volume = new HotVolume(folder, TestSeed.next(), CHUNKS);
        volume.attached = null;
        volume.promotions.active = false;
        volume.makeFile(IntStream.range(0, CHUNKS).toArray());
        engine = volume.engine(new FrameCache(1 << 20), false, HotVolume.budget(2 * StreamBudget.MIN_SHARE_BYTES));
    }

    private int size() {
        return volume.expected().length;
    }

    private Lookahead start() throws IOException {
        ParkedChunks parked = HotVolume.streams(engine).tryJoin(new ReadCredit());
        assertNotNull(parked);
        Lookahead started = HotVolume.streams(engine).start(parked, HotVolume.INODE, 0, size());
        assertNotNull(started);
        return started;
    }

    /** Reads only what is read ahead. Returns false if a part of it was not. */
    private boolean read(Lookahead ahead, int offset) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(REQUEST);
        ahead.note(offset + REQUEST, size(), Long.MAX_VALUE);
        boolean isAhead;
        try (ReadAhead.Request request =
                new ReadAhead.Request(HotVolume.streams(engine), List.of(ahead), ahead, null, offset, REQUEST)) {
            isAhead = HotVolume.readAhead(engine, request, offset, target);
        }
        if (isAhead) {
            assertArrayEquals(Arrays.copyOfRange(volume.expected(), offset, offset + REQUEST), target.array());
        }
        return isAhead;
    }

    /** Returns when there is no memory for more chunks ahead of the reader. */
    private static void awaitNothingUnderWay(Lookahead ahead) throws InterruptedException {
        StreamStatus before;
        do {
            before = ahead.status();
            Thread.sleep(3);
        } while (ahead.status().diskBytes() > before.diskBytes());
    }

    /** In about half of the rounds the reader arrives after the end. */
    @Test
    void aReaderThatGoesOnWhileItsReadingAheadEndsIsNotToldOfThat() throws Exception {
        int rounds = TestSeed.rounds(100);
        int failed = 0;
        for (int round = 0; round < rounds; round++) {
            failed += noteWhileClosing() ? 1 : 0;
        }
        assertEquals(0, failed, "of " + rounds + " rounds");
        TestWait.until(() -> engine.memory().bytes() == 0);
    }

    /** Returns whether that failed. */
    private boolean noteWhileClosing() throws Exception {
        Lookahead ahead = start();
        assertTrue(read(ahead, 0));
        awaitNothingUnderWay(ahead);
        CyclicBarrier together = new CyclicBarrier(2);
        FutureTask<Void> closing = new FutureTask<>(() -> {
            together.await();
            ahead.close();
            return null;
        });
        new Thread(closing).start();
        boolean failed = false;
        together.await();
        try {
            // Far enough that the reader has passed the fetched chunks.
            ahead.note(size() - REQUEST, size(), Long.MAX_VALUE);
        } catch (IllegalStateException e) {
            failed = true;
        }
        closing.get();
        TestWait.until(() -> engine.readers().size() <= 0);
        return failed;
    }

    /** One reader reads to the end. Another one, which began at the same place, has ended but still gets requests. */
    @Test
    void whoComesAfterTheEndLeavesWhatIsHeldForOthers() throws Exception {
        try (Lookahead other = start()) {
            Lookahead ended = start();
            assertTrue(read(ended, 0));
            assertTrue(read(other, 0));
            int at = REQUEST;
            for (; at < 3 << 20; at += REQUEST) {
                assertTrue(read(other, at));
            }
            ended.close();
            TestWait.until(() -> engine.readers().size() <= 1);
            for (int i = 0; i < 20; i++) {
                ended.note(size() - REQUEST, size(), Long.MAX_VALUE);
            }
            for (; at + REQUEST <= size(); at += REQUEST) {
                assertTrue(read(other, at), "offset " + at);
            }
            assertFalse(other.isClosed());
        }
        TestWait.until(() -> engine.memory().bytes() == 0);
    }

    /** The same lookahead serves it to the end. The control: when it no longer waits, the same check finds it idle. */
    @Test
    void aReaderThatWaitsForTheDiskIsNotIdle() throws Exception {
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            // Its first requests precede the detection of the sequence.
            for (int at = 0; at < 3 * REQUEST; at += REQUEST) {
                assertTrue(read(stream, at));
            }
            FutureTask<Boolean> reading = new FutureTask<>(() -> {
                boolean same = true;
                for (int at = 3 * REQUEST; at + REQUEST <= size(); at += REQUEST) {
                    same &= read(stream, at);
                }
                return same;
            });
            Thread reader = new Thread(reading);
            try (DiskQueue.Turn others = volume.disk.enter(Importance.STEP)) {
                reader.start();
                awaitWaiting(reader);
                HotVolume.streams(engine).tidy(0);
            }
            assertTrue(reading.get());
            assertEquals(1, engine.readers().size());
            assertTrue(engine.readers().get(0).readBytes() >= size() - 4 * REQUEST);
            HotVolume.streams(engine).tidy(0);
            TestWait.until(() -> engine.readers().size() <= 0);
        }
        TestWait.until(() -> engine.memory().bytes() == 0);
    }

    private boolean read(ReadStream stream, int offset) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(REQUEST);
        boolean continues = stream.note(offset, REQUEST, size());
        stream.read(offset, REQUEST, continues, target);
        return Arrays.equals(target.array(), 0, REQUEST, volume.expected(), offset, offset + REQUEST);
    }

    private static void awaitWaiting(Thread thread) throws InterruptedException {
        int waiting = 0;
        while (waiting < 50) {
            waiting = thread.getState() == Thread.State.WAITING ? waiting + 1 : 0;
            Thread.sleep(1);
        }
    }
}
