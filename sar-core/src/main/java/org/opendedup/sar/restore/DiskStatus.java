package org.opendedup.sar.restore;

/**
 * The device that has the containers, and who is at it, now.
 *
 * @param model what plans of reads are made by
 * @param requestsAtOnce readers that may be at it at once
 * @param readers that are
 * @param waiting readers that wait for their turn
 */
public record DiskStatus(StorageModel model, int requestsAtOnce, int readers, int waiting) {}
