package org.opendedup.sar.sim.index;

/**
 * What a trace needs in a cluster of {@code volumes} volumes.
 *
 * @param volumes number of volumes
 * @param storedBytes bytes of the chunks that all volumes store, before compression
 * @param dedupRatio bytes of the trace for each byte that is stored
 * @param foundShare bytes of duplicates found, of those that one volume finds
 * @param fullest what the fullest volume stores, times the mean
 * @param shardsOfFullest shards of the volume that has most, times the mean
 * @param movedShare bytes of blocks that move when one volume is added, of those of all blocks
 * @param fairShare what must move at least for an even load then: one part in volumes + 1
 * @param movedElsewhere bytes that move then to another volume than the new one
 */
record ClusterRow(
        int volumes,
        long storedBytes,
        double dedupRatio,
        double foundShare,
        double fullest,
        double shardsOfFullest,
        double movedShare,
        double fairShare,
        long movedElsewhere) {}
