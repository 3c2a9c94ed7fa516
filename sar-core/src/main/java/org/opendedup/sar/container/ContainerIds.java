package org.opendedup.sar.container;

import java.io.IOException;

/** Assigns container ids. */
public interface ContainerIds {
    /** Returns an id, 1 or higher, that was never assigned before, not even before a crash: it is reserved durably. */
    long next() throws IOException;
}
