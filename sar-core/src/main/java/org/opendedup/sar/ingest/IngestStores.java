package org.opendedup.sar.ingest;

import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.MetadataStore;

/** The stores and engines that the write path calls. */
public record IngestStores(
        Fingerprinter fingerprinter, ChunkIndex index, ContainerStore containers, MetadataStore metadata) {}
