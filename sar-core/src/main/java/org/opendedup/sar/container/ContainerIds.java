package org.opendedup.sar.container;

import java.io.IOException;

/** Gives out container ids. */
public interface ContainerIds {
    /** An id from 1 up that was never given out before, not even before a crash: it is reserved durably. */
    long next() throws IOException;
}
