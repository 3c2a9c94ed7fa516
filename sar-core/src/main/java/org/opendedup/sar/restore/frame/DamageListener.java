package org.opendedup.sar.restore.frame;

import java.io.IOException;

/** Notified of stored bytes that could not be read, or differ from what was written. */
@FunctionalInterface
public interface DamageListener {
    void damaged(long inode, long container, int frame, IOException cause);
}
