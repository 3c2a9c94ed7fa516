package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;

/** Reading and writing through few buffers: no thread fails because none is free, and no thread has one of its own. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class TransferBuffersTest {
    private static final int FILE_BYTES = 3 * TransferBuffers.BUFFER_BYTES + 1000;
    private static final int THREADS = 40;

    @TempDir
    Path folder;

    private final Random random = new Random(TestSeed.next());

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    private final AtomicInteger made = new AtomicInteger();

    private byte[] bytes() {
        byte[] bytes = new byte[FILE_BYTES];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void write(Directory directory, String name, ByteBuffer source) throws IOException {
        try (Output output = directory.create(name)) {
            assertEquals(0, output.append(source));
            assertEquals(FILE_BYTES, output.position());
        }
    }

    private static void fill(Directory directory, String name, long offset, ByteBuffer target) throws IOException {
        try (Input input = directory.open(name)) {
            input.readFully(offset, target);
        }
    }

    /** Every thread writes a file and reads it back in pieces. */
    private void useBy(int users, TransferBuffers buffers) throws Exception {
        Directory directory = FileDirectory.open(folder, buffers);
        CountDownLatch all = new CountDownLatch(users);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < users; i++) {
            String name = "f" + i;
            byte[] content = bytes();
            running.add(threads.submit(() -> {
                all.countDown();
                all.await();
                write(directory, name, ByteBuffer.wrap(content));
                for (int round = 0; round < 5; round++) {
                    ByteBuffer target = ByteBuffer.allocate(FILE_BYTES);
                    fill(directory, name, 0, target);
                    assertArrayEquals(content, target.array());
                }
                return null;
            }));
        }
        for (Future<?> user : running) {
            user.get();
        }
    }

    @Test
    void manyThreadsShareFewBuffers() throws Exception {
        useBy(THREADS, new TransferBuffers(3, this::make));
        assertTrue(made.get() <= 3, made + " buffers");
    }

    private ByteBuffer make(int bytes) {
        made.incrementAndGet();
        return ByteBuffer.allocateDirect(bytes);
    }

    @Test
    void whereThereIsNoMemoryForMoreThoseThatAreThereHaveToDo() throws Exception {
        TransferBuffers buffers = new TransferBuffers(THREADS, bytes -> {
            if (made.incrementAndGet() > 1) {
                throw new OutOfMemoryError("as told by the test");
            }
            return ByteBuffer.allocateDirect(bytes);
        });
        // On a busy machine one thread may be done before the next one runs.
        for (int attempt = 0; attempt < 100 && made.get() <= 1; attempt++) {
            useBy(THREADS, buffers);
            for (int i = 0; i < THREADS; i++) {
                Files.delete(folder.resolve("f" + i));
            }
        }
        assertTrue(made.get() > 1, "the control: more were wanted");
    }

    @Test
    void withoutMemoryForTheFirstItFailsAndIsTriedAgain() throws Exception {
        TransferBuffers buffers = new TransferBuffers(2, bytes -> {
            if (made.incrementAndGet() == 1) {
                throw new OutOfMemoryError("as told by the test");
            }
            return ByteBuffer.allocateDirect(bytes);
        });
        Directory directory = FileDirectory.open(folder, buffers);
        assertThrows(OutOfMemoryError.class, () -> write(directory, "f", ByteBuffer.wrap(bytes())));
        write(directory, "g", ByteBuffer.wrap(bytes()));
    }

    /** The control: if a thread reads into the heap without the pool, the JDK keeps a buffer for it. */
    @Test
    void noThreadKeepsABufferOfItsOwn() throws Exception {
        long before = directBytes();
        useBy(THREADS, new TransferBuffers(2, this::make));
        long shared = directBytes() - before;
        assertTrue(shared <= 4L * TransferBuffers.BUFFER_BYTES, shared + " bytes");
        CountDownLatch all = new CountDownLatch(THREADS);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Path file = folder.resolve("f" + i);
            running.add(threads.submit(() -> {
                all.countDown();
                all.await();
                try (FileChannel channel = FileChannel.open(file)) {
                    return channel.read(ByteBuffer.allocate(TransferBuffers.BUFFER_BYTES));
                }
            }));
        }
        for (Future<?> user : running) {
            user.get();
        }
        long own = directBytes() - before - shared;
        assertTrue(own >= (long) THREADS * TransferBuffers.BUFFER_BYTES / 2, "the control: " + own + " bytes");
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    void buffersOutsideTheHeapNeedNoOther() throws IOException {
        Directory directory = FileDirectory.open(folder, new TransferBuffers(1, this::make));
        byte[] content = bytes();
        ByteBuffer source = ByteBuffer.allocateDirect(FILE_BYTES).put(content).flip();
        write(directory, "f", source);
        assertEquals(FILE_BYTES, source.position());
        ByteBuffer target = ByteBuffer.allocateDirect(FILE_BYTES - 10);
        fill(directory, "f", 10, target);
        byte[] read = new byte[FILE_BYTES - 10];
        target.flip().get(read);
        assertArrayEquals(Arrays.copyOfRange(content, 10, FILE_BYTES), read);
        assertEquals(0, made.get());
    }

    @Test
    void aReadKeepsToItsTarget() throws IOException {
        Directory directory = FileDirectory.open(folder, new TransferBuffers(1, this::make));
        byte[] content = bytes();
        write(directory, "f", ByteBuffer.wrap(content));
        byte[] room = new byte[300];
        ByteBuffer target = ByteBuffer.wrap(room, 100, 50);
        fill(directory, "f", 7, target);
        assertEquals(150, target.position());
        byte[] expected = new byte[300];
        System.arraycopy(content, 7, expected, 100, 50);
        assertArrayEquals(expected, room);
        ByteBuffer beyond = ByteBuffer.allocate(20);
        assertThrows(EOFException.class, () -> fill(directory, "f", FILE_BYTES - 10, beyond));
        assertEquals(10, beyond.position());
    }
}
