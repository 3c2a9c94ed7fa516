package org.opendedup.sar.restore;

import java.io.IOException;

/** Told of stored bytes that could not be read or are not what was written. */
@FunctionalInterface
public interface DamageListener {
    void damaged(long inode, long container, int frame, IOException cause);
}
