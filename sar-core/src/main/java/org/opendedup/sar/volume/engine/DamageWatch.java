package org.opendedup.sar.volume.engine;

import org.opendedup.sar.metadata.record.DamageNote;

/** Notified of new damage, by threads that must not wait. */
public interface DamageWatch {
    /** Something in a container was found damaged, and recorded. */
    void found(long container, DamageNote note);

    /**
     * A pack was found missing, and recorded.
     *
     * @param containers number of its containers
     */
    void foundMissing(long pack, long containers);

    /** No further calls follow. */
    void close();
}
