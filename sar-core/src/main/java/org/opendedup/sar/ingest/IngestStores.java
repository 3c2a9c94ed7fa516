package org.opendedup.sar.ingest;

import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.MetadataStore;

/**
 * The stores and engines that the write path calls.
 *
 * @param uses open from the lookup of a chunk until recipes refer to it, so that the garbage collector does not remove
 *     a copy in between
 */
public record IngestStores(
        Fingerprinter fingerprinter,
        ChunkIndex index,
        ContainerStore containers,
        MetadataStore metadata,
        GracePeriod uses) {}
