package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** What JMX shows of the files of a mounted volume, and does with them. Paths begin at the volume's root. */
public interface FileCare {
    /**
     * Returns a file as a picture. Walks its recipe several times.
     *
     * @throws IOException if there is no such file; names the path
     */
    FilePicture picture(String path) throws IOException;

    /** Returns the sequential readers, the fastest first. */
    List<StreamFigures> readers();

    /** Returns the disk of the containers. */
    DiskFigures disk();

    /** Returns the cache of the sequential readers. */
    RestoreCacheFigures restoreCache() throws IOException;

    /**
     * Starts to restore a file or folder to another file system, in the background.
     *
     * @param destination an absolute path
     * @throws IOException if it cannot begin; the message says why
     */
    void restore(String path, Path destination) throws IOException;

    /** Starts to rewrite the chunks of a file that lie in sparse containers, in the background. */
    void defragment(String path) throws IOException;
}
