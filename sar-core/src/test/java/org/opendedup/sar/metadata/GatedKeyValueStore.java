package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * A key-value store whose reads wait at a gate, as for a disk that takes its time: each read of one thread, until a
 * test lets it pass. Closing it leaves the store behind it open, for the next user.
 */
public final class GatedKeyValueStore implements KeyValueStore {
    private static final long LOOK_MS = 10;

    private final KeyValueStore store;
    private @Nullable Thread gated;
    private boolean waits;
    private int mayPass;
    private int reads;

    public GatedKeyValueStore(KeyValueStore store) {
        this.store = store;
    }

    /** From now on each read of a thread waits. */
    public synchronized void close(Thread reader) {
        gated = reader;
        reads = 0;
    }

    /** All reads pass again. */
    public synchronized void open() {
        gated = null;
        notifyAll();
    }

    /** Lets the read that waits pass. */
    public synchronized void letPass() {
        mayPass++;
        waits = false;
        notifyAll();
    }

    /** Returns true when a read waits, false when the task that reads has ended. */
    public synchronized boolean awaitRead(Future<?> task) throws InterruptedException {
        while (!waits && !task.isDone()) {
            wait(LOOK_MS);
        }
        return waits;
    }

    /** Reads that have come to the gate since it was closed. */
    public synchronized int reads() {
        return reads;
    }

    private synchronized void pass() throws IOException {
        if (Thread.currentThread() != gated) {
            return;
        }
        reads++;
        waits = true;
        notifyAll();
        try {
            while (mayPass == 0 && Thread.currentThread() == gated) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new IOException("interrupted at the gate", e);
        }
        mayPass = 0;
        waits = false;
    }

    @Override
    public byte[] get(Family family, byte[] key) throws IOException {
        pass();
        return store.get(family, key);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        pass();
        return store.scan(family, from, to);
    }

    @Override
    public Batch batch() throws IOException {
        return store.batch();
    }

    @Override
    public void close() {}
}
