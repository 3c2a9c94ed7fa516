package org.opendedup.sar.volume;

import java.time.Instant;
import java.time.InstantSource;

/** Time stamps as inodes keep them: nanoseconds since 1970, good until 2262. */
final class TimeStamps {
    private TimeStamps() {}

    static long now(InstantSource clock) {
        Instant now = clock.instant();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }
}
