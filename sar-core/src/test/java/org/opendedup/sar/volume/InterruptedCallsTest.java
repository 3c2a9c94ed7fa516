package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;

/** The threads of a client are its own: it interrupts them, and neither they nor others notice it in the volume. */
@Timeout(240)
class InterruptedCallsTest {
    private static final int THREADS = 3;
    private static final int CHUNKS = 300;

    @Test
    void interruptedThreadsReadWriteAndSync(@MemoryFolder Path data) throws Exception {
        try (ChunkFolder folder = new ChunkFolder(data, null)) {
            folder.put(0, CHUNKS);
            folder.reopen();
            folder.volume.setReadAhead(false);
            ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
            try {
                AtomicBoolean isDone = new AtomicBoolean();
                List<Thread> interrupted = new ArrayList<>();
                List<Future<?>> calls = new ArrayList<>();
                for (int thread = 0; thread < THREADS; thread++) {
                    int from = CHUNKS * (thread + 1);
                    calls.add(threads.submit(() -> {
                        synchronized (interrupted) {
                            interrupted.add(Thread.currentThread());
                        }
                        use(folder, from);
                        return null;
                    }));
                }
                Future<?> interrupter = threads.submit(() -> {
                    while (!isDone.get()) {
                        synchronized (interrupted) {
                            interrupted.forEach(Thread::interrupt);
                        }
                        Thread.yield();
                    }
                });
                try {
                    for (Future<?> call : calls) {
                        call.get();
                    }
                } finally {
                    isDone.set(true);
                }
                interrupter.get();
            } finally {
                threads.shutdownNow();
            }
            assertNull(folder.volume.stopped());
            folder.reopen();
            for (int number = 0; number < CHUNKS * (THREADS + 1); number++) {
                byte[] chunk = ChunkTrial.chunk(number);
                assertArrayEquals(chunk, folder.volume.get(ChunkTrial.fingerprint(chunk), -1), "chunk " + number);
            }
        }
    }

    private static void use(ChunkFolder folder, int from) throws Exception {
        for (int i = 0; i < CHUNKS; i++) {
            byte[] known = ChunkTrial.chunk(i);
            Thread.currentThread().interrupt();
            try {
                assertArrayEquals(known, folder.volume.get(ChunkTrial.fingerprint(known), -1), "chunk " + i);
            } catch (InterruptedIOException e) {
                // It waited for another thread that reads the same.
            }
            byte[] chunk = ChunkTrial.chunk(from + i);
            Thread.currentThread().interrupt();
            folder.volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, from);
            if (i % 50 == 49) {
                Thread.currentThread().interrupt();
                folder.volume.sync();
            }
        }
    }
}
