package org.opendedup.sar.container;

import java.util.ArrayDeque;
import java.util.Iterator;

/** Byte arrays to be used again, so that reading and writing frames makes no garbage. Holds a bounded number of bytes. */
final class BufferPool {
    private final long maxPooledBytes;

    /** Guarded by this; the last given back comes first, being warm. */
    private final ArrayDeque<byte[]> free = new ArrayDeque<>();

    private long pooledBytes;

    BufferPool(long maxPooledBytes) {
        this.maxPooledBytes = maxPooledBytes;
    }

    /** An array of at least {@code bytes}, with anything in it. */
    byte[] take(int bytes) {
        synchronized (this) {
            for (Iterator<byte[]> each = free.iterator(); each.hasNext(); ) {
                byte[] buffer = each.next();
                // A far larger one is left to those who need it.
                if (buffer.length >= bytes && buffer.length / 4 <= bytes) {
                    each.remove();
                    pooledBytes -= buffer.length;
                    return buffer;
                }
            }
        }
        return new byte[bytes];
    }

    /** Gives an array back; the oldest ones go when too much is held. */
    synchronized void giveBack(byte[] buffer) {
        if (buffer.length > maxPooledBytes) {
            return;
        }
        free.addFirst(buffer);
        pooledBytes += buffer.length;
        while (pooledBytes > maxPooledBytes) {
            pooledBytes -= free.removeLast().length;
        }
    }
}
