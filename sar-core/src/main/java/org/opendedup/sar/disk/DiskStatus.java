package org.opendedup.sar.disk;

/**
 * Current state of the device that holds the containers, and of its queue.
 *
 * @param model model used to plan reads
 * @param requestsAtOnce most readers at the device at once
 * @param readers number of readers at the device
 * @param waiting number of readers that wait for their turn
 * @param background number of works in the background that wait for their turn
 */
public record DiskStatus(DiskModel model, int requestsAtOnce, int readers, int waiting, int background) {}
