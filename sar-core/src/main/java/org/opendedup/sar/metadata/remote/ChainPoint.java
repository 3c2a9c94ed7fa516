package org.opendedup.sar.metadata.remote;

/**
 * A place in the chain: behind a log segment.
 *
 * @param owner who may put the next segment
 * @param number number of the segment; the next one has the next number
 * @param crc CRC-32C of the segment, which the next one repeats
 * @param sequence number of the last change up to here, as {@link org.opendedup.sar.metadata.db.KeyValueStore#changes}
 *     counts
 */
record ChainPoint(Owner owner, long number, int crc, long sequence) {}
