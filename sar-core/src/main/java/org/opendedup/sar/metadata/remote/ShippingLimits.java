package org.opendedup.sar.metadata.remote;

/**
 * Bounds of what metadata in an object store lag behind, and of what opening them reads.
 *
 * @param waitingBytes bytes of changes that may wait in memory for the store; with more, commits wait
 * @param segmentBytes a log segment with that many bytes is put at once
 * @param checkpointBytes a checkpoint is made after log segments of that many bytes
 * @param checkpointSegments a checkpoint is made after that many log segments: reading each costs a request
 */
public record ShippingLimits(long waitingBytes, int segmentBytes, long checkpointBytes, int checkpointSegments) {
    /**
     * As users have it: an opening reads 64 MiB, or 512 objects of which each takes some 20 ms, after the checkpoint.
     */
    public static final ShippingLimits DEFAULT = new ShippingLimits(64 << 20, 4 << 20, 64 << 20, 512);

    /** Returns these limits with fewer bytes that may wait, for a small heap; no fewer than a segment has. */
    public ShippingLimits within(long bytes) {
        return new ShippingLimits(
                Math.max(segmentBytes, Math.min(waitingBytes, bytes)),
                segmentBytes,
                checkpointBytes,
                checkpointSegments);
    }
}
