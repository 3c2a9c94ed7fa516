package org.opendedup.sar.metadata.record;

import java.time.Duration;

/**
 * The limits of a user, group or project. 0 means no limit. A soft limit may be exceeded for the grace time; then it is
 * as a hard one until the use is below it again.
 *
 * @param softBytes in bytes
 * @param hardBytes in bytes
 * @param softFiles in inodes
 * @param hardFiles in inodes
 * @param graceSeconds for how long a soft limit may be exceeded, in seconds
 */
public record QuotaLimits(long softBytes, long hardBytes, long softFiles, long hardFiles, long graceSeconds) {
    /** The grace time if none is set, as in Linux. */
    public static final long DEFAULT_GRACE_SECONDS = Duration.ofDays(7).toSeconds();

    /** The longest grace time, in seconds: about 100 years. */
    public static final long MAX_GRACE_SECONDS = Duration.ofDays(36_525).toSeconds();

    public static final QuotaLimits NONE = new QuotaLimits(0, 0, 0, 0, DEFAULT_GRACE_SECONDS);

    public QuotaLimits {
        if (softBytes < 0 || hardBytes < 0 || softFiles < 0 || hardFiles < 0) {
            throw new IllegalArgumentException("a limit must not be negative");
        }
        if (graceSeconds < 0 || graceSeconds > MAX_GRACE_SECONDS) {
            throw new IllegalArgumentException(
                    "a grace time has 0 to " + MAX_GRACE_SECONDS + " seconds, not " + graceSeconds);
        }
        if (hardBytes > 0 && softBytes > hardBytes || hardFiles > 0 && softFiles > hardFiles) {
            throw new IllegalArgumentException("a soft limit must not be greater than the hard one");
        }
    }

    /** Returns whether nothing is limited. */
    public boolean areNone() {
        return softBytes == 0 && hardBytes == 0 && softFiles == 0 && hardFiles == 0;
    }
}
