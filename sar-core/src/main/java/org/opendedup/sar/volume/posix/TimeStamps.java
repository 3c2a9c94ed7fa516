package org.opendedup.sar.volume.posix;

import java.time.Instant;
import java.time.InstantSource;

/** Time stamps in the form that inodes keep: nanoseconds since 1970, valid until 2262. */
public final class TimeStamps {
    private TimeStamps() {}

    public static long now(InstantSource clock) {
        Instant now = clock.instant();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }
}
