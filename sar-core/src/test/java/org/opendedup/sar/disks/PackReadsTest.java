package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.HeapContainerTable;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.TransferBuffers;

/** What a disk reads for frames of a pack, with a kernel that reads far ahead. */
class PackReadsTest {
    private static final int FRAME = 64 << 10;
    private static final int FRAMES_OF_CONTAINER = 48;
    private static final int CONTAINERS = 5;
    private static final int READ_AHEAD_KIB = 1024;
    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    private final ExecutorService workers = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        workers.shutdownNow();
    }

    @Test
    void theDiskReadsNoMoreThanTheRequestedRange() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, 64L * MIB)) {
            disk.setReadAhead(READ_AHEAD_KIB);
            FileDirectory directory = FileDirectory.open(disk.folder());
            HeapContainerTable table = new HeapContainerTable();
            AtomicLong ids = new AtomicLong();
            ContainerOptions options = new ContainerOptions(
                    new Compression(Compression.Codec.NONE, 1, FRAME),
                    4 * MIB,
                    FRAMES_OF_CONTAINER,
                    1,
                    4 * MIB,
                    ContainerCipher.NONE);
            try (ContainerStore store = ContainerStore.open(
                    directory,
                    options,
                    ids::incrementAndGet,
                    table,
                    container -> null,
                    (container, frames) -> {},
                    workers,
                    MIB)) {
                List<Long> chunks = append(store);
                table.sealAll(store);
                Commands.succeed("sync", "-f", disk.folder());
                long container = ChunkId.container(chunks.get(0));
                assertEquals(FRAMES_OF_CONTAINER, store.frameTable(container).frames());

                int[] neighbours = IntStream.range(8, 24).toArray();
                forget(directory);
                long before = disk.readBytes();
                assertEquals(neighbours.length, read(store, container, neighbours, 0));
                assertIsAbout(neighbours.length * FRAME, disk.readBytes() - before);

                // A gap is read with the rest, by one request.
                int[] everyOther = IntStream.range(4, 20).map(i -> 2 * i).toArray();
                forget(directory);
                before = disk.readBytes();
                assertEquals(everyOther.length, read(store, container, everyOther, 2 * FRAME));
                assertIsAbout((2 * everyOther.length - 1) * FRAME, disk.readBytes() - before);

                // The control: the same system calls, which are not announced to the kernel.
                String pack = directory.list().stream()
                        .filter(name -> name.endsWith(".pack"))
                        .findFirst()
                        .orElseThrow();
                forget(directory);
                before = disk.readBytes();
                try (Input input = directory.open(pack)) {
                    input.readFully(MIB + 4096, ByteBuffer.allocate(neighbours.length * FRAME));
                }
                long control = disk.readBytes() - before;
                assertTrue(control > 3 * MIB / 2, () -> control + " bytes");
            }
        }
    }

    /** ext4 may read its own records meanwhile. */
    private static void assertIsAbout(long wanted, long read) {
        assertTrue(read >= wanted && read <= wanted + TransferBuffers.BUFFER_BYTES, () -> read + ", not " + wanted);
    }

    private static List<Long> append(ContainerStore store) throws IOException {
        List<Long> ids = new ArrayList<>();
        try (ContainerWriter writer = store.writer(1)) {
            for (int i = 0; i < CONTAINERS * FRAMES_OF_CONTAINER; i++) {
                ids.add(writer.append(Bytes.random(i, FRAME), 0, FRAME, new byte[Fingerprints.BYTES], 0));
            }
        }
        return ids;
    }

    private static void forget(FileDirectory directory) throws IOException {
        for (String name : directory.list()) {
            try (Input input = directory.open(name)) {
                input.forgetCached(0, input.length());
            }
        }
    }

    /** Returns the number of frames that were read and are right. */
    private static int read(ContainerStore store, long container, int[] frames, int gap) throws IOException {
        AtomicInteger read = new AtomicInteger();
        store.readFrames(container, frames, frames.length, gap, new FrameConsumer() {
            @Override
            public void frame(int number, Frame frame) {
                int at = frame.offset(frame.firstSlot());
                assertArrayEquals(
                        Bytes.random(number, FRAME),
                        Arrays.copyOfRange(frame.data(), at, at + FRAME),
                        "frame " + number);
                read.incrementAndGet();
            }

            @Override
            public void damaged(int number, IOException cause) {
                throw new AssertionError(cause);
            }
        });
        return read.get();
    }
}
