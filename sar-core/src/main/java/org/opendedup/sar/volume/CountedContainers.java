package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.BitSet;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.ContainerClaims;
import org.opendedup.sar.metadata.ReferenceCounts;

/** Reports, from the reference counts, which containers and slots are referred to. */
record CountedContainers(ReferenceCounts counts) implements ContainerClaims {
    @Override
    public Writing writing(long container) throws IOException {
        return counts.writing(container);
    }

    @Override
    public BitSet slots(long container) throws IOException {
        return counts.alive(container);
    }
}
