package org.opendedup.sar.sim.estimate;

import java.util.List;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.Compression;
import org.opendedup.sar.restore.DiskModel;

/**
 * What an estimate is of.
 *
 * @param chunking of the volume
 * @param compression of the volume
 * @param budgetBytes memory budget of the volume
 * @param disk where its containers will be
 * @param ssdShares shares of the bytes of a full restore, 0 to 1, that an SSD is to be sized for
 * @param readShare share of the data to be read, 0 to 1; 0: all, or of very much data a part
 * @param memoryBytes for the sample of chunks
 * @param seed which sample is taken
 */
record EstimateSettings(
        Chunking chunking,
        Compression compression,
        long budgetBytes,
        DiskModel disk,
        List<Double> ssdShares,
        double readShare,
        long memoryBytes,
        long seed) {}
