package org.opendedup.sar.container;

import java.io.IOException;

/** Receives ranges of slots that recovery did not find. */
@FunctionalInterface
public interface LostSlots {
    /** Receives slots {@code first} to {@code end} (exclusive) of a container. */
    void lost(long container, int first, int end) throws IOException;
}
