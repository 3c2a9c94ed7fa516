package org.opendedup.sar.restore.frame;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.restore.HotVolume;

@Timeout(60)
class FrameLoaderTest {
    private static final int CHUNKS = 200;

    @AutoClose
    private HotVolume volume;

    private FrameLoader loader;
    /** The disk's time, which does not pass by itself. */
    private final AtomicLong clock = new AtomicLong();

    private final DiskQueue disk = new DiskQueue(DiskOption.parse("hdd"), true, clock::get, OptionalLong::empty);

    @BeforeEach
    void storeChunks(@TempDir Path folder) throws IOException {
        volume = new HotVolume(folder, TestSeed.next(), CHUNKS);
        loader = new FrameLoader(
                volume.containers, disk, new FrameCache(1 << 20), false, (inode, container, frame, cause) -> {});
    }

    private long key(int chunk) throws IOException {
        long id = volume.ids.get(chunk);
        return FrameId.inContainerOf(id, volume.containers.frameOf(id));
    }

    private void assertHolds(Frame frame, int chunk) {
        int slot = ChunkId.slot(volume.ids.get(chunk));
        int from = frame.offset(slot);
        assertArrayEquals(volume.chunks.get(chunk), Arrays.copyOfRange(frame.data(), from, from + frame.length(slot)));
    }

    /** Gives up when it is asked about the last frame, and waits before: until then the others are claimed. */
    private static final class GivingUp implements FrameSink {
        final CountDownLatch claimed = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        private final long last;

        GivingUp(long last) {
            this.last = last;
        }

        @Override
        public boolean wants(FrameTable table, long container, int frame) {
            if (FrameId.of(container, frame) != last) {
                return true;
            }
            claimed.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            throw new IllegalStateException("given up");
        }
    }

    @Test
    void whoWaitsForAFrameThatIsGivenUpReadsItHimself() throws Exception {
        GivingUp sink = new GivingUp(key(CHUNKS - 1));
        long[] wanted = {key(0), key(CHUNKS - 1)};
        FutureTask<Void> fetching = new FutureTask<>(() -> {
            loader.fetch(HotVolume.INODE, wanted, sink);
            return null;
        });
        new Thread(fetching).start();
        sink.claimed.await();
        assertTrue(loader.isBeingRead(wanted[0]));
        FutureTask<Frame> waiting = new FutureTask<>(() -> loader.frame(HotVolume.INODE, volume.ids.get(0)));
        Thread waiter = new Thread(waiting);
        waiter.start();
        TestWait.until(() -> waiter.getState() == Thread.State.WAITING);
        // The control: this reader waits for the other.
        assertFalse(waiting.isDone());
        sink.goOn.countDown();
        assertHolds(waiting.get(), 0);
        assertThrows(Exception.class, fetching::get);
        assertFalse(loader.isBeingRead(wanted[0]));
    }

    /** A read of one frame takes no turn, but work in the background does not begin shortly after it. */
    @Test
    void aReadOfOneFrameKeepsTheBackgroundFromTheDisk() throws Exception {
        // The control: nobody has used the disk.
        disk.enter(Importance.BACKGROUND).close();
        loader.frame(HotVolume.INODE, volume.ids.get(0));
        assertEquals(1, disk.turns());
        Thread background = new Thread(() -> disk.enter(Importance.BACKGROUND).close());
        background.start();
        while (disk.status().background() == 0 || background.getState() == Thread.State.RUNNABLE) {
            LockSupport.parkNanos(100_000);
        }
        Thread.sleep(20);
        assertEquals(1, disk.turns());
        clock.addAndGet(disk.model().seekNanos());
        background.join();
        assertEquals(2, disk.turns());
    }

    /** The frame tables of containers that do not exist cannot be read. */
    @Test
    void aContainerThatCannotBeReadDoesNotCostTheOthers() throws Exception {
        long[] wanted = {key(0), key(CHUNKS - 1), FrameId.of(1 << 20, 0)};
        int[] read = new int[1];
        FrameSink counting = new FrameSink() {
            @Override
            public synchronized void onFrame(int number, Frame frame) {
                read[0]++;
            }
        };
        loader.fetch(HotVolume.INODE, wanted, counting);
        assertEquals(2, read[0]);
        assertHolds(loader.frame(HotVolume.INODE, volume.ids.get(0)), 0);
        assertEquals(1, loader.hits());
    }

    @Test
    void whoWaitsForAFrameThatIsNotKeptReadsItAgain() throws Exception {
        CountDownLatch received = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        List<Frame> lent = new ArrayList<>();
        FrameSink first = lending(frame -> {
            lent.add(frame);
            received.countDown();
            goOn.await();
        });
        FutureTask<Void> fetching = new FutureTask<>(() -> {
            loader.fetch(HotVolume.INODE, new long[] {key(0)}, first);
            return null;
        });
        new Thread(fetching).start();
        received.await();
        FutureTask<Frame> waiting = new FutureTask<>(() -> loader.frame(HotVolume.INODE, volume.ids.get(0)));
        Thread waiter = new Thread(waiting);
        waiter.start();
        TestWait.until(() -> waiter.getState() == Thread.State.WAITING || !waiter.isAlive());
        goOn.countDown();
        Frame own = waiting.get();
        fetching.get();
        assertEquals(2, loader.misses());
        // Another frame is decoded into the lent array.
        loader.fetch(HotVolume.INODE, new long[] {key(CHUNKS / 2)}, lending(lent::add));
        assertSame(lent.get(0).data(), lent.get(1).data());
        assertHolds(own, 0);
    }

    private interface Receiver {
        void receive(Frame frame) throws InterruptedException;
    }

    private static FrameSink lending(Receiver receiver) {
        return new FrameSink() {
            @Override
            public boolean keepsFrames() {
                return false;
            }

            @Override
            public void onFrame(int number, Frame frame) {
                try {
                    receiver.receive(frame);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
    }
}
