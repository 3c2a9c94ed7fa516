package org.opendedup.sar.sdfs.fuse.jnr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.NoThreads;
import org.opendedup.sar.sdfs.fuse.Shell;
import org.opendedup.sar.sdfs.fuse.Syncers;

/** As the kernel binding's test of this name. */
@Timeout(120)
class LateSyncsTest {
    /** More than there are serving threads. */
    private static final int SYNCERS = 12;

    private static final int HEADER_BYTES = 40;

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
    void whatWaitsIsServedWhereTheMachineGivesNoThread() {
        List<Long> served = new ArrayList<>();
        Caller caller = new Caller(null);
        LibFuse2.Functions fuse = (LibFuse2.Functions) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {LibFuse2.Functions.class}, (proxy, method, arguments) -> {
                    assertEquals("fuse_session_process", method.getName());
                    served.add(caller.request().node());
                    return null;
                });
        RequestView own = request(7);
        caller.serves(own);
        Session session = new Session(null, null, null, null, HEADER_BYTES);
        try (LateSyncs syncs = new LateSyncs(fuse, session, caller, false, NoThreads.make())) {
            NoThreads.without(() -> syncs.serve(request(41)));
            NoThreads.without(() -> syncs.serve(request(42)));
        }
        assertEquals(List.of(41L, 42L), served);
        assertSame(own, caller.request(), "the thread's own request");
    }

    private static RequestView request(long node) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(HEADER_BYTES).order(ByteOrder.nativeOrder());
        RequestView request = new RequestView(bytes.putLong(16, node));
        request.begin(HEADER_BYTES);
        return request;
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
