package org.opendedup.sar.sim.estimate;

import java.util.List;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskModel;

/**
 * The parameters of an estimate.
 *
 * @param chunking chunking of the volume
 * @param compression compression of the volume
 * @param budgetBytes memory budget of the volume
 * @param disk disk for its containers
 * @param ssdShares shares of the bytes of a full restore, 0 to 1, for which an SSD is sized
 * @param readShare share of the data to be read, 0 to 1; 0: all, or a part if there is very much data
 * @param memoryBytes memory for the sample of chunks
 * @param seed selects one of the possible samples
 * @param index conditions for the recommended index
 */
record EstimateSettings(
        Chunking chunking,
        Compression compression,
        long budgetBytes,
        DiskModel disk,
        List<Double> ssdShares,
        double readShare,
        long memoryBytes,
        long seed,
        IndexChoice.Conditions index) {}
