package org.opendedup.sar.restore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.FrameSink;
import org.opendedup.sar.restore.frame.PinnedChunks;

/**
 * Reads of containers that were written anew without chunks, three to a frame. A reader that wants a removed chunk gets
 * an error; all others get their bytes.
 */
@Timeout(60)
class RemovedChunksReadTest {
    private static final int CHUNKS = 120;
    private static final int BYTES = 1350;

    /** A chunk between two that stay in the same frame. */
    private int removed;
    /** First of the three chunks of a removed frame, which is not the first of its container. */
    private int ofRemovedFrame;

    @AutoClose
    private HotVolume volume;

    /** Numbers of the frames that were reported as damaged. */
    private final List<Integer> damaged = new ArrayList<>();

    private long removedFrame;

    @BeforeEach
    void removeChunks(@TempDir Path folder) throws IOException {
        // Three of these fit in a frame of 4096 bytes.
        volume = new HotVolume(folder, TestSeed.next(), CHUNKS, BYTES, BYTES + 1);
        removed = firstOfFrame(20) + 1;
        ofRemovedFrame = firstOfFrame(60);
        removedFrame = frameId(ofRemovedFrame);
        volume.remove(removed, ofRemovedFrame, ofRemovedFrame + 1, ofRemovedFrame + 2);
    }

    /** Returns the first chunk of a frame of three chunks, which is not the first of its container. */
    private int firstOfFrame(int from) throws IOException {
        int chunk = from;
        while (FrameId.number(frameId(chunk)) == 0
                || frameId(chunk - 1) == frameId(chunk)
                || frameId(chunk + 2) != frameId(chunk)) {
            chunk++;
        }
        return chunk;
    }

    private long frameId(int chunk) throws IOException {
        long id = volume.ids.get(chunk);
        return FrameId.inContainerOf(id, volume.containers.frameOf(id));
    }

    private FrameLoader loader() {
        DiskQueue disk = new DiskQueue(DiskOption.parse("hdd"), true, System::nanoTime, OptionalLong::empty);
        return new FrameLoader(
                volume.containers, disk, new FrameCache(1 << 20), true, (inode, container, frame, cause) -> {
                    synchronized (damaged) {
                        damaged.add(frame);
                    }
                });
    }

    private boolean isRemoved(int chunk) {
        return chunk == removed || chunk >= ofRemovedFrame && chunk < ofRemovedFrame + 3;
    }

    private int[] order(boolean withRemoved) {
        return IntStream.range(0, CHUNKS)
                .filter(chunk -> withRemoved || !isRemoved(chunk))
                .toArray();
    }

    @Test
    void aFileWithoutThemIsReadInSequence() throws IOException {
        volume.makeFile(order(false));
        assertArrayEquals(volume.expected(), volume.read(volume.engine()));
        RestoreEngine engine = volume.engine();
        try (ReadStream stream = HotVolume.stream(engine, 1)) {
            byte[] expected = volume.expected();
            for (int at = 0; at < expected.length; at += 7000) {
                ByteBuffer target = ByteBuffer.allocate(Math.min(7000, expected.length - at));
                boolean continues = stream.note(at, target.capacity(), expected.length);
                stream.read(at, target.capacity(), continues, target);
                assertArrayEquals(Arrays.copyOfRange(expected, at, at + target.capacity()), target.array());
            }
        }
    }

    @Test
    void aRemovedChunkIsAnErrorAndItsNeighboursAreRead() throws IOException {
        volume.makeFile(order(true));
        RestoreEngine engine = volume.engine();
        int at = 0;
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            int offset = at;
            int length = volume.chunks.get(chunk).length;
            if (isRemoved(chunk)) {
                assertThrows(IOException.class, () -> volume.read(engine, offset, length), "chunk " + chunk);
                assertThrows(IOException.class, () -> volume.read(engine, offset + 5, 1), "chunk " + chunk);
            } else {
                assertArrayEquals(volume.chunks.get(chunk), volume.read(engine, offset, length), "chunk " + chunk);
            }
            at += length;
        }
        assertThrows(IOException.class, () -> volume.read(engine));
    }

    @Test
    void aFrameWithoutARemovedChunkIsNotCalledDamaged() throws IOException {
        FrameLoader loader = loader();
        long chunk = volume.ids.get(removed);
        Frame frame = loader.frame(HotVolume.INODE, chunk);
        assertFalse(frame.holds(ChunkId.slot(chunk)));
        // The values that a chunk of length 0 would have.
        assertThrows(IOException.class, () -> loader.check(HotVolume.INODE, frame, chunk, 0, 0));
        assertEquals(List.of(-1), damaged);
        long other = volume.ids.get(removed + 1);
        int prefix = frame.fingerprintPrefix(ChunkId.slot(other));
        loader.check(HotVolume.INODE, frame, other, prefix, BYTES);
        // The control: another chunk than the recipe names is damage of the frame.
        assertThrows(IOException.class, () -> loader.check(HotVolume.INODE, frame, other, prefix + 1, BYTES));
        assertEquals(2, damaged.size());
        assertTrue(damaged.get(1) >= 0, damaged::toString);
    }

    @Test
    void aRemovedFrameIsLeftOutOfATurn() throws IOException {
        FrameLoader loader = loader();
        List<Integer> read = new ArrayList<>();
        FrameSink sink = new FrameSink() {
            @Override
            public synchronized void onFrame(int number, Frame frame) {
                read.add(number);
            }
        };
        long before = FrameId.inContainerOf(volume.ids.get(ofRemovedFrame - 1), FrameId.number(removedFrame) - 1);
        loader.fetch(HotVolume.INODE, new long[] {before, removedFrame}, sink);
        assertEquals(List.of(FrameId.number(before)), read);
        assertEquals(List.of(), damaged);
        assertFalse(loader.isBeingRead(removedFrame));
        // A reader that needs it gets the error.
        assertThrows(IOException.class, () -> loader.frame(HotVolume.INODE, volume.ids.get(ofRemovedFrame)));
        assertEquals(List.of(-1), damaged);
    }

    @Test
    void aHeldChunkThatIsRemovedIsNotBrought() throws IOException {
        PinnedChunks pinned = new PinnedChunks(new ByteGauge(), Long.MAX_VALUE);
        PinnedChunks.Surplus surplus = new PinnedChunks.Surplus();
        surplus.allow(1 << 20);
        pinned.hold(volume.ids.get(removed), 4096);
        pinned.hold(volume.ids.get(removed + 1), 4096);
        pinned.fill(loader().frame(HotVolume.INODE, volume.ids.get(removed)), surplus);
        assertTrue(pinned.has(volume.ids.get(removed + 1)));
        assertFalse(pinned.has(volume.ids.get(removed)));
        assertNull(pinned.use(volume.ids.get(removed)));
        pinned.release(volume.ids.get(removed));
        pinned.release(volume.ids.get(removed + 1));
    }
}
