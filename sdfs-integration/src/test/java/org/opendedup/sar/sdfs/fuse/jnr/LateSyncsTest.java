package org.opendedup.sar.sdfs.fuse.jnr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.Shell;
import org.opendedup.sar.sdfs.fuse.Syncers;

/** As the kernel binding's test of this name. */
@Timeout(120)
class LateSyncsTest {
    /** More than there are serving threads. */
    private static final int SYNCERS = 12;

    private static final class SlowFileSystem extends MemoryFileSystem implements AutoCloseable {
        final Semaphore begun = new Semaphore(0);
        final CountDownLatch release = new CountDownLatch(1);

        @Override
        public void commit() throws IOException {
            begun.release();
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public void close() {
            release.countDown();
        }
    }

    @Test
    void othersAreServedWhileManyWaitForACommit() throws Exception {
        SlowFileSystem slow = new SlowFileSystem();
        try (ToyMount toy = new ToyMount(slow, "rw");
                slow;
                Syncers syncers = Syncers.start(toy.root, SYNCERS)) {
            assertTrue(slow.begun.tryAcquire(SYNCERS, 60, TimeUnit.SECONDS));
            assertEquals("d", Shell.run(toy.root, "stat none 2>/dev/null; mkdir d; touch d/f; ls -d d"));
            slow.close();
            assertEquals(0, syncers.failures());
        }
    }

    @Test
    void aMountWithOneServingThreadServesOthersToo() throws Exception {
        SlowFileSystem slow = new SlowFileSystem();
        try (ToyMount toy = new ToyMount(slow, "threads=1");
                slow;
                Syncers syncers = Syncers.start(toy.root, 2)) {
            assertTrue(slow.begun.tryAcquire(1, 60, TimeUnit.SECONDS));
            assertEquals("d", Shell.run(toy.root, "mkdir d; ls -d d"));
            slow.close();
            assertEquals(0, syncers.failures());
        }
    }
}
