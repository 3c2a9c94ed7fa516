package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rings of this machine's kernel. */
class IoRingTest {
    private static final byte OP_NOP = 0;

    private final Libc libc = new Libc();

    @BeforeEach
    void assumeIoUring() {
        boolean permitted;
        try {
            IoRing.open(libc).close();
            permitted = true;
        } catch (IOException e) {
            permitted = false;
        }
        assumeTrue(permitted, "skipped: this kernel has no io_uring, or forbids it");
    }

    private static void putNothingToDo(IoRing ring) {
        ByteBuffer command = ring.command();
        for (int i = 0; i < IoRing.COMMAND_BYTES; i += Long.BYTES) {
            command.putLong(i, 0);
        }
        command.put(0, OP_NOP);
    }

    @Test
    void aCommandCompletes() throws Exception {
        try (IoRing ring = IoRing.open(libc)) {
            for (int i = 0; i < 1000; i++) {
                putNothingToDo(ring);
                assertEquals(0, i % 2 == 0 ? ring.submitAndAwait() : ring.submit());
            }
        }
    }

    @Test
    void aWaitingThreadIsWoken() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try (IoRing waker = IoRing.open(libc)) {
            CompletableFuture<Integer> descriptor = new CompletableFuture<>();
            Future<Integer> woken = other.submit(() -> {
                try (IoRing ring = IoRing.open(libc)) {
                    descriptor.complete(ring.descriptor());
                    int result = ring.await();
                    putNothingToDo(ring);
                    assertEquals(0, ring.submitAndAwait());
                    return result;
                }
            });
            waker.wake(descriptor.get(60, TimeUnit.SECONDS));
            assertEquals(IoRing.WOKEN, woken.get(60, TimeUnit.SECONDS));
        } finally {
            other.shutdown();
        }
    }
}
