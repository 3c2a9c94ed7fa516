package org.opendedup.sar.container;

import java.util.ArrayDeque;
import java.util.Iterator;

/** A pool of byte arrays, so that reading and writing frames creates no garbage. Holds a bounded number of bytes. */
final class BufferPool {
    private final long maxPooledBytes;

    /** Free arrays, the most recently returned first because it is still in the CPU caches. Guarded by this. */
    private final ArrayDeque<byte[]> free = new ArrayDeque<>();

    private long pooledBytes;

    BufferPool(long maxPooledBytes) {
        this.maxPooledBytes = maxPooledBytes;
    }

    /** Returns an array of at least {@code bytes} bytes, with undefined contents. */
    byte[] take(int bytes) {
        synchronized (this) {
            for (Iterator<byte[]> each = free.iterator(); each.hasNext(); ) {
                byte[] buffer = each.next();
                // Leaves an array of more than four times the size for larger requests.
                if (buffer.length >= bytes && buffer.length / 4 <= bytes) {
                    each.remove();
                    pooledBytes -= buffer.length;
                    return buffer;
                }
            }
        }
        return new byte[bytes];
    }

    /** Returns an array to the pool; drops the oldest arrays while the pool holds more than its bound. */
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
