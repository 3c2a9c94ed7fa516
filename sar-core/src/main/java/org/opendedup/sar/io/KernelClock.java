package org.opendedup.sar.io;

import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * The clock by which Linux sets the times of files. It advances in steps of milliseconds, so a time of any other clock
 * may be later than one that the kernel sets afterwards. No time of this clock is earlier than one that the kernel set
 * before, and the kernel sets none afterwards that is earlier: the clock sets the time of a file in memory, and reads
 * it. Where that fails, it is the system's clock. Safe for use by many threads.
 */
public final class KernelClock implements InstantSource {
    private static final KernelClock ONLY = new KernelClock(PosixFile.inMemory());

    private final @Nullable PosixFile file;

    private KernelClock(@Nullable PosixFile file) {
        this.file = file;
    }

    /** Returns the machine's clock. It has one descriptor, as long as the process lives. */
    public static InstantSource machine() {
        return ONLY;
    }

    @Override
    public Instant instant() {
        if (file == null) {
            return Instant.now();
        }
        try {
            return Instant.ofEpochSecond(0, touched(file));
        } catch (IOException e) {
            return Instant.now();
        }
    }

    /** One thread at a time: the kernel does not read seconds and nanoseconds together. */
    private static long touched(PosixFile file) throws IOException {
        synchronized (file) {
            file.setModifiedNow();
            return file.status().modifiedNs();
        }
    }
}
