package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.fuse.kernel.PassedThroughFiles.Opened;

/** The list of open files with a backing file, on a kernel that only counts. */
class PassedThroughFilesTest {
    private static final int DESCRIPTOR = 7;
    private static final int READ_WRITE = 2;
    private static final Opened SERVED = new Opened(PassedThroughFiles.NONE, Protocol.FOPEN_KEEP_CACHE, false);

    private final List<Integer> registered = new ArrayList<>();
    private final Set<Integer> held = new HashSet<>();
    private boolean refuses;

    private final PassedThroughFiles files = new PassedThroughFiles(new PassedThroughFiles.Registry() {
        @Override
        public int register(int descriptor) throws IOException {
            synchronized (held) {
                if (refuses) {
                    throw new IOException("as the test wants");
                }
                registered.add(descriptor);
                held.add(registered.size());
                return registered.size();
            }
        }

        @Override
        public void release(int number) {
            synchronized (held) {
                assertTrue(held.remove(number), "number " + number);
            }
        }
    });

    @Test
    void allOpeningsOfAnInodeShareANumberAndTheLastGivesItBack() {
        int number = files.opened(1, 10, DESCRIPTOR, READ_WRITE).number();
        assertEquals(number, files.opened(1, 11, DESCRIPTOR, Protocol.O_RDONLY).number());
        assertNotEquals(
                number, files.opened(2, 12, DESCRIPTOR, Protocol.O_RDONLY).number());
        assertEquals(2, registered.size());
        files.closed(10);
        assertTrue(held.contains(number) && files.passThrough(11) && !files.passThrough(10));
        files.closed(11);
        files.closed(12);
        assertTrue(held.isEmpty());
        assertEquals(0, files.count());
    }

    @Test
    void passedThroughMeansNoOldPages() {
        assertEquals(
                Protocol.FOPEN_PASSTHROUGH,
                files.opened(1, 10, DESCRIPTOR, Protocol.O_RDONLY).flags());
        assertEquals(SERVED, files.opened(2, 11, -1, Protocol.O_RDONLY));
    }

    @Test
    void afterTheKernelWroteTheFirstOpeningKeepsNoPages() {
        files.opened(1, 10, DESCRIPTOR, READ_WRITE);
        files.closed(10);
        assertEquals(0, files.opened(1, 11, -1, Protocol.O_RDONLY).flags());
        files.closed(11);
        assertEquals(SERVED, files.opened(1, 12, -1, Protocol.O_RDONLY));
    }

    @Test
    void anInodeThatIsRefusedIsServedUntilAllAreClosed() {
        refuses = true;
        assertEquals(SERVED, files.opened(1, 10, DESCRIPTOR, READ_WRITE));
        refuses = false;
        assertEquals(SERVED, files.opened(1, 11, DESCRIPTOR, READ_WRITE));
        assertFalse(files.passThrough(10) || files.passThrough(11));
        assertEquals(Reply.CACHE_SECONDS, files.secondsOf(1));
        files.closed(10);
        assertEquals(SERVED, files.opened(1, 12, DESCRIPTOR, READ_WRITE));
        files.closed(11);
        files.closed(12);
        assertTrue(files.opened(1, 13, DESCRIPTOR, READ_WRITE).isPassedThrough());
    }

    @Test
    void attributesAreNotCachedWhileTheKernelWrites() {
        files.opened(1, 10, DESCRIPTOR, Protocol.O_RDONLY);
        assertEquals(Reply.CACHE_SECONDS, files.secondsOf(1));
        assertTrue(files.opened(1, 11, DESCRIPTOR, READ_WRITE).firstMappable());
        assertEquals(0, files.secondsOf(1));
        assertFalse(files.opened(1, 12, DESCRIPTOR, READ_WRITE).firstMappable());
        files.closed(11);
        assertEquals(0, files.secondsOf(1));
        files.closed(12);
        assertEquals(1, files.secondsOf(1), "a mapping may still be there");
        assertTrue(files.opened(1, 13, DESCRIPTOR, READ_WRITE).firstMappable());
        assertEquals(Reply.CACHE_SECONDS, files.secondsOf(2));
    }

    /** No mapping of such a file can write, and the kernel sees all other writes. */
    @Test
    void attributesAreCachedWhileAFileIsOpenForWritingOnly() {
        assertFalse(files.opened(1, 10, DESCRIPTOR, Protocol.O_WRONLY).firstMappable());
        assertEquals(Reply.CACHE_SECONDS, files.secondsOf(1));
        files.closed(10);
        assertEquals(Reply.CACHE_SECONDS, files.secondsOf(1));
        assertEquals(0, files.opened(1, 11, -1, Protocol.O_RDONLY).flags());
    }

    @Test
    void withoutAnAgreementNothingIsRegistered() {
        PassedThroughFiles none = PassedThroughFiles.none();
        assertEquals(SERVED, none.opened(1, 10, DESCRIPTOR, READ_WRITE));
        none.closed(10);
        assertFalse(none.passThrough(10) || none.areServed());
        assertEquals(Reply.CACHE_SECONDS, none.secondsOf(1));
    }

    /** The kernel would refuse an opening whose number differs from that of another opening that lives. */
    @Test
    void manyThreadsOpenAndCloseTheSameInodes() throws Exception {
        AtomicLong handles = new AtomicLong();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            Callable<Boolean> client = () -> {
                for (int i = 0; i < 20_000; i++) {
                    long inode = i % 3;
                    long first = handles.incrementAndGet();
                    long second = handles.incrementAndGet();
                    int number =
                            files.opened(inode, first, DESCRIPTOR, READ_WRITE).number();
                    if (number
                            != files.opened(inode, second, DESCRIPTOR, Protocol.O_RDONLY)
                                    .number()) {
                        return false;
                    }
                    files.closed(first);
                    synchronized (held) {
                        if (!held.contains(number)) {
                            return false;
                        }
                    }
                    files.closed(second);
                }
                return true;
            };
            for (Future<Boolean> result : threads.invokeAll(List.of(client, client, client, client, client, client))) {
                assertTrue(result.get());
            }
        } finally {
            threads.shutdownNow();
        }
        assertTrue(held.isEmpty());
        assertEquals(0, files.count());
    }
}
