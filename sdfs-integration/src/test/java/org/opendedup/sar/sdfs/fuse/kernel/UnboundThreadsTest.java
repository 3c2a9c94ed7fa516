package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class UnboundThreadsTest {
    private static final int MASK_BYTES = 1024;

    private final Libc libc = new Libc();

    private ByteBuffer processors() {
        ByteBuffer mask = ByteBuffer.allocateDirect(MASK_BYTES);
        libc.functions().sched_getaffinity(0, MASK_BYTES, libc.address(mask));
        return mask;
    }

    @Test
    void aThreadThatABoundOneStartedIsFreed() throws Exception {
        ByteBuffer all = processors();
        ExecutorService binding = Executors.newSingleThreadExecutor();
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            UnboundThreads threads = new UnboundThreads(libc);
            Future<ByteBuffer> bound = binding.submit(() -> {
                threads.bind(0);
                return processors();
            });
            assumeTrue(!bound.get().equals(all), "skipped: this process has one processor");
            ByteBuffer inherited =
                    binding.submit(() -> pool.submit(this::processors).get()).get();
            assertNotEquals(all, inherited, "the control: it would stay bound");
            threads.look();
            assertEquals(all, pool.submit(this::processors).get());
            assertEquals(bound.get(), binding.submit(this::processors).get(), "who bound itself stays bound");
        } finally {
            binding.shutdown();
            pool.shutdown();
        }
    }
}
