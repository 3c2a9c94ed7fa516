package org.opendedup.sar.volume.diff;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.SnapshotRecord;

/** One of the two states that are compared. Inodes have the numbers that they have outside of snapshots. */
record State(MetadataStore metadata, SnapshotRecord snapshot) {
    /** Inodes without gaps that are read faster by a scan than one by one. */
    private static final int WORTH_A_SCAN = 4;

    /** Folders above a folder, at most. */
    private static final int MOST_DEEP = 1 << 17;

    /** Returns the number that an inode has in this snapshot. */
    long id(long inode) {
        return SnapshotIds.of(snapshot.number(), inode);
    }

    /** Returns whether the number of an inode was given after this state, unless a rollback took it back. */
    boolean isLater(long inode) {
        return inode >= snapshot.firstInode();
    }

    @Nullable
    Inode inode(long inode) throws IOException {
        return isLater(inode) ? null : metadata.namespace().inode(id(inode));
    }

    /** Returns inodes by their numbers from one on; null where there is none. */
    @Nullable
    Inode[] inodes(long first, int count) throws IOException {
        @Nullable Inode[] found = new Inode[count];
        if (isLater(first)) {
            return found;
        }
        if (count < WORTH_A_SCAN) {
            for (int i = 0; i < count; i++) {
                found[i] = inode(first + i);
            }
            return found;
        }
        long unused = metadata.namespace().someInodes(id(first), count, inode -> {
            long number = SnapshotIds.inode(inode.id()) - first;
            if (number < count) {
                found[(int) number] = inode;
            }
        });
        return found;
    }

    /** Returns whether an inode is here, and has a name. */
    boolean shows(long inode) throws IOException {
        Inode found = inode(inode);
        return found != null && found.links() > 0;
    }

    /** Returns whether the root leads to a folder, whose record is of this state. A circle of folders has no root. */
    boolean reaches(Inode folder) throws IOException {
        Inode at = folder;
        for (int depth = 0; depth < MOST_DEEP && at != null && at.links() > 0; depth++) {
            if (SnapshotIds.inode(at.id()) == Inode.ROOT) {
                return true;
            }
            at = metadata.namespace().inode(at.parent());
        }
        return false;
    }

    @Nullable
    Entry entry(long directory, byte[] name) throws IOException {
        return isLater(directory) ? null : metadata.namespace().entry(id(directory), name);
    }

    /** Returns the name of an inode at a position of a directory, where it has one. */
    byte[] name(long directory, long position, long inode) throws IOException {
        byte[] name = metadata.namespace().nameAt(id(directory), position, id(inode));
        if (name == null) {
            throw new CorruptionException(
                    "directory " + directory + " of snapshot " + snapshot.number(),
                    -1,
                    "a name of inode " + inode,
                    "none");
        }
        return name;
    }
}
