package org.opendedup.sar.metadata.counts;

import java.io.IOException;
import org.opendedup.sar.metadata.record.ContainerCounts;

/** Receives the counts of containers one by one; see {@link ReferenceCounts#forEachContainer}. */
@FunctionalInterface
public interface ContainerCountsVisitor {
    /** @param counts a copy, which does not change any more */
    void visit(long container, ContainerCounts counts) throws IOException;
}
