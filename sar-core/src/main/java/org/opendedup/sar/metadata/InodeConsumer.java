package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.metadata.record.Inode;

/** Receives inodes one by one; see {@link Namespace#forEachInode}. */
@FunctionalInterface
public interface InodeConsumer {
    void accept(Inode inode) throws IOException;
}
