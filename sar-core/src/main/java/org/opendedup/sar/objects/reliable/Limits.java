package org.opendedup.sar.objects.reliable;

import java.time.Duration;
import org.opendedup.sar.objects.ObjectParts;

/**
 * How a store is asked.
 *
 * @param patience after this time from the beginning of a request it is not asked again; a request that runs then ends
 *     by the time limit of the store
 * @param firstPause longest pause before the second try; it doubles with each further one
 * @param longestPause bound of the pauses
 * @param rangeBytes length of a range, in bytes: a longer read is divided into ranges of this length
 * @param wholeBytes a longer object is put in parts
 * @param partBytes length of such parts, in bytes; they are larger if there were too many
 * @param lanes ranges and parts at the same time, of all callers
 */
public record Limits(
        Duration patience,
        Duration firstPause,
        Duration longestPause,
        int rangeBytes,
        int wholeBytes,
        int partBytes,
        int lanes) {
    /**
     * Patience as long as a kernel waits for a disk twice. Ranges of which a gateway that answers in 3 ms and sends 700
     * MB/s spends a fifth of the time on the answer's first byte; eight lanes hide the rest, as they do at 100 ms and
     * 100 MB/s each. A pack is put whole: in parts it costs six requests, a pass over its bytes for the checksums of
     * the parts, and a copy in a store that joins parts, and Ceph 16 ignores the condition of their completion. Packs
     * are put beside each other, so a part of one needs no lane of its own.
     */
    public static final Limits DEFAULT = new Limits(
            Duration.ofSeconds(60), Duration.ofMillis(50), Duration.ofSeconds(5), 8 << 20, 64 << 20, 16 << 20, 8);

    public Limits {
        if (rangeBytes < 1 || wholeBytes < 1 || partBytes < 1 || lanes < 1) {
            throw new IllegalArgumentException("ranges, parts and lanes must be positive");
        }
    }

    /** Returns these limits with another patience. */
    public Limits withPatience(Duration other) {
        return new Limits(other, firstPause, longestPause, rangeBytes, wholeBytes, partBytes, lanes);
    }

    /** Returns the length of all parts but the last of an object, in bytes. */
    long partBytesOf(long length) {
        return Math.max(partBytes, (length + ObjectParts.MOST_PARTS - 1) / ObjectParts.MOST_PARTS);
    }
}
