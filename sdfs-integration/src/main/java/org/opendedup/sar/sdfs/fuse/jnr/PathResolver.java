package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.volume.posix.Attributes;

/**
 * Resolves paths to inodes, with one lookup per name. Releases every reference before it returns, except in
 * {@link #retain}.
 *
 * <p>From libfuse's reading of a path to the end of the callback, no part of the path is renamed or removed: libfuse
 * locks the nodes of the path against that, and names change only through this mount.
 */
final class PathResolver {
    private static final long ROOT = 1;

    private final FuseOperations operations;
    private final UnlinkedFiles unlinked;

    /** A call on an inode, which is retained during the call. */
    @FunctionalInterface
    interface InodeCall<T> {
        T on(long inode) throws IOException;
    }

    /** A call on a name in a directory, which is retained during the call. */
    @FunctionalInterface
    interface NameCall<T> {
        T on(long directory, byte[] name) throws IOException;
    }

    PathResolver(FuseOperations operations, UnlinkedFiles unlinked) {
        this.operations = operations;
        this.unlinked = unlinked;
    }

    /** @param path absolute, without a slash at the end; {@code /} is the root */
    <T> T onInode(byte[] path, InodeCall<T> call) throws IOException {
        Long hidden = unlinked.find(name(path));
        if (hidden != null) {
            return call.on(hidden);
        }
        long inode = retain(path);
        try {
            return call.on(inode);
        } finally {
            release(inode);
        }
    }

    /** Calls with the directory and the last name of the path. */
    <T> T onName(byte[] path, NameCall<T> call) throws IOException {
        int slash = lastSlash(path);
        long directory = retainDirectory(path, slash);
        try {
            return call.on(directory, name(path));
        } finally {
            release(directory);
        }
    }

    Attributes attributes(byte[] path) throws IOException {
        if (isRoot(path) || unlinked.find(name(path)) != null) {
            return onInode(path, operations::attributes);
        }
        Attributes found = onName(path, operations::lookup);
        release(found.inode());
        return found;
    }

    /** Finds an inode that has a name, and retains it. The caller calls {@link #release}. */
    long retain(byte[] path) throws IOException {
        return isRoot(path) ? ROOT : onName(path, operations::lookup).inode();
    }

    private static boolean isRoot(byte[] path) {
        return path.length == 1;
    }

    private long retainDirectory(byte[] path, int end) throws IOException {
        long at = ROOT;
        for (int start = 1; start < end; ) {
            int stop = start;
            while (stop < end && path[stop] != '/') {
                stop++;
            }
            at = step(at, Arrays.copyOfRange(path, start, stop));
            start = stop + 1;
        }
        return at;
    }

    private long step(long directory, byte[] name) throws IOException {
        try {
            return operations.lookup(directory, name).inode();
        } finally {
            release(directory);
        }
    }

    /** Releases a reference to an inode. Ignores the root, which always exists and is never looked up. */
    void release(long inode) {
        if (inode != ROOT) {
            operations.forget(inode, 1);
        }
    }

    static byte[] name(byte[] path) {
        return Arrays.copyOfRange(path, lastSlash(path) + 1, path.length);
    }

    private static int lastSlash(byte[] path) {
        int slash = path.length - 1;
        while (slash > 0 && path[slash] != '/') {
            slash--;
        }
        return slash;
    }
}
