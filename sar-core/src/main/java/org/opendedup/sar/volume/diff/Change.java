package org.opendedup.sar.volume.diff;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A path that shows something else in the second of two states of a volume. Paths begin with a slash, at the root of
 * the volume; they are bytes, as programs gave them.
 *
 * @param path the path in the second state; of what is deleted or renamed, that in the first
 * @param newPath the path in the second state of what is renamed; else null
 * @param type file type, as in {@code mode & S_IFMT}
 * @param inode inode number of the file outside of snapshots, in the second state if it is there
 * @param content whether its bytes may differ: they were written, and dedup did not find them the same
 * @param attributes whether mode, owner, group, extended attributes or access lists differ; of a file whose bytes do
 *     not, also the modification time
 * @param link whether only a name is added or deleted: the file is there before and after, with other names
 * @param replaced whether another file has the path: the one of the first state is gone, the one of the second is new
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Change(
        Kind kind,
        byte[] path,
        byte @Nullable [] newPath,
        int type,
        long inode,
        boolean content,
        boolean attributes,
        boolean link,
        boolean replaced) {
    /** What became of a path. */
    public enum Kind {
        ADDED,
        DELETED,
        MODIFIED,
        RENAMED
    }

    /** Receives changes one by one. */
    @FunctionalInterface
    public interface Consumer {
        void accept(Change change) throws IOException;
    }

    /** Returns the bytes of its paths. */
    int pathBytes() {
        return path.length + (newPath == null ? 0 : newPath.length);
    }
}
