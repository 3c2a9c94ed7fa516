package org.opendedup.sar.sdfs.restore;

import java.io.InterruptedIOException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.volume.Volume;

/**
 * Ends a restore on request, and keeps the chunks that it reads until then. A destination may hang, and the restore
 * with it: an abandoned one keeps nothing, and may not say of any chunk that it was damaged or written. Safe for use by
 * many threads.
 */
final class RestoreStop {
    private final Volume volume;
    private final AtomicReference<Pins.@Nullable Pin> pin = new AtomicReference<>();
    private volatile boolean isStopped;
    private volatile boolean isAbandoned;

    RestoreStop(Volume volume) {
        this.volume = volume;
    }

    /** Pins the chunks of all files until the result is closed, or the restore is abandoned. */
    Pins.Pin pin() throws InterruptedIOException {
        Pins.Pin made = volume.maintenance().pinChunks();
        pin.set(made);
        if (isAbandoned) {
            made.close();
        }
        return made;
    }

    void stop() {
        isStopped = true;
    }

    void abandon() {
        isStopped = true;
        // Before the chunks may go.
        isAbandoned = true;
        Pins.Pin held = pin.get();
        if (held != null) {
            held.close();
        }
    }

    boolean isStopped() {
        return isStopped;
    }

    void throwIfStopped() throws InterruptedIOException {
        if (isStopped) {
            throw new InterruptedIOException("stopped");
        }
    }

    /** Called before a result is written or recorded, also by a restore that makes its last milestone. */
    void throwIfAbandoned() throws InterruptedIOException {
        if (isAbandoned) {
            throw new InterruptedIOException("the destination did not answer in time after the restore was stopped");
        }
    }
}
