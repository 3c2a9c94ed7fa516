package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.Volume;

/** Finds files of a volume by their paths; the engine knows inodes only. */
public record VolumePaths(Volume volume) {

    /** An operation on an inode that is in use. */
    @FunctionalInterface
    public interface Use<T> {
        T with(long inode) throws IOException;
    }

    /**
     * Finds a file and applies {@code use} to it; does not follow symbolic links.
     *
     * @param path path from the volume's root, names separated by slashes
     * @throws IOException if there is no such file, or if {@code use} fails; names the path
     */
    public <T> T use(String path, Use<T> use) throws IOException {
        long inode = find(path);
        try {
            return use.with(inode);
        } catch (PosixException e) {
            throw new IOException(
                    e.reason() == Reason.EISDIR
                            ? (path.isEmpty() ? "the root of the volume" : path) + " is a folder; name a file"
                            : path + ": " + e.getMessage(),
                    e);
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
            throw new IOException(
                    path + " is no file of the volume" + (e.reason() == Reason.ENOENT ? "" : ": " + e.getMessage()), e);
        } finally {
            release(directory);
        }
    }

    /** Releases the reference that a lookup took; the root was not looked up. */
    private void release(long inode) {
        if (inode != Inode.ROOT) {
            volume.forget(inode, 1);
        }
    }
}
