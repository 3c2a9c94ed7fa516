package org.opendedup.sar.restore.lookahead;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.restore.HotVolume;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.FrameSink;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Surplus;
import org.opendedup.sar.restore.frame.WantedChunks;

@Timeout(60)
class BatchReadTest {
    private static final long LARGE_FILE_BYTES = 1L << 40;

    /** Another reader reads the frame, and keeps it no longer than it needs to copy its chunks to all who hold them. */
    @Test
    void takesWhatAnotherReaderReads(@TempDir Path folder) throws Exception {
        PinnedChunks pinned = new PinnedChunks(new ByteGauge(), 1 << 20);
        Surplus surplus = new Surplus();
        surplus.allow(1 << 20);
        CountDownLatch received = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        FrameSink other = new FrameSink() {
            @Override
            public boolean keepsFrames() {
                return false;
            }

            @Override
            public void onFrame(int number, Frame frame) {
                received.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                pinned.fill(frame, surplus);
            }
        };
        try (HotVolume volume = new HotVolume(folder, TestSeed.next(), 10)) {
            FrameLoader loader = new FrameLoader(
                    volume.containers,
                    volume.disk,
                    new FrameCache(1 << 20),
                    false,
                    (inode, container, frame, cause) -> {});
            BatchSources sources = new BatchSources(loader, pinned, null);
            long chunk = volume.ids.get(0);
            int bytes = volume.chunks.get(0).length;
            int number = volume.containers.frameOf(chunk);
            int prefix = volume.containers
                    .frame(ChunkId.container(chunk), number, false)
                    .fingerprintPrefix(ChunkId.slot(chunk));
            FutureTask<Void> fetching = new FutureTask<>(() -> {
                loader.fetch(HotVolume.INODE, new long[] {FrameId.inContainerOf(chunk, number)}, other);
                return null;
            });
            new Thread(fetching).start();
            received.await();

            pinned.hold(chunk, PinnedChunks.heldBytes(bytes));
            WantedChunks wanted = sources.wanted(HotVolume.INODE, LARGE_FILE_BYTES);
            wanted.addChunk(chunk, prefix, 0, bytes);
            try (BatchRead read = new BatchRead(sources, HotVolume.INODE, wanted, false, surplus)) {
                read.start();
                try (BatchRead.Turn turn = read.next()) {
                    assertEquals(0, turn.chooseMissing().length, "the other reads it");
                    turn.claim();
                    turn.begin();
                    turn.read();
                }
                FutureTask<BatchRead.Fetched> finishing = new FutureTask<>(read::finish);
                Thread finisher = new Thread(finishing);
                finisher.start();
                TestWait.until(() -> finisher.getState() == Thread.State.WAITING || !finisher.isAlive());
                // The control: it waits for the other.
                assertFalse(finishing.isDone());
                goOn.countDown();
                assertEquals(bytes, finishing.get().memoryBytes());
                assertEquals(0, finishing.get().diskBytes());
            }
            fetching.get();
            pinned.release(chunk);
        }
    }
}
