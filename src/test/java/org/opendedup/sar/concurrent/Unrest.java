package org.opendedup.sar.concurrent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/**
 * Background work in a file system during the observed calls: one thread syncs repeatedly, another fills and truncates
 * a file without a name, so that memory runs short and there is something to free. Tests can add more.
 */
final class Unrest implements AutoCloseable {
    private static final int WRITE_BYTES = 1 << 20;
    /** More than may be dirty in a small volume. */
    private static final int MAX_FILE_BYTES = 24 << 20;
    /** A pause, so that the observed calls get some processor time. */
    private static final long PAUSE_NS = 300_000_000;

    private static final long MAX_SYNC_PAUSE_NS = 20_000_000;

    private final FileSystem fileSystem;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Future<?>> running = new ArrayList<>();
    private volatile boolean ended;

    private Unrest(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    /** Begins; the file's name is removed when this returns. */
    static Unrest in(FileSystem fileSystem) throws IOException {
        Unrest unrest = new Unrest(fileSystem);
        long inode = unrest.makeFile();
        unrest.start(unrest::sync);
        unrest.start(() -> unrest.fill(inode));
        return unrest;
    }

    private long makeFile() throws IOException {
        byte[] name = {'x'};
        long inode = fileSystem
                .makeNode(Inode.ROOT, name, Modes.REGULAR | 0600, 0, new Owner(0, 0))
                .inode();
        fileSystem.unlink(Inode.ROOT, name);
        return inode;
    }

    /** An action that is repeated. */
    @FunctionalInterface
    interface Step {
        void run() throws IOException;
    }

    /** Repeats an action at random moments from now on; begins with the first. */
    Unrest also(Step step) {
        start(() -> {
            while (!ended) {
                step.run();
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_SYNC_PAUSE_NS));
            }
            return null;
        });
        return this;
    }

    /**
     * Reads a file of this number of bytes from now on, from end to end, so that data read by others is soon in no
     * cache. The file exists, without a name, when this returns.
     */
    Unrest alsoReadPastCaches(int bytes) throws IOException {
        long inode = makeFile();
        FileSystem.Handle handle = fileSystem.open(inode, true);
        byte[] part = new byte[WRITE_BYTES];
        for (long offset = 0; offset < bytes; offset += part.length) {
            ThreadLocalRandom.current().nextBytes(part);
            handle.write(offset, ByteBuffer.wrap(part));
        }
        handle.sync(false);
        start(() -> readUntilTheEnd(inode, handle, bytes));
        return this;
    }

    /** At random places: data read in sequence does not displace other data in the cache. */
    private Object readUntilTheEnd(long inode, FileSystem.Handle handle, int bytes) throws IOException {
        try (handle) {
            ByteBuffer target = ByteBuffer.allocate(WRITE_BYTES);
            while (!ended) {
                handle.read(ThreadLocalRandom.current().nextInt(bytes - WRITE_BYTES), target.clear());
            }
        } finally {
            fileSystem.forget(inode, 1);
        }
        return null;
    }

    private void start(Callable<?> work) {
        running.add(threads.submit(work));
    }

    private Object sync() throws IOException {
        while (!ended) {
            fileSystem.sync();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_SYNC_PAUSE_NS));
        }
        return null;
    }

    private Object fill(long inode) throws IOException {
        try (FileSystem.Handle handle = fileSystem.open(inode, true)) {
            // The same bytes again and again, so that the containers, which may be in memory, do not grow.
            byte[] bytes = new byte[WRITE_BYTES];
            ThreadLocalRandom.current().nextBytes(bytes);
            for (long offset = 0; !ended; offset = (offset + WRITE_BYTES) % MAX_FILE_BYTES) {
                handle.write(offset, ByteBuffer.wrap(bytes));
                if (offset == 0) {
                    LockSupport.parkNanos(PAUSE_NS);
                    fileSystem.change(inode, AttributeChange.ofSize(0));
                }
            }
        } finally {
            fileSystem.forget(inode, 1);
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        ended = true;
        threads.shutdown();
        for (Future<?> thread : running) {
            try {
                thread.get();
            } catch (ExecutionException e) {
                throw new IOException("the unrest failed", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
    }
}
