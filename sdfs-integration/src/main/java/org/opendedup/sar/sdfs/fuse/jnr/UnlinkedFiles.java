package org.opendedup.sar.sdfs.fuse.jnr;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.fuse.FuseOperations;

/**
 * Open files that have lost their name. Before libfuse removes the name of an open file it renames it to {@code
 * .fuse_hidden} and two numbers, by which later calls without a handle come (fstat, fchmod, futimens); with its option
 * {@code hard_remove} those calls would fail. Here that new name exists in this table alone: the file system sees the
 * removal at once, and no directory shows such a name. The numbers make it unique in a mount.
 *
 * <p>Each entry holds a reference to its inode. It goes when libfuse unlinks the name, or with the last opening of the
 * inode, since libfuse keeps silent if the directory is gone by then. Bounded by the number of open files.
 */
final class UnlinkedFiles {
    private static final byte[] PREFIX = ".fuse_hidden".getBytes(StandardCharsets.US_ASCII);

    private final FuseOperations operations;
    private final Map<String, Long> inodes = new ConcurrentHashMap<>();

    UnlinkedFiles(FuseOperations operations) {
        this.operations = operations;
    }

    /** Takes over a reference to the inode. */
    void add(byte[] name, long inode) {
        inodes.put(key(name), inode);
    }

    @Nullable
    Long find(byte[] name) {
        return inodes.isEmpty() || !hasPrefix(name) ? null : inodes.get(key(name));
    }

    /** @return false if there is no such entry */
    boolean remove(byte[] name) {
        Long inode = inodes.remove(key(name));
        if (inode == null) {
            return false;
        }
        operations.forget(inode, 1);
        return true;
    }

    /** The inode is no longer open. */
    void removeAllOf(long inode) {
        if (inodes.isEmpty()) {
            return;
        }
        for (String key : List.copyOf(inodes.keySet())) {
            if (inodes.remove(key, inode)) {
                operations.forget(inode, 1);
            }
        }
    }

    private static boolean hasPrefix(byte[] name) {
        for (int i = 0; i < PREFIX.length; i++) {
            if (i == name.length || name[i] != PREFIX[i]) {
                return false;
            }
        }
        return true;
    }

    private static String key(byte[] name) {
        return new String(name, StandardCharsets.ISO_8859_1);
    }
}
