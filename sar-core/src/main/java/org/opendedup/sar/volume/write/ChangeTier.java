package org.opendedup.sar.volume.write;

import org.opendedup.sar.volume.node.ChangedBytes;
import org.opendedup.sar.volume.node.DirtyExtents;
import org.opendedup.sar.volume.node.Node;

/** Keeps bytes that are written to migrated files on the fast tier, until the files are migrated again. */
public interface ChangeTier {
    /** That of a volume without a fast tier. */
    ChangeTier NONE = new ChangeTier() {
        @Override
        public boolean takes(Node node) {
            return false;
        }

        @Override
        public boolean keep(Node node, DirtyExtents.Run run, Runnable recorded) {
            return false;
        }
    };

    /** Returns whether bytes that are written to a file go to the fast tier now. */
    boolean takes(Node node);

    /**
     * Makes a run durable on the fast tier, and records it as {@link ChangedBytes} of the file. The caller holds the
     * file's storing lock.
     *
     * @param recorded called with it, under the change lock and with the node's monitor held
     * @return false if the fast tier does not take it: then nothing has changed
     */
    boolean keep(Node node, DirtyExtents.Run run, Runnable recorded);
}
