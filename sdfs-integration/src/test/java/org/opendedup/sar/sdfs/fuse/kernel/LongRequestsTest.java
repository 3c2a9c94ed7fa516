package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;

/** Requests on ranges that may be long, more of them than there are workers, beside another user's. */
@Timeout(120)
class LongRequestsTest {
    private static final int PROGRAMS = 16;

    /** Each thread uses files of its own: the kernel sends one such request of a file at a time. */
    private static final String CALLS = """
            import ctypes, os, sys, threading
            libc = ctypes.CDLL(None, use_errno=True)
            long = ctypes.c_long
            libc.copy_file_range.restype = libc.lseek.restype = long
            length = long(int(sys.argv[2]))
            calls = {
                'copy': lambda f, g, n: libc.copy_file_range(f, None, g, None, length, 0),
                'zero': lambda f, g, n: libc.fallocate(g, 3, long(0), length),
                'seek': lambda f, g, n: libc.lseek(f, long(0), 4),
                'cut': lambda f, g, n: libc.ftruncate(g, long(0)),
                'open': lambda f, g, n: libc.open(n.encode(), os.O_WRONLY | os.O_TRUNC)}
            failed = []
            def call(f, g, n):
                if calls[sys.argv[1]](f, g, n) < 0: failed.append(ctypes.get_errno())
            threads = []
            for i in range(int(sys.argv[3])):
                f = os.open('f', os.O_RDONLY)
                if sys.argv[1] == 'seek':
                    with open(f'f{i}', 'w') as made: made.write('short')
                    f = os.open(f'f{i}', os.O_RDONLY)
                g = os.open(f'g{i}', os.O_WRONLY | os.O_CREAT)
                if sys.argv[1] in ('cut', 'open'): os.truncate(g, int(sys.argv[2]))
                threads.append(threading.Thread(target=call, args=(f, g, f'g{i}')))
            for t in threads: t.start()
            for t in threads: t.join()
            print(failed)
            """;

    private final SlowFileSystem slow = new SlowFileSystem();

    /** Its long calls end when the test lets them. */
    private static final class SlowFileSystem extends MemoryFileSystem {
        final Semaphore calls = new Semaphore(0);
        final CountDownLatch release = new CountDownLatch(1);

        private void await() throws IOException {
            calls.release();
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        /** Files of 5 bytes say that they are long: this file system has all bytes in memory. */
        @Override
        public Attributes attributes(long inode) throws IOException {
            Attributes a = super.attributes(inode);
            return a.size() != 5
                    ? a
                    : new Attributes(
                            a.inode(),
                            a.generation(),
                            a.mode(),
                            a.links(),
                            a.uid(),
                            a.gid(),
                            a.device(),
                            1L << 30,
                            a.blocks(),
                            a.accessedNs(),
                            a.modifiedNs(),
                            a.changedNs(),
                            a.createdNs());
        }

        @Override
        public Attributes change(long inode, AttributeChange change) throws IOException {
            if (Long.valueOf(0).equals(change.size())) {
                await();
            }
            return super.change(inode, change);
        }

        @Override
        public long copy(long source, long from, long target, long to, long length) throws IOException {
            await();
            return length;
        }

        @Override
        public void zero(long handle, long offset, long length, boolean keepSize) throws IOException {
            await();
        }

        @Override
        public long seekHole(long handle, long offset) throws IOException {
            await();
            return 1;
        }
    }

    private static Process start(MountedToy toy, String call, long length) throws IOException, InterruptedException {
        toy.shell("truncate -s 1G f");
        return new ProcessBuilder("python3", "-c", CALLS, call, "" + length, "" + PROGRAMS)
                .directory(toy.root.toFile())
                .redirectErrorStream(true)
                .start();
    }

    private static String output(Process programs) throws IOException {
        return new String(programs.getInputStream().readAllBytes()).strip();
    }

    @AfterEach
    void closeVolume() throws IOException {
        slow.closeVolume();
    }

    @ParameterizedTest
    @CsvSource({"copy, 1024", "seek, 1024", "zero, 8", "cut, 8", "cut, 1024", "open, 8"})
    void othersAreServedWhileManyAreServed(String call, int mebibytes) throws Exception {
        try (MountedToy toy = new MountedToy(slow)) {
            Process programs = start(toy, call, (long) mebibytes << 20);
            assertTrue(slow.calls.tryAcquire(4, 30, TimeUnit.SECONDS));
            assertEquals("d", toy.shell("stat none 2>/dev/null; mkdir d; touch d/f; ls -d d"));
            slow.release.countDown();
            assertEquals("[]", output(programs));
            assertTrue(slow.calls.tryAcquire(PROGRAMS - 4), "some were not served");
        }
    }

    /** The control: short ones are served by the workers. */
    @Test
    void shortOnesKeepTheWorkers() throws Exception {
        try (MountedToy toy = new MountedToy(slow)) {
            Process programs = start(toy, "copy", 1 << 20);
            assertTrue(slow.calls.tryAcquire(4, 30, TimeUnit.SECONDS));
            Process other = new ProcessBuilder("stat", toy.root.resolve("none").toString()).start();
            assertFalse(other.waitFor(1, TimeUnit.SECONDS));
            slow.release.countDown();
            assertTrue(other.waitFor(60, TimeUnit.SECONDS));
            assertEquals("[]", output(programs));
        }
    }
}
