package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.volume.Volume;

/** Finds files of a volume by their paths, which the engine does not know. */
record VolumePaths(Volume volume) {

    /** Something that is done with an inode while it is in use. */
    @FunctionalInterface
    interface Use<T> {
        T with(long inode) throws IOException;
    }

    /**
     * Finds a file; symbolic links are not followed.
     *
     * @param path from the volume's root, names separated by slashes
     * @throws IOException if there is none, or of {@code use}; names the path
     */
    <T> T use(String path, Use<T> use) throws IOException {
        long inode = find(path);
        try {
            return use.with(inode);
        } catch (PosixException e) {
            throw new IOException(path + ": " + e.getMessage(), e);
        } finally {
            release(inode);
        }
    }

    private long find(String path) throws IOException {
        long inode = Inode.ROOT;
        for (String name : path.split("/")) {
            if (!name.isEmpty()) {
                inode = child(inode, name, path);
            }
        }
        return inode;
    }

    private long child(long directory, String name, String path) throws IOException {
        try {
            return volume.lookup(directory, name.getBytes(StandardCharsets.UTF_8))
                    .inode();
        } catch (PosixException e) {
            throw new IOException(path + " is no file of the volume: " + e.getMessage(), e);
        } finally {
            release(directory);
        }
    }

    /** Gives back what a lookup retained; nobody looked up the root. */
    private void release(long inode) {
        if (inode != Inode.ROOT) {
            volume.forget(inode, 1);
        }
    }
}
