package org.opendedup.sar.volume.send;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotIds;

/**
 * Paths of inodes in a snapshot, for messages of errors. Reads all names of the snapshot: a file does not know its
 * folders.
 *
 * @param snapshot its number
 */
record SnapshotPath(MetadataStore metadata, long snapshot) {
    private record Found(long directory, byte[] name) {}

    /** Returns the path of an inode from the root of the volume, or its number if it has none. */
    String of(long inode) throws IOException {
        StringBuilder path = new StringBuilder();
        long at = inode;
        while (at != Inode.ROOT) {
            Found found = find(at);
            if (found == null) {
                return "inode " + inode;
            }
            path.insert(0, EntryNames.text(found.name)).insert(0, '/');
            at = found.directory;
        }
        return path.toString();
    }

    private @Nullable Found find(long inode) throws IOException {
        Found[] found = {null};
        metadata.namespace().forEachEntry(snapshot, Long.MAX_VALUE, (directory, name, to, isDirectory) -> {
            if (SnapshotIds.inode(to) == inode) {
                found[0] = new Found(SnapshotIds.inode(directory), name);
            }
        });
        return found[0];
    }
}
