package org.opendedup.sar.hot.distributor;

import org.opendedup.sar.common.Figure;

/**
 * Counts which source served reads, since the volume was opened. While no read is running, {@code chunks} is exactly
 * the sum of {@code memoryHits}, {@code ssdHits}, {@code homeReads} and {@code unread}.
 */
public record DistributorStatistics(
        @Figure(
                value = "Chunks that requests wanted: those from memory, SSD and home, and those not read, together",
                unit = "chunks",
                counter = true)
        long chunks,

        @Figure(value = "Chunks read from the SSD", unit = "chunks", counter = true)
        long ssdHits,

        @Figure(value = "Bytes of these, before compression", unit = "bytes", counter = true)
        long ssdBytes,

        @Figure(value = "Reads of the SSD; a read may cover neighbouring chunks", unit = "requests", counter = true)
        long ssdRequests,

        @Figure(value = "Chunks whose frames were read from their containers", unit = "chunks", counter = true)
        long homeReads,

        @Figure(value = "Bytes of these, before compression", unit = "bytes", counter = true)
        long homeBytes,

        @Figure(
                value = "Chunks that were in memory, or were being read into memory for other readers",
                unit = "chunks",
                counter = true)
        long memoryHits,

        @Figure(
                value = "Chunks that could not be read, or that the reader no longer wanted",
                unit = "chunks",
                counter = true)
        long unread,

        @Figure(value = "Chunks that were read from home because the SSD was too slow", unit = "chunks", counter = true)
        long late,

        @Figure(
                value = "Chunks that have a copy and were read from home: their frame had to be read for other chunks",
                unit = "chunks",
                counter = true)
        long unusedCopies,

        @Figure("reads of the SSD") Latency ssdLatency,
        @Figure("reads of containers") Latency homeLatency) {}
