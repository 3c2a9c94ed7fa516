package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import jnr.ffi.LibraryLoader;
import jnr.ffi.types.off_t;
import org.opendedup.sar.sdfs.fuse.Errno;

/** Threads that use a mount at the same time, each bound to a processor. Closing it waits for them. */
final class RingClients implements AutoCloseable {
    private static final int O_DIRECT = 040000;
    private static final int SEEK_HOLE = 4;
    private static final int BYTES = 4096;

    private final Libc libc = new Libc();
    private final Seek seek = LibraryLoader.create(Seek.class).load("c");
    private final ExecutorService threads;
    private final List<Future<Long>> results = new ArrayList<>();

    /** lseek(2). */
    public interface Seek {
        @off_t
        long lseek(int fd, @off_t long offset, int whence);
    }

    RingClients(int count) {
        threads = Executors.newFixedThreadPool(count, task -> {
            Thread made = new Thread(task, "client");
            made.setDaemon(true);
            return made;
        });
    }

    /** Starts a read of 4096 bytes past the cache. Its result: the number of bytes, or a negative error number. */
    void read(Path file, int processor) {
        start(file, Libc.O_RDONLY | O_DIRECT, processor, fd -> {
            ByteBuffer memory = ByteBuffer.allocateDirect(2 * BYTES);
            ByteBuffer aligned = memory.alignedSlice(BYTES);
            long read = libc.functions().read(fd, libc.address(aligned), BYTES);
            // Otherwise the kernel would write to memory that was freed meanwhile: the call may take a minute.
            Reference.reachabilityFence(aligned);
            return read;
        });
    }

    /** Starts a write of 4096 bytes into the cache, and a search for a hole. Its result: where the hole is. */
    void writeAndSeekHole(Path file, int processor) {
        start(file, Libc.O_RDWR, processor, fd -> {
            ByteBuffer memory = ByteBuffer.allocateDirect(BYTES);
            long written = libc.functions().write(fd, libc.address(memory), BYTES);
            Reference.reachabilityFence(memory);
            return written == BYTES ? seek.lseek(fd, 0, SEEK_HOLE) : written;
        });
    }

    private interface Use {
        long with(int fd);
    }

    private void start(Path file, int flags, int processor, Use use) {
        Callable<Long> task = () -> {
            Processors.bindThread(libc, processor);
            int fd = libc.functions().open(file.toString(), flags | Libc.O_CLOEXEC);
            if (fd < 0) {
                throw libc.failure("opening " + file);
            }
            long result = use.with(fd);
            int errno = libc.errno();
            libc.functions().close(fd);
            return result < 0 ? -errno : result;
        };
        results.add(threads.submit(task));
    }

    /** Returns the results of all. */
    List<Long> results() throws InterruptedException, IOException {
        List<Long> all = new ArrayList<>();
        for (Future<Long> result : results) {
            try {
                all.add(result.get(60, TimeUnit.SECONDS));
            } catch (ExecutionException | TimeoutException e) {
                throw new IOException(e);
            }
        }
        return all;
    }

    /** Returns whether no more of them than {@code most} end within a second. */
    boolean stay(int most) throws InterruptedException {
        Thread.sleep(1000);
        return results.stream().filter(Future::isDone).count() <= most;
    }

    static long connectionAborted() {
        return -Errno.ECONNABORTED;
    }

    @Override
    public void close() throws InterruptedException {
        threads.shutdown();
        if (!threads.awaitTermination(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("clients hang");
        }
    }
}
