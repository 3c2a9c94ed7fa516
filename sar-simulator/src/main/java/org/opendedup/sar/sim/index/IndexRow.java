package org.opendedup.sar.sim.index;

/**
 * One index on one trace.
 *
 * @param index name of the index
 * @param foundBytes bytes of the duplicates that it found
 * @param foundShare their share of the bytes that an exact index finds, 0 to 1
 * @param foundChunksShare the same of the numbers of chunks
 * @param lostChunksShare chunks that it stored again, as a share of all chunks of the trace
 * @param sampling chunkstash: the table has one of this many entries at the end; 1: all
 * @param indexBytes memory that grows with the data
 * @param indexBytesPerPb the same for a petabyte (10^15 bytes) of unique data
 * @param paperBytesPerPb what the SiLo paper's Table 2 has, or 0
 * @param cacheBytes memory of caches and buffers
 * @param reads reads of the index from its device
 * @param readsPerSegment the same for each segment of about 2 MiB
 * @param diskLookupsPerSecond chunks a second if the index is on a disk
 * @param flashLookupsPerSecond chunks a second if it is on an SSD
 */
record IndexRow(
        String index,
        long foundBytes,
        double foundShare,
        double foundChunksShare,
        double lostChunksShare,
        int sampling,
        long indexBytes,
        double indexBytesPerPb,
        double paperBytesPerPb,
        long cacheBytes,
        long reads,
        double readsPerSegment,
        double diskLookupsPerSecond,
        double flashLookupsPerSecond) {}
