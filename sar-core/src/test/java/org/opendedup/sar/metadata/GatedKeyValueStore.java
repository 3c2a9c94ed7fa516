package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore;

/**
 * A key-value store whose reads wait at a gate, as on a slow disk: each read of one thread waits until the test opens
 * the gate. Closing this store leaves the underlying store open for the next user.
 */
public final class GatedKeyValueStore extends HookedKeyValueStore<KeyValueStore> {
    private static final long LOOK_MS = 10;

    private @Nullable Thread gated;
    private boolean waits;
    private int mayPass;
    private int reads;

    public GatedKeyValueStore(KeyValueStore store) {
        super(store);
    }

    /** Makes each read of a thread wait from now on. */
    public synchronized void close(Thread reader) {
        gated = reader;
        reads = 0;
    }

    /** Lets all reads pass again. */
    public synchronized void open() {
        gated = null;
        notifyAll();
    }

    /** Lets the waiting read pass. */
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

    /** Number of reads at the gate since it was closed. */
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
    public void close() {}
}
