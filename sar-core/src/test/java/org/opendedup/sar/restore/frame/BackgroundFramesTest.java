package org.opendedup.sar.restore.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.restore.HotVolume;

/** On containers of some 100 KiB with chunks of 18 KiB, each in a frame of its own. */
@Timeout(60)
class BackgroundFramesTest {
    private static final int CHUNKS = 20;

    @AutoClose
    private HotVolume volume;

    @BeforeEach
    void storeChunks(@TempDir Path folder) throws IOException {
        volume = new HotVolume(folder, 1, CHUNKS, 18_000, 18_001);
    }

    /** Counts frames and requests. */
    private static final class Counter implements FrameConsumer {
        int frames;
        int requests;

        @Override
        public void frame(int frame, Frame contents) {
            frames++;
        }

        @Override
        public void damaged(int frame, IOException failure) {
            throw new AssertionError(failure);
        }

        @Override
        public void requested(long pack, long offset, int bytes, long nanos) {
            requests++;
        }
    }

    private static DiskQueue queue(String disk) {
        return new DiskQueue(DiskOption.parse(disk), true, System::nanoTime, OptionalLong::empty);
    }

    /** Reads the first and the third frame of a container. */
    private Counter read(DiskQueue disk) throws IOException {
        Counter counter = new Counter();
        long container = ChunkId.container(volume.ids.get(0));
        new BackgroundFrames(volume.containers, disk, new FrameCache(1 << 20))
                .read(container, new int[] {0, 2}, 2, counter);
        assertEquals(2, counter.frames);
        return counter;
    }

    @Test
    void aGapIsReadIfTheModelOfTheDiskHasItSo() throws IOException {
        // 0.15 ms at 100 MB/s: 15 KB, less than the frame between them.
        assertEquals(2, read(queue("0.15,100")).requests);
        // 0.3 ms at 100 MB/s: 30 KB.
        assertEquals(1, read(queue("0.3,100")).requests);
    }

    @Test
    void eachReadIsATurn() throws IOException {
        DiskQueue disk = queue("hdd");
        read(disk);
        read(disk);
        assertEquals(2, disk.turns());
        assertEquals(0, disk.status().readers());
    }

    @Test
    void theModelOfTheDiskLearnsFromTheseReadsToo() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        DiskQueue disk = new DiskQueue(DiskOption.AUTO, true, System::nanoTime, () -> {
            asked.incrementAndGet();
            return OptionalLong.empty();
        });
        int requests = read(disk).requests;
        // The queue asks for the bytes read from devices when a turn begins, and after each reported request.
        assertEquals(1 + requests, asked.get());
    }
}
