package org.opendedup.sar.container;

import java.io.IOException;

/** A listener that is notified of every sealed container. */
public interface SealListener {
    /**
     * Called by the sealing thread when the sealed file and its name are durable. Must not append to the store, force
     * it or wait for a thread that does: such threads wait for this thread. A failure is logged; the container stays
     * sealed.
     */
    void sealed(long container, byte[] frameTable) throws IOException;
}
