package org.opendedup.sar.heal;

import org.opendedup.sar.collect.Commits;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.MetadataStore;

/**
 * The parts of a volume that healing uses.
 *
 * @param uses open while a writer relies on a stored copy without having a reference to it, and while a reader uses a
 *     place that it has looked up
 * @param disk queue of the device that holds the containers
 */
public record HealParts(
        MetadataStore metadata,
        ContainerStore containers,
        ChunkIndex index,
        Commits commits,
        GracePeriod uses,
        Pins pins,
        DiskQueue disk,
        SsdCopies ssd) {}
