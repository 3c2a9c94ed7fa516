package org.opendedup.sar.volume.send;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.SnapshotIds;

/**
 * The records of a snapshot, by the numbers that inodes have outside of it. An inode without a name is not there:
 * nobody could reach it.
 *
 * @param number of the snapshot
 */
record SnapshotView(MetadataStore metadata, long number) {
    private long id(long inode) {
        return SnapshotIds.of(number, inode);
    }

    @Nullable
    Inode inode(long inode) throws IOException {
        Inode found = metadata.namespace().inode(id(inode));
        return found == null || found.links() == 0 ? null : found.outsideOfSnapshot();
    }

    /** Receives an inode. */
    @FunctionalInterface
    interface InodeConsumer {
        void accept(Inode inode) throws IOException;
    }

    /** Visits the inodes from a number on, as {@link org.opendedup.sar.metadata.Namespace#someInodes} does. */
    long someInodes(long from, int max, InodeConsumer consumer) throws IOException {
        long next = metadata.namespace().someInodes(id(from), max, inode -> {
            if (inode.links() > 0) {
                consumer.accept(inode.outsideOfSnapshot());
            }
        });
        return SnapshotIds.inode(next);
    }

    Iterable<byte[]> attributes(long inode) throws IOException {
        return metadata.namespace().attributes(id(inode));
    }

    byte @Nullable [] attribute(long inode, byte[] name) throws IOException {
        return metadata.namespace().attribute(id(inode), name);
    }

    /** Receives a name in a directory. */
    @FunctionalInterface
    interface NameConsumer {
        void accept(byte[] name, long inode, int type) throws IOException;
    }

    void forEachName(long directory, NameConsumer consumer) throws IOException {
        metadata.namespace().list(id(directory), 0, (name, inode, type, cookie) -> {
            consumer.accept(name, SnapshotIds.inode(inode), type);
            return true;
        });
    }

    @Nullable
    Entry name(long directory, byte[] name) throws IOException {
        Entry found = metadata.namespace().entry(id(directory), name);
        return found == null ? null : new Entry(SnapshotIds.inode(found.inode()), found.type());
    }

    RecipePage page(long inode, long page) throws IOException {
        return metadata.recipes().page(id(inode), page);
    }

    long[] existingPages(long inode, long from, long to, int max) throws IOException {
        return metadata.recipes().existingPages(id(inode), from, to, max);
    }
}
