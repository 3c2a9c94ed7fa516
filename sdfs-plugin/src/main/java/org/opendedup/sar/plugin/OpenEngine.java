package org.opendedup.sar.plugin;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.collections.InsertRecord;
import org.w3c.dom.Element;

/**
 * The engine that a chunk store and its index use together. It stays open while a call uses it. Safe for use by many
 * threads.
 */
final class OpenEngine implements Closeable {
    /** Held shared by calls of the engine, exclusively to open and close it. */
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    private @Nullable PluginEngine engine;
    /** Whether the engine is to be closed as soon as no call uses it. */
    private volatile boolean isClosing;

    /** A use of the engine. */
    interface Use<T> {
        T use(PluginEngine engine) throws IOException;
    }

    void open(Element config) throws IOException {
        lock.writeLock().lock();
        try {
            if (engine != null) {
                throw new IOException("the chunk store of SAR is open already");
            }
            engine = EngineLoader.open(config);
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Uses the engine, which stays open meanwhile. */
    <T> T with(Use<T> use) throws IOException {
        lock.readLock().lock();
        try {
            return use.use(opened());
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Returns the engine. The caller holds the lock. */
    private PluginEngine opened() throws IOException {
        PluginEngine open = engine;
        if (open == null) {
            throw new IOException("the chunk store of SAR is not open");
        }
        return open;
    }

    /** As {@link #with}, for callers that may not fail; returns {@code otherwise} if the engine is not open. */
    long figure(Use<Long> use, long otherwise) {
        try {
            return with(use);
        } catch (IOException e) {
            return otherwise;
        }
    }

    /** Returns whether a long use of the engine may go on: {@link #close} waits for its end, and SDFS for that. */
    boolean goesOn() {
        return !isClosing;
    }

    InsertRecord put(byte[] hash, byte[] chunk, int length, int references, @Nullable String uuid) throws IOException {
        // Not by "with": a lambda is one more method, into which the JVM compiles everything below it once more.
        lock.readLock().lock();
        try {
            long[] location = new long[1];
            boolean isNew = opened().put(hash, chunk, length, references, stream(uuid), location);
            return new InsertRecord(isNew, location[0], isNew ? length : 0);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Returns the number of the stream that a file's name stands for. */
    private static long stream(@Nullable String uuid) {
        long number = 1;
        for (int i = 0; uuid != null && i < uuid.length(); i++) {
            number = number * 0x100000001B3L ^ uuid.charAt(i);
        }
        return number == Long.MIN_VALUE ? 0 : number;
    }

    byte[] get(byte[] hash, long location) throws IOException {
        lock.readLock().lock();
        try {
            byte[] chunk = opened().get(hash, location);
            if (chunk == null) {
                throw new IOException("a chunk is not stored, at location " + location + " or elsewhere");
            }
            return chunk;
        } finally {
            lock.readLock().unlock();
        }
    }

    void expectRead(long location) throws IOException {
        with(open -> {
            open.expectRead(location);
            return true;
        });
    }

    void sync() throws IOException {
        with(open -> {
            open.sync();
            return true;
        });
    }

    /** Closes the engine when no call uses it any more. Idempotent. */
    @Override
    public void close() throws IOException {
        closed();
    }

    /** As {@link #close}; returns the engine, so that it can be deleted, or null if it was closed before. */
    @Nullable
    PluginEngine closed() throws IOException {
        isClosing = true;
        lock.writeLock().lock();
        try {
            PluginEngine open = engine;
            engine = null;
            if (open != null) {
                open.close();
            }
            return open;
        } finally {
            isClosing = false;
            lock.writeLock().unlock();
        }
    }
}
